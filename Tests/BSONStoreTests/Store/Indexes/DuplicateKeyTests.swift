import Testing

@testable import BSONCore
@testable import BSONStore

/// An error that names other values than the key's would send people to the wrong document.
struct DuplicateKeyTests {
    private static let items = Namespace("shop", "items")

    private func error(
        _ index: BSONDocument, _ first: BSONDocument, _ second: BSONDocument
    ) throws -> StoreError? {
        let items = try DocumentStore(at: .inMemory).collection(Self.items)
        try items.createIndex(index, ["unique": true])
        try items.insertOne(first)
        do {
            try items.insertOne(second)
            return nil
        } catch let error as StoreError {
            return error
        }
    }

    @Test("the value of an array that is there already is told, not the array")
    func arrays() throws {
        let found = try error(["a": 1], ["_id": 1, "a": [1, 2]], ["_id": 2, "a": [3, 2]])
        #expect(found?.keyValue == ["a": 2])
        #expect(found?.message.hasSuffix("index: a_1 dup key: { a: 2 }") == true)
    }

    @Test("values are found through arrays of documents and in both directions")
    func paths() throws {
        let found = try error(
            ["a.b": 1, "c": -1], ["_id": 1, "a": ["b": 6], "c": "x"],
            ["_id": 2, "a": [["b": 5], ["b": 6]], "c": "x"])
        #expect(found?.keyValue == ["a.b": 6, "c": "x"])
        let missing = try error(
            ["a.b": 1, "c": -1], ["_id": 1], ["_id": 2, "a": [["c": 5]]])
        #expect(missing?.keyValue == ["a.b": .null, "c": .null])
    }

    @Test("an index that compares texts its own way says how")
    func collations() throws {
        let items = try DocumentStore(at: .inMemory).collection(Self.items)
        try items.createIndex(
            ["a": 1], ["unique": true, "collation": ["locale": "en", "strength": 2]])
        try items.insertOne(["_id": 1, "a": "x"])
        let found = #expect(throws: StoreError.self) {
            try items.insertOne(["_id": 2, "a": ["y", "X"]])
        }
        #expect(found?.keyValue == ["a": "X"])
        #expect(found?.message.contains("index: a_1 collation: { locale: \"en\", ") == true)
    }
}
