import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these an index that lost a key could answer wrongly for ever.
@Suite struct IndexVerificationTests {
    private static let things = Namespace("app", "things")

    private static func filled(_ directory: TemporaryDirectory) throws -> DocumentStore {
        let store = try DocumentStore(at: .file(directory.file()))
        let collection = store.collection(things)
        try collection.createIndex(["n": 1], ["unique": true])
        try collection.createIndex(["tags": -1, "n": 1])
        try collection.createIndex(
            ["a.b": 1], ["partialFilterExpression": ["n": ["$gt": 3]]])
        try collection.createIndex(["m": 1], ["sparse": true])
        try collection.createIndex(["text": "text"])
        try collection.insertMany(
            (Int32(0)..<9).map {
                [
                    "_id": .int32($0), "n": .int32($0), "tags": [.int32($0), "x", "x"],
                    "a": ["b": .int32($0)], "text": "words",
                ]
            })
        try collection.updateMany(["n": 5], ["$set": ["m": 1]])
        return store
    }

    /// Damages a store, with what the check says of it.
    struct Damage: Sendable {
        let sql: String
        let ids: [BSONValue?]
        let index: String
        let message: String
    }

    @Test(arguments: [
        Damage(
            sql: "DELETE FROM index_1 WHERE id = 3", ids: [2],
            index: "n_1",
            message: "A document's key is missing in index n_1"),
        Damage(
            sql: "DELETE FROM index_2 WHERE id = 4 AND key < (SELECT max(key) FROM index_2 "
                + "WHERE id = 4)", ids: [3],
            index: "tags_-1_n_1",
            message: "A document's key is missing in index tags_-1_n_1"),
        Damage(
            sql: "INSERT INTO index_4 SELECT key, 3 FROM index_1 WHERE id = 3", ids: [nil],
            index: "m_1",
            message: "Index m_1 holds 1 keys that no document gives"),
        Damage(
            sql: "INSERT INTO index_3 SELECT key, 999 FROM index_1 WHERE id = 3", ids: [nil],
            index: "a.b_1",
            message: "rows of index_3 without a document: 1"),
        Damage(
            sql: "UPDATE index_3 SET key = x'2000' || key WHERE id = 7", ids: [6, nil],
            index: "a.b_1",
            message: "A document's key is missing in index a.b_1"),
        Damage(
            sql: "UPDATE store_indexes SET multikey = 0 WHERE id = 2",
            ids: (Int32(0)..<9).map { .int32($0) },
            index: "tags_-1_n_1",
            message: "Index tags_-1_n_1 is not marked as multikey"),
        Damage(
            sql: "INSERT INTO index_1 SELECT key, 3 FROM index_1 WHERE id = 4", ids: [nil, nil],
            index: "n_1",
            message: "Index n_1 holds 1 keys that no document gives"),
    ])
    func `a key that is missing, wrong or too many is told`(damage: Damage) throws {
        let directory = try TemporaryDirectory()
        let store = try Self.filled(directory)
        #expect(try store.verify().faults == [])
        try store.write { try $0.connection.execute(damage.sql) }
        let faults = try store.verify().faults
        #expect(faults.map(\.documentID) == damage.ids)
        #expect(faults.first?.message == damage.message)
        #expect(faults.allSatisfy { $0.place == .index && $0.namespace == Self.things })
        #expect(Set(faults.map(\.indexName)) == [damage.index])
        #expect(try store.read { try $0.verify(Self.things) }.faults == faults)
    }

    @Test func `the keys of each index are counted`() throws {
        let directory = try TemporaryDirectory()
        let counts = try Self.filled(directory).read { try $0.keyCounts(Self.things) }
        #expect(
            counts.map(\.indexName) == ["_id_", "n_1", "tags_-1_n_1", "a.b_1", "m_1", "text_text"])
        #expect(counts.map(\.keys) == [9, 9, 18, 5, 1, 0])
    }

    @Test func `keys of a damaged document are nobody's fault`() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.filled(directory)
        try store.write {
            try $0.connection.execute("UPDATE collection_1 SET doc = x'00' WHERE id = 2")
        }
        #expect(try store.verify().faults.map(\.place) == [.document])
        #expect(try store.quarantine().faults.count == 1)
        #expect(try store.verify().faults == [])
    }
}
