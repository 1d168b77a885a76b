import BSONStore
import StitchRules
import Testing

@testable import StitchSync

/// Sets have versions and states, survive a restart, and what the remote refuses harms nothing.
@Suite(.remotes)
struct SubscriptionSetScenarios {
    private func world() throws -> SyncWorld {
        let world = try SyncWorld()
        for number in 1...5 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["n"] = .int32(number) }
        }
        return world
    }

    @Test("every update block makes a version, also an empty one; one that throws makes none")
    func versions() async throws {
        let world = try world()
        let a = try await world.device("A")
        let subscriptions = a.engine.subscriptions
        #expect(try subscriptions.version == 0 && subscriptions.count == 0)
        #expect(try await subscriptions.update { _ in }.version == 1)
        let items = a.items
        try await subscriptions.update { set in
            try set.append(name: "a", in: items, where: ["n": 1])
            try set.append(in: items, where: ["n": 2])
        }
        #expect(try subscriptions.version == 2 && subscriptions.count == 2)
        await #expect(throws: StoreError.self) {
            try await subscriptions.update { set in
                set.removeAll()
                try set.append(name: "b", in: items)
                try set.append(name: "b", in: items)
            }
        }
        #expect(try subscriptions.version == 2 && subscriptions.count == 2)
        #expect(
            try subscriptions.first(named: "a")?.query == SubscriptionQuery(items.find(["n": 1])))
        #expect(try subscriptions.first(with: SubscriptionQuery(items.find(["n": 2])))?.name == nil)
        #expect(try subscriptions.first(named: "c") == nil)
    }

    @Test("sets survive a restart, with their names, ids and states; a restart goes on with them")
    func restart() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.subscribe("one", to: ["n": 1])
        try await a.settle()
        try await a.subscribe("two", to: ["n": ["$in": [2, 3]]])
        let before = try a.engine.subscriptions.latest
        try await a.start()
        #expect(try a.engine.subscriptions.latest == before)
        #expect(try a.engine.subscriptions.active.version == 1)
        #expect(try await a.heldIDs == [1])
        try await a.settle()
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try a.engine.subscriptions.state(of: 1) == .superseded)
        #expect(try a.engine.subscriptions.latest.subscriptions == before.subscriptions)
        #expect(try await a.heldIDs == [1, 2, 3])
        try await a.start()
        #expect(try await a.settle().isQuiet)
        try world.foreign(4) { $0["n"] = 1 }
        try await a.settle()
        #expect(try await a.heldIDs == [1, 2, 3, 4])
    }

    @Test("a download that an earlier version of the library began goes on in its order")
    func earlierOrder() async throws {
        let world = try world()
        let other = Namespace(SyncWorld.database, "others")
        let a = try await world.device("A")
        let (items, others) = (a.items, a.engine.collection(other))
        let version = try await a.engine.subscriptions.update { changes in
            for id in [1, 2] as [BSONValue] {
                try changes.append(in: items, where: ["_id": id])
                try changes.append(in: others, where: ["_id": id])
            }
        }.version
        let sets = a.engine.sets
        try await a.store.write { transaction in
            transaction.isEngineWrite = true
            let stored = SubscriptionTable(connection: transaction.connection, cache: sets)
            var history = try stored.history()
            let isBegun = history.apply(.bootstrapBegan, to: version)
            #expect(isBegun)
            try stored.save(history)
            // What an earlier version stored has no order.
            try stored.save(SubscriptionTable.Progress(query: 2, isOrdered: false), of: version)
        }
        let (progress, queries) = try a.store.read { transaction in
            let stored = SubscriptionTable(connection: transaction.connection, cache: sets)
            let (history, progress) = (try stored.history(), try stored.progress(of: version))
            let set = try #require(history.coming)
            return (progress, history.newQueries(of: set, isOrdered: progress.isOrdered))
        }
        #expect(progress.query == 2 && !progress.isOrdered)
        let (here, there) = (SyncWorld.namespace, other)
        #expect(queries.map(\.namespace) == [here, there, here, there])
    }

    @Test("of sets that were made offline with no write in between, the last takes over at once")
    func superseded() async throws {
        let world = try world()
        let a = try await world.device("A")
        for number in 1...3 as ClosedRange<Int32> {
            try await a.subscribe("s", to: ["n": .int32(number)])
        }
        let report = try await a.settle()
        #expect(report.subscriptionSets == 1)
        #expect(try await a.heldIDs == [3])
        #expect(try a.engine.subscriptions.state(of: 1) == .superseded)
        #expect(try a.engine.subscriptions.state(of: 2) == .superseded)
        #expect(try a.engine.subscriptions.state(of: 3) == .complete)
        #expect(try a.engine.subscriptions.state(of: 4) == nil)
        // Whoever waits for one that was superseded has nothing to wait for.
        try await a.engine.subscriptions.waitForSynchronization(of: 1)
    }

    @Test(
        "a set that the remote refuses tells why; the one before goes on, a good one after it works"
    )
    func refused() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.subscribe("s", to: ["n": 1])
        try await a.settle()
        _ = world.transcript()
        world.remote.before { call in
            if call.kind == .query { throw RemoteError(.rejected, code: 2, "not a field") }
        }
        let bad = try await a.subscribe("s", to: ["n": 2])
        let error = await #expect(throws: SyncError.self) {
            try await a.engine.subscriptions.waitForSynchronization(of: bad)
        }
        #expect(error?.code == .subscriptionFailed && error?.message == "not a field")
        await a.engine.flushEvents()
        #expect(world.transcript() == ["A error subscriptionFailed "])
        #expect(try a.engine.subscriptions.state == .error("not a field"))
        #expect(try a.engine.subscriptions.active.version == 1)
        #expect(try await a.heldIDs == [1])
        let worse = try await a.subscribe("s", to: ["n": 3])
        try await a.sync()
        #expect(try a.engine.subscriptions.state(of: worse) == .error("not a field"))
        world.remote.before(nil)
        try world.foreign(1) { $0["m"] = 1 }
        try await a.settle()
        #expect(try await a.local(1)?["m"] == 1)
        try await a.subscribe("s", to: ["n": 4])
        try await a.settle()
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try a.engine.subscriptions.state(of: bad) == .superseded)
        #expect(try await a.heldIDs == [4])
    }

    @Test("names are one for all collections, and what is removed of one leaves the other alone")
    func twoCollections() async throws {
        let world = try world()
        let other = Namespace(SyncWorld.database, "others")
        let b = try await world.device("B")
        try await b.engine.collection(other).insertMany([
            ["_id": "x", "n": 1], ["_id": "y", "n": 2],
        ])
        try await b.engine.syncUntilQuiet()
        let a = try await world.device("A")
        let others = a.engine.collection(other)
        await others.configure(conflictHandler: .remoteWins)
        try await a.items.subscribe(to: ["n": 1], named: "one")
        try await others.subscribe(to: ["n": 1])
        #expect(try await a.heldIDs == [1])
        #expect(try others.find().count() == 1)
        try await others.subscribe(to: ["n": 2], named: "one")
        #expect(try a.engine.subscriptions.count == 2)
        #expect(try await a.heldIDs == [])
        #expect(try others.find().count() == 2)
        try await a.items.subscribe(to: ["n": 3])
        let set = try await a.engine.subscriptions.update { $0.removeAll(of: other) }
        try await a.engine.subscriptions.waitForSynchronization(of: set.version)
        #expect(try await a.heldIDs == [3])
        #expect(try others.find().count() == 0)
        #expect(try await a.engine.verify() == [])
    }

    @Test("a subscription ends without a network, where no change waits to be sent before it")
    func endingUnreachable() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.subscribe("low", to: ["n": ["$lte": 2]])
        try await a.subscribe("high", to: ["n": ["$gte": 4]])
        try await a.settle()
        world.remote.before { _ in throw RemoteError(.retryable, "down") }
        try await a.engine.subscriptions.remove(named: "low", timeout: .seconds(300))
        #expect(try await a.heldIDs == [4, 5])
        try await a.set(4, ["x": 1])
        try await a.engine.subscriptions.update { $0.removeAll() }
        try await a.sync()
        #expect(try a.engine.subscriptions.state == .pending)
        #expect(try await a.heldIDs == [4, 5])
        world.remote.before(nil)
        try await a.settle()
        #expect(try await a.heldIDs == [])
        #expect(try world.remoteDocument(4)?["x"] == 1)
    }

    @Test("who waits for a set can be told to stop; the set stays and comes later")
    func cancelled() async throws {
        let world = try world()
        let a = try await world.device("A")
        let asked = Signal()
        world.remote.before { call in
            guard call.kind == .query else { return }
            asked.notify()
            throw RemoteError(.retryable, "down")
        }
        let version = try await a.subscribe(to: ["n": 1])
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await a.engine.subscriptions.waitForSynchronization() }
            await asked.wait(after: 0)
            group.cancelAll()
            let result = await group.nextResult()
            #expect(throws: CancellationError.self) { try result?.get() }
        }
        world.remote.before(nil)
        #expect(try a.engine.subscriptions.state(of: version) == .bootstrapping)
        try await a.settle()
        #expect(try await a.heldIDs == [1])
    }

    @Test("what no subscription can ask is refused at the call")
    func refusedHere() async throws {
        let world = try world()
        let a = try await world.device("A")
        await #expect(throws: StoreError.self) {
            try await a.items.subscribe(to: ["$where": "true"])
        }
        await #expect(throws: StoreError.self) {
            try await a.items.subscribe(to: ["n": ["$nope": 1]])
        }
        #expect(try a.engine.subscriptions.version == 0)
    }

    @Test("waiting is for new subscriptions, for all, or for none, and no longer than told")
    func waiting() async throws {
        let world = try world()
        let a = try await world.device("A")
        let never = try await a.items.subscribe(to: ["n": 1], waitForSync: .never)
        #expect(try await a.heldIDs == [])
        // It is there already, so that creation is not waited for.
        let again = try await a.items.subscribe(to: ["n": 1])
        #expect(again.id == never.id)
        #expect(try await a.heldIDs == [])
        try await a.items.subscribe(to: ["n": 1], waitForSync: .always)
        #expect(try await a.heldIDs == [1])
        #expect(try a.engine.subscriptions.version == 1)
        try await a.items.subscribe(to: ["n": 1], named: "x")
        try await a.items.subscribe(to: ["n": 1], named: "")
        #expect(try a.engine.subscriptions.count == 3)
        world.remote.before { _ in throw RemoteError(.retryable, "down") }
        let error = await #expect(throws: SyncError.self) {
            try await a.items.subscribe(to: ["n": 2], timeout: .milliseconds(20))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.message == "Waiting for update timed out after 0.02 seconds.")
        #expect(try a.engine.subscriptions.count == 4)
        world.remote.before(nil)
        try await a.engine.waitForDownload()
        #expect(try await a.heldIDs == [1, 2])
        #expect(try await a.items.unsubscribe(from: ["n": 2]))
        #expect(try await a.heldIDs == [1])
        #expect(try await !a.items.unsubscribe(from: ["n": 2]))
    }

    @Test("an engine begins with its initial subscriptions once, or each time where that is wanted")
    func initial() async throws {
        let world = try world()
        let store = try DocumentStore(at: .inMemory)
        let runs = Locked(0)
        func engine(rerun: Bool) throws -> SyncEngine {
            try SyncEngine(
                store: store, remote: world.remote,
                initialSubscriptions: InitialSubscriptions(rerunOnOpen: rerun) { set in
                    runs.withLock { $0 += 1 }
                    guard set.first(named: "low") == nil else { return }
                    try set.append(
                        SubscriptionQuery(SyncWorld.namespace, ["n": ["$lt": 3]]), named: "low")
                })
        }
        let first = try engine(rerun: false)
        try await first.subscriptions.waitForSynchronization()
        #expect(try first.collection(SyncWorld.namespace).find().count() == 2)
        try await first.release()
        let second = try engine(rerun: false)
        #expect(runs.withLock { $0 } == 1)
        #expect(try second.subscriptions.version == 1)
        let third = try engine(rerun: true)
        #expect(runs.withLock { $0 } == 2)
        #expect(try third.subscriptions.version == 2 && third.subscriptions.count == 1)
    }

    @Test("a running engine takes a set up by itself, and tells of its states")
    func running() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await a.engine.run() }
            try await a.subscribe(to: ["n": ["$gte": 4]])
            for try await set in a.engine.subscriptions.updates where set.state == .complete {
                break
            }
            #expect(try await a.heldIDs == [4, 5])
            try world.foreign(6) { $0["n"] = 6 }
            let three = SyncStatus(synced: 3)
            for try await status in a.items.statusUpdates where status == three { break }
            #expect(try await a.heldIDs == [4, 5, 6])
            try await a.engine.subscriptions.update { $0.removeAll() }
            for try await status in a.items.statusUpdates where status.synced == 0 { break }
            group.cancelAll()
        }
        #expect(try await a.heldIDs == [])
        #expect(try await a.engine.verify() == [])
    }
}
