import BSONStore
import Testing

/// An `$expr` that compares a field with a known value reads an index, and finds what it found without.
struct ExpressionIndexTests {
    private static let values: [BSONValue] = [
        nil, 1, 1.0, .int64(1), 2, "a", "A", [1, 2], [1], [[1, 2]], ["b": 1], .bool(true),
        .double(.nan), .decimal128(BSONDecimal128(1)), .objectID(.init()), .minKey, .undefined,
    ]

    /// A collection whose documents have each value in a field, and one that lacks it.
    private static func items(in store: DocumentStore) throws -> DocumentCollection<BSONDocument> {
        let items = store.collection(Namespace("app", "items"))
        try items.insertMany(
            values.enumerated().map { ["_id": .int32(Int32($0)), "a": $1, "c": ["a": $1]] }
                + [["_id": 99]])
        return items
    }

    private static func ids(_ documents: [BSONDocument]) -> [BSONValue?] {
        documents.map { $0["_id"] }.sorted { "\($0 ?? .null)" < "\($1 ?? .null)" }
    }

    @Test(arguments: [nil, "en"])
    func `an index changes no answer`(locale: String?) throws {
        let store = try DocumentStore(at: .inMemory)
        defer { store.close() }
        let items = try Self.items(in: store)
        var collation: Collation?
        if let locale {
            collation = try Collation(["locale": .string(locale), "strength": 2])
        }
        let expressions = Self.values.flatMap { value -> [BSONDocument] in
            let constant: BSONValue = ["$literal": value]
            return [
                ["$eq": ["$a", constant]], ["$eq": [constant, "$$ROOT.a"]],
                ["$and": [["$eq": ["$a", constant]], ["$gte": ["$_id", 0]]]],
                ["$or": [["$eq": ["$a", constant]], ["$eq": ["$_id", 99]]]],
                ["$eq": ["$c.a", constant]], ["$eq": ["$a", "$c.a"]],
            ]
        }
        func found() throws -> [[BSONValue?]] {
            try expressions.map { expression in
                let filter = try Filter(
                    ["$expr": .document(expression)], variables: nil, collation: collation,
                    now: BSONDatetime(milliseconds: 0))
                return Self.ids(
                    try store.read {
                        try $0.find(items.namespace, filter: filter, options: .all)
                    })
            }
        }
        let before = try found()
        try items.createIndex(["a": 1])
        try items.createIndex(["c.a": 1])
        #expect(try found() == before)
    }

    @Test func `a lookup by an equality of its pipeline reads the index`() throws {
        let store = try DocumentStore(at: .inMemory)
        defer { store.close() }
        let items = try Self.items(in: store)
        func joined(_ field: String) throws -> [BSONValue?] {
            try items.aggregate([
                [
                    "$lookup": [
                        "from": "items", "let": ["x": .string("$" + field)],
                        "pipeline": [
                            ["$match": ["$expr": ["$eq": [.string("$" + field), "$$x"]]]],
                            ["$project": ["_id": 1]], ["$sort": ["_id": 1]],
                        ], "as": "found",
                    ]
                ], ["$sort": ["_id": 1]],
            ]).map { $0["found"] }
        }
        let before = try joined("a")
        try items.createIndex(["a": 1])
        #expect(try joined("a") == before)
        #expect(try joined("_id").allSatisfy { $0?.arrayValue?.count == 1 })
        let plan = try items.find(["$expr": ["$eq": ["$a", 2]]]).explain()
        #expect("\(plan)".contains("IXSCAN"))
    }
}
