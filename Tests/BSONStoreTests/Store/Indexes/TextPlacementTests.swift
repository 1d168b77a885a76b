import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these `$text` would be answered where MongoDB has no plan for it.
///
/// Source: MongoDB manual, "$text", "Restrictions", and "Text Indexes", "Compound Index".
@Suite struct TextPlacementTests {
    private func birds(_ indexes: [BSONDocument]) throws -> DocumentCollection<BSONDocument> {
        let birds = try DocumentStore(at: .inMemory).collection(Namespace("app", "birds"))
        try birds.insertMany([
            ["_id": 1, "x": 1, "z": "heron", "b": 5], ["_id": 2, "x": 2, "z": "heron", "b": 6],
            ["_id": 3, "x": 1, "z": "wren", "b": 7],
        ])
        for index in indexes { try birds.createIndex(index) }
        return birds
    }

    private func ids(
        _ filter: BSONDocument, _ indexes: [BSONDocument]
    ) throws -> [BSONValue] {
        try birds(indexes).find(filter).sort(["_id": 1]).fetch().compactMap { $0["_id"] }
    }

    @Test(
        "a compound text index needs an equality for each field before the texts",
        arguments: [
            (["x": 1, "$text": ["$search": "heron"]], [1]),
            (["x": ["$in": [2]], "$text": ["$search": "heron"]], [2]),
            (["$and": [["x": 1], ["$text": ["$search": "heron"]]]], [1]),
            (["$or": [["x": 1, "$text": ["$search": "heron"]], ["_id": 3]]], [1, 3]),
            (["$text": ["$search": "heron"]], nil),
            (["x": ["$gt": 0], "$text": ["$search": "heron"]], nil),
            (["x": ["$in": [1, 2]], "$text": ["$search": "heron"]], nil),
            (["x": 1, "$or": [["$text": ["$search": "heron"]], ["_id": 3]]], nil),
        ] as [(BSONDocument, [BSONValue]?)])
    func compound(filter: BSONDocument, found: [BSONValue]?) throws {
        let indexes: [BSONDocument] = [["x": 1, "z": "text", "b": 1]]
        guard let found else {
            let error = #expect(throws: StoreError.self) { try ids(filter, indexes) }
            #expect(error?.code == .noQueryExecutionPlans)
            #expect(error?.message.hasSuffix("given for all prefix fields?)") == true)
            return
        }
        #expect(try ids(filter, indexes) == found)
    }

    @Test(
        "an index helps each alternative beside $text",
        arguments: [
            (["$or": [["$text": ["$search": "wren"]], ["b": 5]]], [1, 3]),
            (["$or": [["$text": ["$search": "wren"]], ["_id": 2]]], [2, 3]),
            (["$or": [["$text": ["$search": "wren"]], ["b": 5, "x": 1]]], [1, 3]),
            (["x": 1, "$or": [["$text": ["$search": "wren"]], ["b": 5]]], [1, 3]),
            (["$or": [["$text": ["$search": "wren"]]]], [3]),
            (["$or": [["$text": ["$search": "wren"]], ["x": 2]]], nil),
            (["$or": [["$text": ["$search": "wren"]], ["b": 5], ["x": 2]]], nil),
            (["$or": [["b": 5], ["$and": [["$text": ["$search": "wren"]]]], ["x": 2]]], nil),
        ] as [(BSONDocument, [BSONValue]?)])
    func alternatives(filter: BSONDocument, found: [BSONValue]?) throws {
        let indexes: [BSONDocument] = [["z": "text"], ["b": 1]]
        guard let found else {
            let error = #expect(throws: StoreError.self) { try ids(filter, indexes) }
            #expect(error?.code == .noQueryExecutionPlans)
            #expect(error?.message.hasSuffix("OR have to be indexed as well.") == true)
            return
        }
        #expect(try ids(filter, indexes) == found)
    }
}
