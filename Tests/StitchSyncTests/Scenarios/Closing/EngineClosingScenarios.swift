import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// A closed engine, or one whose store was closed, holds nothing back and keeps nobody waiting.
struct EngineClosingScenarios {
    private static let items = Namespace("shop", "items")

    /// An engine over a new file and a new remote.
    private static func device() throws -> (ScratchDirectory, InProcessRemote, SyncEngine) {
        let folder = try ScratchDirectory()
        let remote = try InProcessRemote(at: .inMemory)
        return (folder, remote, try engine(folder, remote))
    }

    private static func engine(
        _ folder: ScratchDirectory, _ remote: InProcessRemote
    ) throws -> SyncEngine {
        try SyncEngine(store: try DocumentStore(at: .file(folder.path("a.db"))), remote: remote)
    }

    private static func count(_ events: SyncEvents<BSONDocument>) async throws -> Int {
        var count = 0
        for try await _ in events { count += 1 }
        return count
    }

    private static func isClosed(_ error: any Error) -> Bool {
        (error as? StoreError)?.code == .closed
    }

    @Test(
        "a store that is closed after its engine leaves no log, even right after a write",
        arguments: [false, true])
    func closedAfterWrite(runs: Bool) async throws {
        for number in 0..<40 as Range<Int32> {
            let (folder, _, engine) = try Self.device()
            let items = engine.collection(Self.items)
            await items.configure(changeEventListener: { _ in await Task.yield() })
            try await withThrowingTaskGroup(of: Void.self) { group in
                if runs { group.addTask { try await engine.run() } }
                try await items.insertOne(["_id": .int32(number)])
                if runs { try await items.waitForUpload() }
                try await items.insertOne(["_id": .int32(-1 - number)])
                await engine.close()
                engine.store.close()
                #expect(!FileManager.default.fileExists(atPath: folder.path("a.db") + "-wal"))
                try await group.waitForAll()
            }
        }
    }

    @Test("a listener that never returns holds a close up no longer than its limit")
    func hangingListener() async throws {
        let folder = try ScratchDirectory()
        var limits = SyncLimits()
        limits.closeTimeout = .milliseconds(1)
        let engine = try SyncEngine(
            store: try DocumentStore(at: .file(folder.path("a.db"))),
            remote: try InProcessRemote(at: .inMemory), limits: limits)
        let items = engine.collection(Self.items)
        let (began, ends) = (Signal(), Signal())
        await items.configure(changeEventListener: { _ in
            began.notify()
            await ends.wait(after: 0)
        })
        try await items.insertOne(["_id": 1])
        await began.wait(after: 0)
        await engine.close()
        ends.notify()
        engine.store.close()
    }

    @Test("a listener that closes its engine does not wait for itself")
    func closesFromListener() async throws {
        let (folder, _, engine) = try Self.device()
        defer { withExtendedLifetime(folder) {} }
        let items = engine.collection(Self.items)
        let closed = Signal()
        await items.configure(changeEventListener: { _ in
            await engine.close()
            closed.notify()
        })
        try await items.insertOne(["_id": 1])
        await closed.wait(after: 0)
    }

    @Test(
        "an event whose listener closed the engine is not delivered again", .timeLimit(.minutes(2)))
    func handledByClosingListener() async throws {
        let (folder, remote, engine) = try Self.device()
        defer { withExtendedLifetime(folder) {} }
        let closed = Signal()
        await engine.collection(Self.items).configure(changeEventListener: { _ in
            await engine.close()
            closed.notify()
        })
        try await engine.collection(Self.items).insertOne(["_id": 1])
        await closed.wait(after: 0)
        // The event is removed once the listener has returned, without another commit.
        var commits = engine.store.commitCount
        while try engine.store.read({
            try $0.connection.int64("SELECT count(*) FROM sync_events") ?? 0 > 0
        }) {
            try await engine.store.waitForCommit(after: commits)
            commits = engine.store.commitCount
        }
        let next = try SyncEngine(store: engine.store, remote: remote)
        let ids = Locked<[BSONValue]>([])
        await next.collection(Self.items).configure(changeEventListener: { event in
            ids.withLock { $0.append(event.documentID) }
        })
        try await next.collection(Self.items).insertOne(["_id": 2])
        await next.flushEvents()
        #expect(ids.withLock { $0 } == [2])
        await next.close()
    }

    @Test("closed, run() returns, iterators end, later calls throw, and another engine may sync")
    func closes() async throws {
        let (folder, remote, engine) = try Self.device()
        let items = engine.collection(Self.items)
        try await items.insertOne(["_id": 1])
        async let running: Void = engine.run()
        async let events = Self.count(items.events)
        try await items.waitForUpload()
        await engine.close()
        try await running
        _ = try await events
        let insert = await #expect(throws: StoreError.self) {
            try await items.insertOne(["_id": 2])
        }
        #expect(insert?.code == .closed)
        let pass = await #expect(throws: StoreError.self) { try await engine.syncNow() }
        #expect(pass?.code == .closed)
        let wait = await #expect(throws: StoreError.self) { try await engine.waitForUpload() }
        #expect(wait?.code == .closed)
        #expect(try items.find().fetch().count == 1)
        await engine.close()
        let other = try Self.engine(folder, remote)
        try await other.syncNow()
    }

    @Test("a handler that closes its engine does not wait for itself; the pass is the last one")
    func inHandler() async throws {
        let (folder, remote, engine) = try Self.device()
        let items = engine.collection(Self.items)
        await items.configure(
            conflictHandler: ConflictHandler { _ in
                await engine.close()
                return .useRemote
            })
        try await remote.store.collection(Self.items).insertOne(["_id": 1, "by": "remote"])
        try await items.insertOne(["_id": 1, "by": "local"])
        let report = try await engine.syncNow()
        #expect(report.conflicts == 1)
        #expect(try items.findOne(id: 1)?["by"] == "remote")
        let other = try Self.engine(folder, remote)
        try await other.syncNow()
        let error = await #expect(throws: StoreError.self) { try await engine.syncNow() }
        #expect(error?.code == .closed)
    }

    @Test("closing the store gives the right to sync back, though a collection holds the engine")
    func storeCloses() async throws {
        let (folder, remote, engine) = try Self.device()
        let items = engine.collection(Self.items)
        await items.configure(
            conflictHandler: ConflictHandler { _ in
                _ = engine
                return .useRemote
            })
        try await items.insertOne(["_id": 1])
        try await engine.syncNow()
        engine.setOnline(false)
        async let waiting: Void = items.waitForDownload()
        engine.store.close()
        let other = try Self.engine(folder, remote)
        try await other.syncNow()
        do {
            try await waiting
            Issue.record("the wait should end with the store")
        } catch {
            #expect(Self.isClosed(error), "\(error)")
        }
    }
}
