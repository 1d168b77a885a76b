import Testing

@testable import BSONStore

/// A document that an earlier version stored must not become one that cannot be deleted.
@Suite struct AmbiguousPositionTests {
    @Test func `a position that is also a name is refused before it is written only`() throws {
        let definition = try IndexDefinition(["key": ["a.0": 1], "name": "a.0_1"])
        let generator = IndexKeyGenerator(definition, nil)
        let document: BSONDocument = ["a": [["0": 5]]]
        #expect(try !generator.keys(of: document).keys.isEmpty)
        let error = #expect(throws: StoreError.self) {
            try generator.checkPositions(of: document)
        }
        #expect(error?.code.rawValue == 16746)
        try generator.checkPositions(of: ["a": [5, ["1": 5]]])
        #expect(!IndexKeyGenerator(try IndexDefinition(["key": ["a": 1]]), nil).hasPositions)
    }

    @Test func `a field whose name is a number determines the element of an update`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let items = store.collection(Namespace("app", "items"))
        try await items.insertOne(["_id": 1, "a": [["0": 5], ["0": 6]]])
        try await items.updateOne(["a.0": 6], ["$set": ["a.$.0": 7]])
        #expect(try items.find().fetch() == [["_id": 1, "a": [["0": 5], ["0": 7]]]])
    }
}
