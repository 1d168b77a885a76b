import BSONStore
import Testing

@testable import StitchSync

/// Without these shared conflicts would fill the device, stay after a desync, or stop sync.
struct SharedConflictScenarios {
    private static let items = Namespace("shop", "items")

    /// A remote that takes conflicts unless it is down.
    private final class CollectingRemote: Remote, ConflictCollector {
        let inner: InProcessRemote
        let isDown = Locked(false)
        let refuses = Locked(false)
        let taken = Locked<[BSONDocument]>([])

        init() throws { inner = try InProcessRemote(at: .inMemory) }

        func collection(_ namespace: Namespace) -> any RemoteCollection {
            inner.collection(namespace)
        }

        func share(
            _ conflicts: [BSONDocument], in namespace: Namespace
        ) async throws(RemoteError) {
            if isDown.withLock({ $0 }) { throw RemoteError(.retryable, "down") }
            if refuses.withLock({ $0 }) { throw RemoteError(.rejected, "no") }
            taken.withLock { $0 += conflicts }
        }
    }

    private func device(_ remote: CollectingRemote, _ sharing: ConflictSharing?) async throws
        -> SyncEngine
    {
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
        await engine.collection(Self.items).configure(
            conflictHandler: ConflictHandler { _ in .useRemote }, sharesConflicts: sharing)
        try await engine.collection(Self.items).subscribe(waitForSync: .never)
        return engine
    }

    /// Makes a conflict of each of a number of documents, and lets the device meet it.
    private func meet(
        _ count: Int, on engine: SyncEngine, _ remote: CollectingRemote, text: String = ""
    ) async throws {
        let items = engine.collection(Self.items)
        for id in 0..<count {
            try await items.insertOne(["_id": .int64(Int64(id)), "a": 0])
        }
        try await engine.syncUntilQuiet()
        try await items.updateMany([:], ["$set": ["a": 1, "text": .string(text)]])
        try await remote.inner.store.collection(Self.items).updateMany(
            [:], ["$set": ["a": 2], "$inc": ["\(DocumentVersion.fieldName).v": 1]])
        try await engine.syncUntilQuiet()
    }

    private func waiting(_ engine: SyncEngine) throws -> Int64? {
        try engine.store.read { try $0.connection.int64("SELECT count(*) FROM sync_shared") }
    }

    @Test("conflicts wait while the server cannot take them, at most 100, and arrive later")
    func waits() async throws {
        let remote = try CollectingRemote()
        let engine = try await device(remote, .complete())
        remote.isDown.withLock { $0 = true }
        try await meet(120, on: engine, remote)
        #expect(try waiting(engine) == 100)
        remote.isDown.withLock { $0 = false }
        try await engine.syncNow()
        #expect(try waiting(engine) == 0)
        #expect(remote.taken.withLock { $0.count } == 100)
        #expect(remote.taken.withLock { $0.first?["decision"] } == "useRemote")
    }

    @Test("a conflict above 64 KiB, and one of a device that does not share, is not stored")
    func large() async throws {
        let remote = try CollectingRemote()
        remote.isDown.withLock { $0 = true }
        let sharing = try await device(remote, .complete())
        try await meet(1, on: sharing, remote, text: String(repeating: "x", count: 70_000))
        #expect(try waiting(sharing) == 0)
        let other = try CollectingRemote()
        other.isDown.withLock { $0 = true }
        let silent = try await device(other, nil)
        try await meet(1, on: silent, other)
        #expect(try waiting(silent) == 0)
    }

    @Test("a conflict that the server refuses, and one of a document that left, is removed")
    func removed() async throws {
        let remote = try CollectingRemote()
        remote.isDown.withLock { $0 = true }
        let engine = try await device(remote, .complete())
        try await meet(1, on: engine, remote)
        #expect(try waiting(engine) == 1)
        remote.isDown.withLock { $0 = false }
        remote.refuses.withLock { $0 = true }
        try await engine.syncNow()
        #expect(try waiting(engine) == 0)
        #expect(remote.taken.withLock { $0.isEmpty })
    }

    @Test("redacted values keep whether they differ, also in arrays and documents")
    func redaction() {
        let redaction = FieldRedaction(paths: ["a.b", "c", "_id"])
        let redacted = redaction.redacted([
            ["_id": 1, "a": ["b": "x", "d": 1], "c": 5],
            ["_id": 1, "a": [["b": "y"], ["b": "x"]], "c": [5, true]], nil,
        ])
        let first: BSONDocument = ["_id": 1, "a": ["b": "(string)", "d": 1], "c": "(int)"]
        let elements: BSONValue = [["b": "(string 2)"], ["b": "(string)"]]
        let second: BSONDocument = ["_id": 1, "a": elements, "c": ["(int)", "(bool 2)"]]
        #expect(redacted == [first, second, nil])
    }
}
