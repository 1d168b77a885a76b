import BSONStore
import Testing

/// A `$lookup` that kept what it chose at random would give every document the same choice.
///
/// Source: MongoDB manual, "$lookup": the pipeline runs for each document; "Views": a view is
/// computed on demand.
@Suite struct RandomLookupTests {
    private static let database = "app"

    private func store() throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        func name(_ collection: String) -> Namespace { Namespace(Self.database, collection) }
        let things = store.collection(name("things"))
        try things.insertMany((0..<50).map { ["_id": .int32($0), "k": 1] })
        try store.createCollection(
            name("random"), ["viewOn": "things", "pipeline": [["$sample": ["size": 1]]]])
        try store.createCollection(name("above"), ["viewOn": "random", "pipeline": []])
        try store.createCollection(
            name("joined"),
            ["viewOn": "things", "pipeline": [["$limit": 1], ["$unionWith": "above"]]])
        try store.createCollection(
            name("steady"), ["viewOn": "things", "pipeline": [["$limit": 1]]])
        return store
    }

    private func results(_ stage: BSONDocument) throws -> Set<BSONValue> {
        let store = try store()
        let things = store.collection(Namespace(Self.database, "things"))
        let found: [BSONDocument] = try things.aggregate([stage])
        #expect(found.count == 50)
        return Set(found.compactMap { $0["r"] })
    }

    @Test(
        arguments: [
            ["from": "things", "pipeline": [["$limit": 1], ["$set": ["x": ["$rand": [:]]]]]],
            ["from": "things", "pipeline": [["$sample": ["size": 1]]]],
            ["from": "things", "pipeline": [["$match": ["$sampleRate": 0.5]]]],
            ["from": "random", "pipeline": []], ["from": "above", "pipeline": []],
            ["from": "joined", "pipeline": []],
            ["from": "things", "pipeline": [["$limit": 1], ["$unionWith": "above"]]],
            [
                "from": "things",
                "pipeline": [
                    ["$limit": 1], ["$lookup": ["from": "random", "pipeline": [], "as": "i"]],
                ],
            ],
            ["from": "random", "localField": "k", "foreignField": "k"],
        ] as [BSONDocument])
    func `each document has its own choice`(_ lookup: BSONDocument) throws {
        var lookup = lookup
        lookup.append("as", "r")
        #expect(try results(["$lookup": .document(lookup)]).count > 1)
    }

    @Test func `a search along a view that chooses at random runs it anew`() throws {
        let search: BSONDocument = [
            "from": "random", "startWith": "$k", "connectFromField": "none",
            "connectToField": "k", "as": "r",
        ]
        #expect(try results(["$graphLookup": .document(search)]).count > 1)
    }

    @Test func `what does not depend on chance is one result`() throws {
        let lookup: BSONDocument = ["from": "steady", "pipeline": [], "as": "r"]
        #expect(try results(["$lookup": .document(lookup)]) == [[["_id": 0, "k": 1]]])
    }
}
