#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

@testable import BSONCore
@testable import BSONStore

/// What a review found: a store that changes, ends or is damaged at an unlucky moment.
@Suite(.timeLimit(.minutes(30))) struct StoreEdgeTests {
    private static let first = Namespace("app", "a")
    private static let second = Namespace("app", "b")
    private static let now = BSONDatetime(milliseconds: 1_700_000_000_000)

    /// A store with two collections, in each of which the time of a document is over.
    private static func expiring(_ directory: TemporaryDirectory) throws -> DocumentStore {
        let store = try DocumentStore(at: .file(directory.file()))
        for namespace in [first, second] {
            let collection = store.collection(namespace)
            try collection.createIndex(["at": 1], ["expireAfterSeconds": 0])
            try collection.insertOne(["_id": 1, "at": .datetime(BSONDatetime(milliseconds: 0))])
        }
        return store
    }

    @Test func `no document expires by an index that was dropped meanwhile`() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.expiring(directory)
        let isFirst = Locked(true)
        let observation = store.onCommit {
            let isDue = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isDue else { return }
            do { try store.collection(Self.second).dropIndexes() } catch { Issue.record(error) }
        }
        #expect(try store.expire(now: Self.now) == 1)
        observation.cancel()
        #expect(try store.collection(Self.first).find().count() == 0)
        #expect(try store.collection(Self.second).find().count() == 1)
    }

    @Test func `a damaged collection keeps no other from expiring`() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.expiring(directory)
        try store.write {
            try $0.connection.execute("UPDATE collection_1 SET doc = x'0F000000'")
        }
        let error = #expect(throws: StoreError.self) { try store.expire(now: Self.now) }
        #expect(error?.code == .corrupt)
        #expect(try store.collection(Self.second).find().count() == 0)
    }

    @Test func `a store ends when another file took the place of its own`() throws {
        let directory = try TemporaryDirectory()
        let (path, other) = (directory.file(), directory.file("other.store"))
        let store = try DocumentStore(at: .file(path))
        let things = store.collection(Self.first)
        try things.insertOne(["_id": "old"])
        #expect(try things.find().count() == 1)
        let replacement = try DocumentStore(at: .file(other))
        try replacement.collection(Self.first).insertOne(["_id": "restored"])
        replacement.close()
        for end in ["", "-wal", "-shm"] { StoreFile.remove(path + end) }
        try FileManager.default.moveItem(atPath: other, toPath: path)
        for id in 0..<3 as Range<Int32> {
            let error = #expect(throws: StoreError.self) {
                try things.insertOne(["_id": .int32(id)])
            }
            #expect(error?.code == .cannotOpen)
        }
        store.close()
        let again = try DocumentStore(at: .file(path)).collection(Self.first)
        #expect(try again.find().fetch() == [["_id": "restored"]])
    }

    @Test func `a damaged document does not end the feed when its collection is dropped`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(directory.file()), options: .init(changeHistory: .keep(changesMax: 100)))
        let things = store.collection(Self.first)
        try things.insertMany([["_id": 1], ["_id": 2], ["_id": 3]])
        try store.write {
            try $0.connection.execute("UPDATE collection_1 SET doc = x'0F000000' WHERE id = 2")
        }
        try store.dropCollection(Self.first)
        try store.collection(Self.second).insertOne(["_id": 4])
        let changes = try store.changes(after: 0).changes
        #expect(changes.compactMap(\.after) == [["_id": 1], ["_id": 3], ["_id": 4]])
        #expect(try store.verify().isSound)
    }

    @Test func `a store that was followed leaves no log behind when it is closed`() async throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(directory.file()), options: .init(changeHistory: .keep(changesMax: 100)))
        let things = store.collection(Self.first)
        try await things.insertOne(["_id": 1])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await batch in store.followChanges(after: 0) where batch.position > 1 {
                    return
                }
            }
            // It waits for a commit before or after this one.
            for _ in 0..<100 { await Task.yield() }
            try await things.insertOne(["_id": 2])
            try await group.next()
        }
        try await things.insertOne(["_id": 3])
        store.close()
        #expect(StoreFile.size(directory.file() + "-wal") ?? 0 == 0)
        let again = try DocumentStore(at: .file(directory.file()))
        #expect(try again.collection(Self.first).find().count() == 3)
    }

    @Test(arguments: [
        "UPDATE store_settings SET changes_floor = 9223372036854775807",
        "UPDATE store_settings SET changes_max = -9223372036854775808",
        "UPDATE store_changes SET position = 9223372036854775807 WHERE position = 2",
        "UPDATE store_changes SET position = -9223372036854775807 - 1 WHERE position = 1",
        "UPDATE store_definitions SET id = -9223372036854775807 - 1 WHERE id = 1",
        "UPDATE store_collections SET id = -1; UPDATE store_options SET collection = -1",
        "UPDATE store_collections SET id = 9000000000000000000; "
            + "UPDATE store_options SET collection = 9000000000000000000",
    ])
    func `numbers that no store has are told, and trap nothing`(sql: String) throws {
        let directory = try TemporaryDirectory()
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: 100))
        let store = try DocumentStore(at: .file(directory.file()), options: options)
        try store.collection(Self.first).insertMany([["_id": 1], ["_id": 2]])
        try store.collection(Self.first).createIndex(["n": 1])
        store.close()
        let connection = try SQLiteConnection(path: directory.file(), mode: .readWrite)
        for statement in sql.split(separator: "; ") { try connection.execute(String(statement)) }
        func damaged(_ body: () throws -> Void) {
            do { try body() } catch { #expect(error is StoreError, "\(error)") }
        }
        damaged {
            let store = try DocumentStore(at: .file(directory.file()), options: options)
            damaged { _ = try store.collection(Self.first).find().fetch() }
            damaged { try store.collection(Self.first).insertOne(["_id": 3]) }
            damaged { _ = try store.changes(after: 0) }
            damaged { _ = try store.changes(after: .max) }
            damaged {
                _ = try store.read { transaction in
                    _ = try transaction.definitionID(before: 1)
                    return try transaction.definitionChanges(after: 0, through: 9, limit: 9)
                }
            }
            damaged { _ = try store.verify() }
        }
    }

    @Test(
        arguments: [
            (["a.$**": 1], [:], ["b": [1]]), (["a.b": 1], ["sparse": true], ["a": [["c": 1]]]),
        ] as [(BSONDocument, BSONDocument, BSONDocument)])
    func `an array of a document that is not in the index leaves the store sound`(
        keys: BSONDocument, options: BSONDocument, document: BSONDocument
    ) throws {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Self.first)
        try things.createIndex(keys, options)
        try things.insertOne(document)
        #expect(try store.verify().faults == [])
        // Where documents were there before the index.
        try things.dropIndexes()
        try things.createIndex(keys, options)
        #expect(try store.verify().faults == [])
    }

    @Test func `an index key that is not its document's ends no distinct in a circle`() throws {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Self.first)
        try things.createIndex(["a": 1])
        try things.insertMany([["_id": 1, "a": 1], ["_id": 2, "a": 9]])
        try store.write { transaction in
            try transaction.connection.execute("DELETE FROM index_1 WHERE id = 2")
            let key = try transaction.connection.prepare("UPDATE index_1 SET key = ?1 WHERE id = 1")
            key.bind(1, BSONKey.encode(.int32(9)))
            try key.run()
        }
        let error = #expect(throws: StoreError.self) { try things.find().distinct("a") }
        #expect(error?.code == .corrupt)
    }

    @Test func `a replacement with operators is refused, waiting or not`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Self.first)
        try await things.insertOne(["_id": 1])
        do {
            try await things.findOneAndReplace(["_id": 1], ["$set": ["a": 1]])
            Issue.record("it was carried out")
        } catch let error as StoreError {
            #expect(error.code == .badValue)
        }
        #expect(try things.find().first() == ["_id": 1])
    }
}
