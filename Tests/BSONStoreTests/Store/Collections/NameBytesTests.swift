import BSONStore
import Testing

/// Two spellings of one text are two names, as in MongoDB: here they were one collection, and a
/// file with documents in both could not be opened again.
@Suite struct NameBytesTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"
    private static let one = Namespace("app", composed)
    private static let other = Namespace("app", decomposed)
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open() throws -> DocumentStore {
        try DocumentStore(at: .file(directory.file()), options: .init(durability: .normal))
    }

    @Test func `namespaces are told apart by bytes`() {
        #expect(Self.one != Self.other)
        #expect(Set([Self.one, Self.other]).count == 2)
        #expect(Self.other < Self.one)
        #expect(Namespace(Self.composed, "c") != Namespace(Self.decomposed, "c"))
    }

    @Test func `texts are compared by their bytes`() {
        let (composed, decomposed): (String?, String?) = (Self.composed, Self.decomposed)
        #expect(composed.hasSameBytes(as: composed) && !composed.hasSameBytes(as: decomposed))
        #expect(!composed.hasSameBytes(as: nil) && String?.none.hasSameBytes(as: nil))
        #expect([Self.composed].containsBytes(of: Self.composed))
        #expect(![Self.composed].containsBytes(of: Self.decomposed))
        #expect(!["a", Self.composed].hasSameBytes(as: ["a", Self.decomposed]))
        #expect(["z", Self.composed, Self.decomposed].sortedByBytes()[0].hasByteSuffix("e\u{301}"))
    }

    @Test func `an accent belongs to the text behind a mark, and the mark stays one`() {
        let text = "$\u{301}a.\u{301}b"
        #expect(text.hasBytePrefix("$") && !text.hasPrefix("$"))
        #expect(text.droppingBytes(1).hasSameBytes(as: "\u{301}a.\u{301}b"))
        #expect(text.dottedParts.hasSameBytes(as: ["$\u{301}a", "\u{301}b"]))
        #expect(text.split(atByte: ".").map(String.init).hasSameBytes(as: text.dottedParts))
        #expect("a,\u{301}".hasByteSuffix("\u{301}") && "a.$".droppingLastBytes(2) == "a")
    }

    @Test func `paths and keys of two spellings differ`() {
        #expect(
            FieldPath(parts: ["a", Self.composed]) != FieldPath(parts: ["a", Self.decomposed]))
        #expect(IndexDefinition.Key(Self.composed) != IndexDefinition.Key(Self.decomposed))
    }

    @Test func `documents of two spellings are there after the file is opened again`() throws {
        do {
            let store = try open()
            try store.collection(Self.one).insertOne(["_id": 1])
            try store.collection(Self.other).insertOne(["_id": 2])
            try store.collection(Self.one).insertOne(["_id": 3])
        }
        let store = try open()
        #expect(try store.collection(Self.one).find().fetch().count == 2)
        #expect(try store.collection(Self.other).find().fetch().count == 1)
        #expect(try store.verify().faults.isEmpty)
    }

    @Test func `dropping one spelling leaves the other`() throws {
        let store = try open()
        try store.collection(Self.one).insertOne(["_id": 1])
        try store.collection(Self.other).insertOne(["_id": 2])
        try store.dropCollection(Self.one)
        #expect(try store.collection(Self.one).find().fetch().isEmpty)
        #expect(try store.collection(Self.other).find().fetch().count == 1)
    }

    @Test func `an index on one spelling does not answer for the other`() throws {
        let things = try open().collection(Self.one)
        try things.createIndex([Self.composed: 1])
        try things.insertOne(["_id": 1, Self.decomposed: 5])
        try things.insertOne(["_id": 2, Self.composed: 5])
        #expect(try things.find([Self.decomposed: 5]).fetch().map { $0["_id"] } == [1])
        #expect(try things.find([Self.composed: 5]).fetch().map { $0["_id"] } == [2])
    }

    @Test func `both spellings are fields of one update`() throws {
        let things = try open().collection(Self.one)
        try things.insertOne(["_id": 1])
        try things.updateOne(
            ["_id": 1], ["$set": .document([Self.composed: 1, Self.decomposed: 2])])
        let found = try things.find([Self.composed: 1, Self.decomposed: 2]).fetch()
        #expect(found.count == 1)
    }

    @Test func `options and indexes stay with their spelling when the file is opened again`() throws
    {
        do {
            let store = try open()
            try store.createCollection(Self.one, ["validator": ["a": 1]])
            try store.createCollection(Self.other)
            try store.collection(Self.other).createIndex([Self.composed: 1])
            try store.collection(Self.other).createIndex([Self.decomposed: 1])
        }
        let store = try open()
        let listed = try store.listCollections(Self.one.database)
        #expect(listed.count == 2)
        try store.collection(Self.other).insertOne(["_id": 1])
        #expect(throws: StoreError.self) { try store.collection(Self.one).insertOne(["_id": 1]) }
        #expect(try store.collection(Self.one).listIndexes().count == 1)
        #expect(try store.collection(Self.other).listIndexes().count == 3)
        #expect(try store.verify().faults.isEmpty)
    }

    @Test func `a database with both spellings is dropped`() throws {
        let store = try open()
        try store.collection(Self.one).insertOne(["_id": 1])
        try store.collection(Self.other).insertOne(["_id": 2])
        #expect(try store.dropDatabase(Self.one.database))
        #expect(try store.listCollections(Self.one.database).isEmpty)
    }

    @Test func `a spelling is renamed to the other`() throws {
        let store = try open()
        try store.collection(Self.one).insertOne(["_id": 1])
        try store.renameCollection(Self.one, to: Self.other)
        #expect(try store.collection(Self.one).find().fetch().isEmpty)
        #expect(try store.collection(Self.other).find().fetch().count == 1)
    }

    @Test func `both spellings are keys of one value that is coded`() throws {
        struct Both: Codable, Equatable {
            enum CodingKeys: String, CodingKey {
                case one = "caf\u{E9}"
                case other = "cafe\u{301}!"
            }

            var one: Int
            var other: Int
        }
        let document = try BSONEncoder().encode(Both(one: 1, other: 2))
        #expect(document[Self.composed] == .int64(1))
        #expect(document[Self.decomposed + "!"] == .int64(2))
        #expect(try BSONDecoder().decode(Both.self, from: document) == Both(one: 1, other: 2))
        let similar = BSONDocument([
            (Self.decomposed, .int32(1)), (Self.decomposed + "!", .int32(2)),
        ])
        #expect(throws: (any Error).self) { try BSONDecoder().decode(Both.self, from: similar) }
    }
}
