import BSONStore
import StitchSyncTesting
import Testing

@testable import StitchSync

/// Several listen, each at its own pace, and nobody misses a change.
@Suite(.remotes)
struct ListeningScenarios {
    @Test("two listeners and a sequence each get every change once, in order")
    func several() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let lines = Locked<[String]>([])
        let registration = a.items.addChangeEventListener { event in
            lines.withLock { $0.append("second \(event.operationType)") }
        }
        var events = a.items.events.makeAsyncIterator()
        try await a.insert(["_id": "k", "x": 0])
        try await a.set("k", ["x": 1])
        #expect(try await events.next()?.fullDocument == ["_id": "k", "x": 0])
        #expect(try await events.next()?.fullDocument == ["_id": "k", "x": 1])
        #expect(
            world.transcript() == ["A local insert k pending", "A local update k pending"])
        #expect(lines.withLock { $0 } == ["second insert", "second update"])
        registration.remove()
        try await a.delete("k")
        #expect(try await events.next()?.operationType == .delete)
        #expect(lines.withLock { $0.count } == 2)
    }

    @Test("news behind changes of other collections wake the loop", .timeLimit(.minutes(30)))
    func behindOthers() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "k", "x": 0])
        try await a.engine.syncUntilQuiet()
        guard let remote = world.remoteDocuments as? StoredRemoteDocuments else { return }
        var events = a.items.events.makeAsyncIterator()
        let seen = a.engine.passes.count
        let engine = a.engine
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await engine.run() } catch is CancellationError {}
            }
            await engine.passes.wait(after: seen)
            let other = remote.store.collection(Namespace(SyncWorld.database, "other"))
            for id in 0..<5 as Range<Int32> { _ = try await other.insertOne(["_id": .int32(id)]) }
            try world.foreign("k") { $0["x"] = 1 }
            let event = try await events.next()
            #expect(event?.fullDocument == ["_id": "k", "x": 1])
            group.cancelAll()
        }
    }

    @Test("a listener that does not return holds up neither others nor passes nor other errors")
    func stuckListener() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let other = a.engine.collection(Namespace(SyncWorld.database, "other"))
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        await other.configure(changeEventListener: { _ in
            enter.yield()
            for await _ in released {}
        })
        try await other.insertOne(["_id": "stuck"])
        var entries = entered.makeAsyncIterator()
        await entries.next()
        var events = a.items.events.makeAsyncIterator()
        try await a.items.insertOne(["_id": "k"])
        #expect(try await events.next()?.documentID == "k")
        try await a.engine.syncNow()
        #expect(try await events.next()?.reason == .committed)
        var errors = a.engine.errors.makeAsyncIterator()
        world.remote.outcomes { _, outcomes in
            outcomes.map { _ in .failed(RemoteError(.rejected, code: 121, "no")) }
        }
        try await a.items.insertOne(["_id": "refused"])
        try await a.engine.syncNow()
        #expect(await errors.next()?.documentID == "refused")
        release.finish()
        await a.engine.flushEvents()
    }

    @Test(
        "a listener of errors that does not return holds up no other, and is told of all in the end"
    )
    func stuckErrorListener() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let told = Locked<[BSONValue?]>([])
        let slow = a.items.engine.addErrorListener(in: a.items.namespace) { error in
            for await _ in released {}
            told.withLock { $0.append(error.documentID) }
        }
        var errors = a.engine.errors.makeAsyncIterator()
        world.remote.outcomes { _, outcomes in
            outcomes.map { _ in .failed(RemoteError(.rejected, code: 121, "no")) }
        }
        for id in ["k", "l", "m"] as [BSONValue] {
            a.engine.delivery.report([
                SyncError(
                    .remoteUnavailable, "gone", namespace: SyncWorld.namespace, documentID: id)
            ])
            #expect(await errors.next()?.documentID == id)
        }
        try await a.items.insertOne(["_id": "refused"])
        try await a.engine.syncNow()
        #expect(await errors.next()?.documentID == "refused")
        #expect(told.withLock { $0 } == [])
        release.finish()
        await a.engine.flushEvents()
        #expect(told.withLock { $0 } == ["k", "l", "m", "refused"])
        slow.remove()
        try await a.items.insertOne(["_id": "later"])
        try await a.engine.syncNow()
        #expect(await errors.next()?.documentID == "later")
        #expect(told.withLock { $0.count } == 4)
    }

    @Test("what a sequence was not done with is given again after a restart")
    func redelivery() async throws {
        let world = try SyncWorld()
        let store = try DocumentStore(at: .inMemory)
        let first = try SyncEngine(store: store, remote: world.remote)
            .collection(SyncWorld.namespace)
        do {
            var events = first.events.makeAsyncIterator()
            try await first.insertMany([["_id": 1], ["_id": 2], ["_id": 3]])
            #expect(try await events.next()?.documentID == 1)
            #expect(try await events.next()?.documentID == 2)
        }
        let second = try SyncEngine(store: store, remote: world.remote)
            .collection(SyncWorld.namespace)
        var events = second.events.makeAsyncIterator()
        var ids: Set<BSONValue> = []
        while ids.count < 2, let event = try await events.next() {
            if event.documentID != 1 { ids.insert(event.documentID) }
        }
        #expect(ids == [2, 3])
    }

    @Test("what everybody was done with is forgotten, and kept for the slowest")
    func forgotten() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        func kept() throws -> Int64? {
            try a.store.read { try $0.connection.int64("SELECT count(*) FROM sync_events") }
        }
        do {
            var slow = a.items.events.makeAsyncIterator()
            try await a.insert(["_id": 1])
            try await a.insert(["_id": 2])
            #expect(try kept() == 2)
            #expect(try await slow.next()?.documentID == 1)
        }
        try await a.insert(["_id": 3])
        #expect(try kept() == 0)
    }

    /// A collection that is synced every hour and watched meanwhile, with one id that is wanted.
    private static func hourly(_ engine: SyncEngine) async throws -> SyncCollection<BSONDocument> {
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(
            syncFrequency: .scheduled(every: .seconds(3600), isConnected: true))
        try await items.sync(ids: ["k"])
        return items
    }

    @Test("a scheduled collection waits for its hour, tells of changes when connected")
    func scheduled() async throws {
        let world = try SyncWorld()
        let clock = ManualClock()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote, clock: clock)
        let items = try await Self.hourly(engine)
        var statuses = items.statusUpdates.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            while let status = try await statuses.next(), status.toLook > 0 {}
            try world.foreign("k") { $0["x"] = 1 }
            while let status = try await statuses.next(), status.toLook == 0 {}
            #expect(try items.findOne(id: "k") == nil)
            clock.advance(by: .seconds(3600))
            while let status = try await statuses.next(), status.toLook > 0 {}
            #expect(try items.findOne(id: "k") == ["_id": "k", "x": 1])
            group.cancelAll()
        }
    }

    @Test(
        "a store that is busy when news are to be noted, or read, ends nothing",
        .timeLimit(.minutes(30)))
    func busyNews() async throws {
        let world = try SyncWorld()
        let clock = ManualClock()
        let isBusy = Locked(false)
        let failures = Locked(0)
        // Hours pass at once, also for requests.
        var limits = SyncLimits()
        limits.requestTimeout = nil
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote, limits: limits,
            backoff: Backoff(), clock: clock,
            probe: EngineProbe(beforeCommit: {
                guard isBusy.withLock({ $0 }) else { return }
                failures.withLock { $0 += 1 }
                isBusy.withLock { $0 = false }
                throw StoreError(.busy, "another process writes")
            }), freshInstance: 1)
        let items = try await Self.hourly(engine)
        var statuses = items.statusUpdates.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            while let status = try await statuses.next(), status.toLook > 0 {}
            isBusy.withLock { $0 = true }
            try world.foreign("k") { $0["x"] = 1 }
            while failures.withLock({ $0 }) == 0 { await Task.yield() }
            // The pass before may end only now, and the hour begins with that.
            while try items.findOne(id: "k")?["x"] != 1 {
                clock.advance(by: .seconds(3600))
                await Task.yield()
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(failures.withLock { $0 } == 1)
    }

    @Test("a collection on demand travels only when it is asked to")
    func onDemand() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let lazy = engine.collection(Namespace(SyncWorld.database, "lazy"))
        let eager = engine.collection(SyncWorld.namespace)
        await lazy.configure(syncFrequency: .onDemand)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            try await lazy.insertOne(["_id": "lazy"])
            try await eager.insertOne(["_id": "eager"])
            try await eager.waitForUpload()
            #expect(try await lazy.status().pending == 1)
            try await lazy.syncNow()
            #expect(try await lazy.status().pending == 0)
            group.cancelAll()
        }
    }

    @Test(
        "a frequency that changes while the engine runs counts from then on",
        .timeLimit(.minutes(30)))
    func changingFrequency() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        let eager = engine.collection(Namespace(SyncWorld.database, "eager"))
        try await items.sync(ids: ["k"])
        var events = items.events.makeAsyncIterator()
        /// A pass of the running engine sends; what it takes in, it took in before.
        func passes(_ round: Int32) async throws {
            var statuses = eager.statusUpdates.makeAsyncIterator()
            try await eager.insertOne(["_id": .int32(round)])
            while let status = try await statuses.next(), status.pending > 0 {}
        }
        func x() async throws -> BSONValue? { try items.findOne(id: "k")?["x"] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            try world.foreign("k") { $0["x"] = 1 }
            #expect(try await events.next()?.fullDocument?["x"] == 1)
            await items.updateSyncFrequency(.onDemand)
            try await passes(1)
            try world.foreign("k") { $0["x"] = 2 }
            try await passes(2)
            #expect(try await x() == 1)
            try await items.syncNow()
            #expect(try await events.next()?.fullDocument?["x"] == 2)
            await items.updateSyncFrequency(.reactive)
            try world.foreign("k") { $0["x"] = 3 }
            #expect(try await events.next()?.fullDocument?["x"] == 3)
            group.cancelAll()
        }
    }
}
