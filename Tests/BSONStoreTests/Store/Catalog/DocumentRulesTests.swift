import BSONStore
import Testing

/// Without these documents could be stored that MongoDB refuses, or two under one id.
@Suite struct DocumentRulesTests {
    private static let things = Namespace("app", "things")

    @Test func `a document without an id gets one, in front`() throws {
        let things = try DocumentStore(at: .inMemory).collection(Self.things)
        let id = try things.insertOne(["a": 1])
        let stored = try #require(try things.find().first())
        #expect(stored.keys == ["_id", "a"])
        #expect(stored["_id"] == id)
        #expect(id.objectIDValue != nil)
        try things.insertOne(["a": 1, "_id": 5, "b": 2])
        #expect(try things.findOne(id: 5)?.keys == ["_id", "a", "b"])
    }

    @Test(arguments: refused)
    func `ids that cannot be are refused`(_ id: BSONValue, _ code: Int32, _ message: String) throws
    {
        let things = try DocumentStore(at: .inMemory).collection(Self.things)
        let error = #expect(throws: StoreError.self) { try things.insertOne(["_id": id]) }
        #expect(error?.code.rawValue == code)
        #expect(error?.message == message)
        #expect(try things.store.read { try $0.collections() } == [])
    }

    static let refused: [(BSONValue, Int32, String)] = [
        ([1], 2, "can't use an array for _id"),
        (.undefined, 2, "can't use a undefined for _id"),
        (.regularExpression(BSONRegularExpression("a")), 2, "can't use a regex for _id"),
        (
            ["$a": 1], 52,
            "_id fields may not contain '$'-prefixed fields: $a is not valid for storage."
        ),
    ]

    @Test(arguments: sames)
    func `ids that MongoDB takes as equal are one`(_ one: BSONValue, _ other: BSONValue) throws {
        let things = try DocumentStore(at: .inMemory).collection(Self.things)
        try things.insertOne(["_id": one])
        let error = #expect(throws: StoreError.self) { try things.insertOne(["_id": other]) }
        #expect(error?.code == .duplicateKey)
        #expect(error?.keyValue == ["_id": other])
        #expect(try things.findOne(id: other) == ["_id": one])
        #expect(try things.find(["_id": other]).first() == ["_id": one])
        #expect(try things.deleteOne(["_id": ["$in": [other]]]) == 1)
    }

    static let sames: [(BSONValue, BSONValue)] = [
        (1, 1.0), (1, .int64(1)), (1.0, .decimal128(BSONDecimal128(high: 0x303E << 48, low: 10))),
        (.double(-0.0), 0), (.double(.nan), .double(-.nan)), ("a", .symbol("a")),
        (["a": 1], ["a": 1.0]), (.null, .null),
    ]

    @Test func `ids that differ are two`() throws {
        let things = try DocumentStore(at: .inMemory).collection(Self.things)
        let ids: [BSONValue] = [
            1, "1", true, .null, 1.5, .int64(9_007_199_254_740_993), 9_007_199_254_740_992.0,
            ["a": 1, "b": 2], ["b": 2, "a": 1], .double(.nan), .minKey, .maxKey, "", "a\0b", "a",
        ]
        try things.insertMany(ids.map { ["_id": $0] })
        #expect(try things.find().count() == ids.count)
        for id in ids { #expect(try things.findOne(id: id)?["_id"] == id) }
    }

    @Test func `documents are at most 16 MiB`() throws {
        let things = try DocumentStore(at: .inMemory).collection(Self.things)
        let most = 16 * 1024 * 1024
        let rest = ["_id": 1, "a": ""] as BSONDocument
        let text = String(repeating: "x", count: most - rest.byteCount)
        try things.insertOne(["_id": 1, "a": .string(text)])
        let error = #expect(throws: StoreError.self) {
            try things.insertOne(["_id": 2, "a": .string(text + "x")])
        }
        #expect(error?.code == .documentTooLarge)
        #expect(error?.code.rawValue == 10334)
        let grown = #expect(throws: StoreError.self) {
            try things.updateOne(["_id": 1], ["$set": ["b": 1]])
        }
        #expect(grown?.code.rawValue == 17419)
        #expect(try things.findOne(id: 1)?.byteCount == most)
    }

    @Test func `names that MongoDB refuses are refused`() throws {
        let store = try DocumentStore(at: .inMemory)
        for (database, collection) in [
            ("", "a"), ("a.b", "c"), ("a", ""), ("a", ".b"), ("a", "b$c"), ("a/b", "c"),
            (String(repeating: "a", count: 64), "b"), ("a", String(repeating: "b", count: 255)),
        ] {
            let namespace = Namespace(database, collection)
            let error = #expect(throws: StoreError.self) {
                try store.collection(namespace).insertOne([:])
            }
            #expect(error?.code == .invalidNamespace, "\(namespace)")
        }
        #expect(try Namespace(parsing: "a.b.c") == Namespace("a", "b.c"))
        #expect(throws: StoreError.self) { try Namespace(parsing: "a") }
    }
}
