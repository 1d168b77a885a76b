import BSONStore
import StitchSyncTesting
import Testing

@testable import StitchSync

/// The app hears of a failure once, from the place that it concerns, and of a full disk at all.
@Suite(.remotes, .timeLimit(.minutes(30)))
struct EngineErrorScenarios {
    private static func text(_ error: SyncError) -> String {
        "\(error.code) \(error.namespace?.collection ?? "all")"
    }

    /// An engine with three collections, whose listeners write down what they hear.
    private func engine(
        _ world: SyncWorld, _ heard: Locked<[String]>
    ) async throws -> SyncEngine {
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: world.remote)
        for name in ["a", "b", "c"] {
            let items = engine.collection(Namespace(SyncWorld.database, name))
            await items.configure(errorListener: { error, _ in
                heard.withLock { $0.append("\(name) \(Self.text(error))") }
            })
            try await items.insertOne(["_id": 1])
        }
        return engine
    }

    @Test("one lost connection is told once to the engine's listener, and to no collection's")
    func lostConnection() async throws {
        let world = try SyncWorld()
        let heard = Locked<[String]>([])
        let engine = try await engine(world, heard)
        world.remote.before { _ in throw RemoteError(.retryable, "no connection") }
        // Without a listener of the engine those of the collections hear it.
        try await engine.syncNow()
        await engine.flushEvents()
        #expect(
            heard.withLock { $0.sorted() } == [
                "a remoteUnavailable a", "b remoteUnavailable b", "c remoteUnavailable c",
            ])
        heard.withLock { $0 = [] }
        engine.addErrorListener { error in
            heard.withLock { $0.append("engine \(Self.text(error))") }
        }
        try await engine.syncNow()
        await engine.flushEvents()
        #expect(heard.withLock { $0 } == ["engine remoteUnavailable all"])
    }

    @Test("a failure of one collection is told with its name, to its listener, too")
    func oneCollection() async throws {
        let world = try SyncWorld()
        let heard = Locked<[String]>([])
        let engine = try await engine(world, heard)
        engine.addErrorListener { error in
            heard.withLock { $0.append("engine \(Self.text(error))") }
        }
        let calls = Locked(0)
        world.remote.before { call in
            guard call.kind == .write else { return }
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            if isFirst { throw RemoteError(.retryable, "only here") }
        }
        try await engine.syncNow()
        await engine.flushEvents()
        let told = heard.withLock { $0.sorted() }
        #expect(told.count == 2)
        let last = told.last ?? ""
        #expect(last.hasPrefix("engine remoteUnavailable") && !last.hasSuffix("all"))
    }

    @Test("a disk that is full during run() is told once, and once more when it has room again")
    func fullDisk() async throws {
        let world = try SyncWorld()
        let clock = ManualClock()
        let fault = Locked<StoreError.Code?>(nil)
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote, limits: SyncLimits(),
            backoff: Backoff(initial: .seconds(1), cap: .seconds(1)), clock: clock,
            probe: EngineProbe(beforeCommit: {
                if let code = fault.withLock({ $0 }) { throw StoreError(code, "no room") }
            }), freshInstance: 1)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": 1])
        fault.withLock { $0 = .diskFull }
        let heard = Locked<[String]>([])
        await items.configure(errorListener: { error, _ in
            heard.withLock { $0.append(Self.text(error)) }
        })
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            while heard.withLock({ $0.count }) < 1 { await Task.yield() }
            // Further passes fail for the same reason.
            for _ in 0..<3 {
                engine.wake()
                for _ in 0..<2_000 { await Task.yield() }
            }
            #expect(heard.withLock { $0 } == ["storeFailed all"])
            fault.withLock { $0 = .ioError }
            engine.wake()
            while heard.withLock({ $0.count }) < 2 { await Task.yield() }
            fault.withLock { $0 = nil }
            engine.wake()
            while heard.withLock({ $0.count }) < 3 { await Task.yield() }
            let all = ["storeFailed all", "storeFailed all", "storeRecovered all"]
            #expect(heard.withLock { $0 } == all)
            group.cancelAll()
        }
        #expect(try world.remoteDocument(1) == ["_id": 1])
    }
}
