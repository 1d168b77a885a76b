import BSONStore
import Testing

@testable import StitchSync

/// Without these an app in the background would hold a lock for which the system ends it, or sync
/// although it must not.
@Suite(.timeLimit(.minutes(30))) struct SuspensionScenarios {
    private static let items = Namespace("shop", "items")

    private static func engine(
        _ folder: ScratchDirectory, _ remote: InProcessRemote
    ) throws -> SyncEngine {
        try SyncEngine(store: try DocumentStore(at: .file(folder.path("a.db"))), remote: remote)
    }

    private static func stored(_ remote: InProcessRemote) throws -> [BSONValue?] {
        try remote.store.collection(items).find().fetch().map { $0["_id"] }
    }

    @Test("suspended, an engine holds no lease, syncs nothing and queues; resumed, it goes on")
    func suspends() async throws {
        let folder = try ScratchDirectory()
        let remote = try InProcessRemote(at: .inMemory)
        let engine = try Self.engine(folder, remote)
        let items = engine.collection(Self.items)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            try await items.insertOne(["_id": 1])
            try await items.waitForUpload()
            try await engine.suspend()
            #expect(engine.isSuspended && !engine.isOnline)
            try await items.insertOne(["_id": 2])
            let pass = await #expect(throws: SyncError.self) { try await engine.syncNow() }
            #expect(pass?.code == .offline && pass?.message == "the engine is suspended")
            #expect(try await items.pendingIDs == [2])

            // An app extension syncs the same file meanwhile.
            let other = try Self.engine(folder, remote)
            try await other.syncNow()
            #expect(try Self.stored(remote) == [1, 2])
            await other.close()
            other.store.close()
            try await remote.store.collection(Self.items).insertOne(["_id": 3])

            engine.resume()
            #expect(engine.isOnline)
            try await items.insertOne(["_id": 4])
            try await items.waitForUpload()
            #expect(try Self.stored(remote) == [1, 2, 3, 4])
            group.cancelAll()
        }
    }

    @Test(
        "suspend() and close() release the lease also in a cancelled task",
        arguments: [true, false])
    func cancelled(closes: Bool) async throws {
        let folder = try ScratchDirectory()
        let remote = try InProcessRemote(at: .inMemory)
        let engine = try Self.engine(folder, remote)
        try await engine.syncNow()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                withUnsafeCurrentTask { $0?.cancel() }
                if closes {
                    await engine.close()
                } else {
                    await #expect(throws: Never.self) { try await engine.suspend() }
                }
            }
        }
        let other = try Self.engine(folder, remote)
        try await other.syncNow()
    }

    @Test("an engine that is suspended in a conflict handler releases the lease after the pass")
    func suspendedInHandler() async throws {
        let folder = try ScratchDirectory()
        let remote = try InProcessRemote(at: .inMemory)
        let engine = try Self.engine(folder, remote)
        let items = engine.collection(Self.items)
        await items.configure(
            conflictHandler: ConflictHandler { _ in
                let error = await #expect(throws: SyncError.self) { try await engine.suspend() }
                #expect(error?.code == .passUnderWay)
                return .useRemote
            })
        try await remote.store.collection(Self.items).insertOne(["_id": 1, "by": "remote"])
        try await items.insertOne(["_id": 1, "by": "local"])
        try await engine.syncNow()
        #expect(engine.isSuspended)
        let other = try Self.engine(folder, remote)
        try await other.syncNow()
    }

    @Test("run() waits for another engine that syncs the file, and says so once")
    func inUse() async throws {
        let folder = try ScratchDirectory()
        let remote = try InProcessRemote(at: .inMemory)
        let other = try Self.engine(folder, remote)
        try await other.syncNow()
        let engine = try Self.engine(folder, remote)
        let (errors, report) = AsyncStream.makeStream(of: SyncError.self)
        let reported = Locked<[SyncError.Code]>([])
        let listener = engine.addErrorListener { error in
            reported.withLock { $0.append(error.code) }
            report.yield(error)
        }
        defer { listener.remove() }
        let items = engine.collection(Self.items)
        try await items.insertOne(["_id": 1])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            for await error in errors {
                #expect(error.code == .storeInUse)
                break
            }
            await other.close()
            other.store.close()
            try await items.waitForUpload()
            #expect(try Self.stored(remote) == [1])
            group.cancelAll()
        }
        #expect(reported.withLock { $0 } == [.storeInUse])
    }

    @Test("a pass that waits for its turn does not take the lease of a suspended engine")
    func waitingPass() async throws {
        let folder = try ScratchDirectory()
        let remote = try InProcessRemote(at: .inMemory)
        let engine = try Self.engine(folder, remote)
        let items = engine.collection(Self.items)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        await items.configure(
            conflictHandler: ConflictHandler { _ in
                begin.finish()
                for await _ in ends {}
                return .useRemote
            })
        try await remote.store.collection(Self.items).insertOne(["_id": 1, "by": "remote"])
        try await items.insertOne(["_id": 1, "by": "local"])
        async let first: SyncPassReport = engine.syncNow()
        for await _ in begins {}
        async let second: SyncPassReport = engine.syncNow()
        async let suspended: Void = engine.suspend()
        while !engine.isSuspended { await Task.yield() }
        end.finish()
        _ = try await first
        try await suspended
        do {
            _ = try await second
        } catch let error as SyncError {
            #expect(error.code == .offline)
        }
        let other = try Self.engine(folder, remote)
        try await other.syncNow()
    }

    @Test("an engine that was offline before stays offline when it is resumed")
    func offline() async throws {
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: try InProcessRemote(at: .inMemory))
        engine.setOnline(false)
        try await engine.suspend()
        engine.resume()
        #expect(!engine.isOnline)
        engine.setOnline(true)
        #expect(engine.isOnline)
    }
}
