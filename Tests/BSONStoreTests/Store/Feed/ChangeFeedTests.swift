import Synchronization
import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a reader of the feed could miss a change, or read one that never happened.
@Suite struct ChangeFeedTests {
    private static let things = Namespace("app", "things")
    private static let others = Namespace("app", "others")

    private static func store(
        keeping changesMax: Int = 100
    ) throws -> (TemporaryDirectory, DocumentStore) {
        let directory = try TemporaryDirectory()
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: changesMax))
        return (directory, try DocumentStore(at: .file(directory.file()), options: options))
    }

    @Test func `each change is told once, in order, with both images`() throws {
        let (directory, store) = try Self.store()
        let things = store.collection(Self.things)
        try things.insertOne(["_id": 1, "a": 1])
        try things.updateOne(["_id": 1], ["$set": ["a": 2]])
        try things.updateOne(["_id": 1], ["$set": ["a": 2]])
        try things.replaceOne(["_id": 1], ["b": 1])
        try store.collection(Self.others).insertOne(["_id": 9])
        try things.deleteOne(["_id": 1])
        let batch = try store.changes(after: 0)
        #expect(batch.changes.map(\.position) == [1, 2, 3, 4, 5])
        #expect(batch.changes.map(\.kind) == [.insert, .update, .replace, .insert, .delete])
        #expect(batch.changes.map(\.documentID) == [1, 1, 1, 9, 1])
        #expect(batch.changes[1].before == ["_id": 1, "a": 1])
        #expect(batch.changes[1].after == ["_id": 1, "a": 2])
        #expect(batch.changes[4].before == ["_id": 1, "b": 1] && batch.changes[4].after == nil)
        #expect(batch.isAtEnd && batch.position == 5)
        #expect(try store.changePosition == 5)
        let some = try store.changes(after: 2, in: Self.things, limit: 2)
        #expect(some.changes.map(\.position) == [3] && some.position == 4 && !some.isAtEnd)
        _ = directory
    }

    @Test func `a batch ends with the change by which its documents are 16 MiB`() throws {
        let (directory, store) = try Self.store()
        let bytes = BSONValue.binary(BSONBinary([UInt8](repeating: 7, count: 6 * 1024 * 1024)))
        for id in 1...5 as ClosedRange<Int32> {
            try store.collection(id == 2 ? Self.others : Self.things)
                .insertOne(["_id": .int32(id), "b": bytes])
        }
        let all = try store.changes(after: 0)
        #expect(all.changes.map(\.position) == [1, 2, 3] && all.position == 3 && !all.isAtEnd)
        let rest = try store.changes(after: all.position)
        #expect(rest.changes.map(\.position) == [4, 5] && rest.position == 5 && rest.isAtEnd)
        let some = try store.changes(after: 0, in: Self.things, limit: 5)
        #expect(some.changes.map(\.position) == [1, 3, 4] && some.position == 4 && !some.isAtEnd)
        try store.collection(Self.things).updateOne(["_id": 5], ["$set": ["a": 1]])
        // Both documents of an update count.
        let twice = try store.changes(after: 4)
        #expect(twice.changes.map(\.position) == [5, 6] && twice.isAtEnd)
        _ = directory
    }

    @Test func `a comment names the changes that are written after it`() throws {
        let (directory, store) = try Self.store()
        try store.write { transaction in
            try transaction.insert(Self.things, ["_id": 1])
            transaction.comment = ["op": 7]
            try transaction.put(Self.things, ["_id": 1, "a": 1])
        }
        try store.write { try $0.remove(Self.things, id: 1) }
        let comments = try store.changes(after: 0).changes.map(\.comment)
        #expect(comments == [nil, ["op": 7], nil])
        _ = directory
    }

    @Test func `what was rolled back is not told`() throws {
        let (directory, store) = try Self.store()
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.write { transaction in
                try transaction.insert(Self.things, ["_id": 1])
                throw Stop()
            }
        }
        try store.write { try $0.insert(Self.things, ["_id": 2]) }
        #expect(try store.changes(after: 0).changes.map(\.documentID) == [2])
        _ = directory
    }

    @Test func `a position that is no longer kept is an error`() throws {
        let (directory, store) = try Self.store(keeping: 3)
        for id in Int32(0)..<10 {
            try store.write { try $0.insert(Self.things, ["_id": .int32(id)]) }
        }
        #expect(try store.changes(after: 7).changes.map(\.documentID) == [7, 8, 9])
        for lost: Int64 in [0, 6, 11, -1] {
            let error = #expect(throws: StoreError.self) { try store.changes(after: lost) }
            #expect(error?.code.rawValue == 286)
        }
        _ = directory
    }

    @Test func `a store without a feed says so`() throws {
        let store = try DocumentStore(at: .inMemory)
        let error = #expect(throws: StoreError.self) { try store.changes(after: 0) }
        #expect(error?.code == .changeStreamNotEnabled)
    }

    @Test func `writes that no feed saw leave a gap that readers notice`() throws {
        let (directory, store) = try Self.store()
        try store.collection(Self.things).insertOne(["_id": 1])
        let position = try store.changePosition
        store.close()
        let off = try DocumentStore(
            at: .file(directory.file()), options: .init(changeHistory: .off))
        try off.collection(Self.things).insertOne(["_id": 2])
        off.close()
        let again = try DocumentStore(
            at: .file(directory.file()), options: .init(changeHistory: .keep(changesMax: 100)))
        let error = #expect(throws: StoreError.self) { try again.changes(after: position) }
        #expect(error?.code == .changeStreamHistoryLost)
        let now = try again.changePosition
        try again.collection(Self.things).insertOne(["_id": 3])
        #expect(try again.changes(after: now).changes.map(\.documentID) == [3])
        again.close()
        let later = try DocumentStore(at: .file(directory.file()))
        try later.collection(Self.things).insertOne(["_id": 4])
        #expect(try later.changes(after: now).changes.map(\.documentID) == [3, 4])
    }

    @Test func `two stores on one file see each other's commits`() throws {
        let (directory, first) = try Self.store()
        let second = try DocumentStore(at: .file(directory.file()))
        for id in Int32(0)..<20 {
            let store = id.isMultiple(of: 2) ? first : second
            try store.collection(Namespace("app", "c\(id % 5)")).insertOne(["_id": .int32(id)])
        }
        for store in [first, second] {
            #expect(
                try store.changes(after: 0).changes.map(\.documentID)
                    == (Int32(0)..<20).map { .int32($0) }
            )
        }
    }

    @Test func `observers are called after each commit until they are cancelled`() throws {
        let (directory, store) = try Self.store()
        let calls = Atomic(0)
        let observation = store.onCommit { calls.add(1, ordering: .relaxed) }
        try store.collection(Self.things).insertOne(["_id": 1])
        #expect(throws: StoreError.self) { try store.collection(Self.things).insertOne(["_id": 1]) }
        try store.collection(Self.things).insertOne(["_id": 2])
        #expect(calls.load(ordering: .relaxed) == 2)
        observation.cancel()
        try store.collection(Self.things).insertOne(["_id": 3])
        #expect(calls.load(ordering: .relaxed) == 2)
        _ = directory
    }

    @Test func `a snapshot does not see what is written meanwhile`() throws {
        let (directory, store) = try Self.store()
        let things = store.collection(Self.things)
        try things.insertOne(["_id": 1])
        try store.read { transaction in
            #expect(try transaction.count(Self.things) == 1)
            try things.insertOne(["_id": 2])
            #expect(try transaction.count(Self.things) == 1)
            #expect(try transaction.changePosition == 1)
        }
        #expect(try things.find().count() == 2)
        _ = directory
    }

    @Test func `a write inside of a write is refused, not waited for`() throws {
        let (directory, store) = try Self.store()
        let error = #expect(throws: StoreError.self) {
            try store.write { _ in try store.write { _ in } }
        }
        #expect(error?.code == .illegalOperation)
        _ = directory
    }

    @Test func `another writer is waited for only as long as was said`() throws {
        let (directory, store) = try Self.store()
        let hasty = try DocumentStore(
            at: .file(directory.file()), options: .init(busyTimeoutMS: 20))
        try store.write { transaction in
            try transaction.insert(Self.things, ["_id": 1])
            let error = #expect(throws: StoreError.self) {
                try hasty.write { try $0.insert(Self.things, ["_id": 2]) }
            }
            #expect(error?.code == .busy)
        }
        try hasty.write { try $0.insert(Self.things, ["_id": 2]) }
        #expect(try store.collection(Self.things).find().count() == 2)
    }
}
