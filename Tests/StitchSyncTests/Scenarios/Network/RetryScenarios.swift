import BSONStore
import StitchSyncTesting
import Testing

@testable import StitchSync

/// Failures are tried again with waits that grow, and that the app's own doing begins anew.
@Suite(.remotes)
struct RetryScenarios {
    @Test("writes while the remote is away do not make the waits longer", .timeLimit(.minutes(30)))
    func writesWhileAway() async throws {
        let world = try SyncWorld()
        let clock = ManualClock()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote,
            backoff: Backoff(initial: .seconds(1), cap: .seconds(1_000_000)), clock: clock)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": 0])
        world.remote.before { _ in throw RemoteError(.retryable, "away") }
        var errors = engine.errors.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await errors.next()?.code == .remoteUnavailable)
            for id in 1...20 as ClosedRange<Int32> {
                try await items.insertOne(["_id": .int32(id)])
                #expect(await errors.next()?.code == .remoteUnavailable)
            }
            group.cancelAll()
        }
        #expect(clock.longestSleep < .seconds(1000))
    }

    @Test(
        "news that no pass can read do not end the wait after a failure", .timeLimit(.minutes(30)))
    func unreadableNews() async throws {
        let world = try SyncWorld()
        let clock = ManualClock()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote,
            backoff: Backoff(initial: .seconds(60), cap: .seconds(60)), clock: clock)
        let items = engine.collection(SyncWorld.namespace)
        try await items.sync(ids: ["k"])
        try await engine.syncUntilQuiet()
        // The history is gone, and the place to go on from is not told.
        world.remote.before { call in
            switch call.kind {
            case .changes: throw RemoteError(.historyLost, code: 286, "gone")
            case .token: throw RemoteError(.retryable, "busy")
            default: break
            }
        }
        let passes = Locked(0)
        engine.addErrorListener { _ in passes.withLock { $0 += 1 } }
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            for _ in 0..<20_000 { await Task.yield() }
            group.cancelAll()
        }
        await engine.flushEvents()
        #expect(passes.withLock { $0 } <= 2)
    }

    @Test("a conflict that waits for a handler has no passes made", .timeLimit(.minutes(30)))
    func waitingConflict() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let clock = ManualClock()
        let passes = Locked(0)
        // The clock is turned also while a pass asks, which on a busy machine would be too late.
        var limits = SyncLimits()
        limits.requestTimeout = nil
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: remote, limits: limits,
            backoff: Backoff(), clock: clock,
            probe: EngineProbe(passEnded: { _ in passes.withLock { $0 += 1 } }), freshInstance: 1)
        let items = engine.collection(SyncWorld.namespace)
        try await remote.store.collection(SyncWorld.namespace).insertOne(["_id": "k", "n": 1])
        try await items.insertOne(["_id": "k", "n": 2])
        try await engine.syncUntilQuiet()
        #expect(try await items.status(of: "k") == .conflicted)
        let before = passes.withLock { $0 }
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            for _ in 0..<20_000 {
                clock.advance(by: SyncLimits.otherProcessesEvery)
                await Task.yield()
            }
            group.cancelAll()
        }
        #expect(passes.withLock { $0 } - before <= 3)
    }
}
