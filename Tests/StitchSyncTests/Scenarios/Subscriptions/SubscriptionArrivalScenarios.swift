import BSONStore
import Testing

@testable import StitchSync

/// The app uses the first page of a large subscription while the rest is on its way, and loses no
/// write to it.
@Suite(.remotes, .timeLimit(.minutes(5)))
struct SubscriptionArrivalScenarios {
    /// A world with documents 1 to 6, of which `n` is 1, and a device that reads two on a page.
    private func world() async throws -> (world: SyncWorld, device: Device) {
        let world = try SyncWorld()
        for id in 1...6 as ClosedRange<Int32> { try put(world, .int32(id), ["n": 1]) }
        // The fetch of another device gives the documents their versions.
        try await adopt(world)
        return (world, try await device(world))
    }

    private func device(_ world: SyncWorld) async throws -> Device {
        var limits = SyncLimits()
        limits.batchDocuments = 2
        return try await world.device("A", limits: limits)
    }

    private func put(_ world: SyncWorld, _ id: BSONValue, _ fields: BSONDocument) throws {
        try world.foreign(id) { document in
            for (name, value) in fields { document[name] = value }
        }
    }

    private func adopt(_ world: SyncWorld) async throws {
        let other = try await world.device("B", handler: nil)
        try await other.items.sync(ids: (1...20).map { .int32($0) })
        try await other.sync()
        _ = world.transcript()
    }

    /// Adds a subscription to a set of its own.
    @discardableResult
    private func subscribe(
        _ device: Device, to filter: BSONDocument = ["n": 1], named name: String = "s",
        shows: SubscriptionArrival = .asTheyArrive
    ) async throws -> Int64 {
        let query = try SubscriptionQuery(device.items.find(filter))
        return try await device.engine.subscriptions.update {
            $0.insertOrAssign(query, named: name, shows: shows)
        }.version
    }

    /// Runs a body while the remote holds a page, once the app sees the documents of those before.
    private func during(
        page number: Int, of device: Device, seeing expected: Set<BSONValue>,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        let count = Locked(0)
        device.world.remote.before { call in
            guard call.kind == .query else { return }
            let current = count.withLock { count in
                count += 1
                return count
            }
            guard current == number else { return }
            for try await seen in try device.items.find().observe()
            where expected.isSubset(of: seen.ids) { break }
            try await body()
        }
    }

    /// Fails when the engine sends a write before its set is complete.
    private func expectWritesAfterActivation(_ device: Device) {
        device.world.remote.after { call in
            guard call.kind == .write else { return }
            let state = try device.engine.subscriptions.state
            #expect(state == .complete)
        }
    }

    @Test("a live query shows the first page while the remote still holds the second one")
    func visible() async throws {
        let (world, a) = try await world()
        let seen = Locked<[BSONValue]>([])
        let states = Locked<[SubscriptionState]>([])
        during(page: 2, of: a, seeing: [1, 2]) {
            let (held, state) = (try await a.heldIDs, try a.engine.subscriptions.state)
            seen.withLock { $0 = held }
            states.withLock { $0.append(state) }
        }
        let made = try await a.items.subscribe(to: ["n": 1], named: "s", shows: .asTheyArrive)
        #expect(made.shows == .asTheyArrive)
        #expect(seen.withLock { $0 } == [1, 2])
        #expect(states.withLock { $0 } == [.bootstrapping])
        #expect(try await a.heldIDs == [1, 2, 3, 4, 5, 6])
        #expect(try a.engine.subscriptions.state == .complete)
        try await a.settle()
        #expect(world.transcript() == (1...6).map { "A remote insert \($0) settled" })
        // Of two subscriptions with one query, the one that shows more decides.
        try await a.engine.subscriptions.remove(named: "s")
        during(page: 2, of: a, seeing: [1, 2]) {}
        let query = try SubscriptionQuery(a.items.find(["n": 1]))
        try await a.engine.subscriptions.update {
            $0.insertOrAssign(query, named: "t")
            $0.insertOrAssign(query, named: "u", shows: .asTheyArrive)
        }
        try await a.settle()
        #expect(try await a.heldIDs == [1, 2, 3, 4, 5, 6])
    }

    @Test("without the option the documents of a set appear together, as before")
    func together() async throws {
        let (world, a) = try await world()
        let seen = Locked<[Int]>([])
        world.remote.before { call in
            guard call.kind == .query else { return }
            let count = try await a.heldIDs.count
            seen.withLock { $0.append(count) }
        }
        try await subscribe(a, shows: .together)
        try await a.settle()
        let counts = seen.withLock { $0 }
        #expect(counts.count >= 3 && counts.allSatisfy { $0 == 0 })
        #expect(try await a.heldIDs.count == 6)
    }

    @Test("the app's changes and deletes of arrived documents go up once the set is complete")
    func writes() async throws {
        let (world, a) = try await world()
        during(page: 2, of: a, seeing: [1, 2]) {
            try await a.set(1, ["x": 1])
            try await a.delete(2)
        }
        expectWritesAfterActivation(a)
        try await subscribe(a)
        try await a.settle()
        world.remote.after(nil)
        #expect(try world.remoteDocument(1) == ["_id": 1, "n": 1, "x": 1])
        #expect(try world.remoteDocument(2) == nil)
        #expect(try await a.heldIDs == [1, 3, 4, 5, 6])
        #expect(try await a.local(1)?["x"] == 1)
        #expect(try await a.items.rejectedWrites.all().isEmpty)
    }

    @Test("the remote's changes of arrived documents arrive, too")
    func changes() async throws {
        let (world, a) = try await world()
        try put(world, 7, ["n": 2])
        during(page: 3, of: a, seeing: [1, 2, 3, 4]) {
            try world.foreign(1) { $0["x"] = 1 }
            try world.foreignDelete(2)
            try world.foreign(3) { $0["n"] = 2 }
            try world.foreign(7) { $0["n"] = 1 }
        }
        try await subscribe(a)
        try await a.settle()
        #expect(try await a.heldIDs == [1, 4, 5, 6, 7])
        #expect(try await a.local(1)?["x"] == 1)
        #expect(try world.remoteDocument(3)?["n"] == 2)
        let lines = world.transcript()
        #expect(lines.contains("A remote delete 2 settled"))
        #expect(lines.contains("A remote evict 3 settled"))
    }

    @Test("a changed query shows its new documents, and keeps the old ones until all are here")
    func changedQuery() async throws {
        let (world, a) = try await world()
        for id in 11...14 as ClosedRange<Int32> { try put(world, .int32(id), ["n": 2]) }
        try await adopt(world)
        try await subscribe(a, shows: .together)
        try await a.settle()
        let seen = Locked<[BSONValue]>([])
        during(page: 2, of: a, seeing: [11, 12]) {
            let held = try await a.heldIDs
            seen.withLock { $0 = held }
        }
        try await subscribe(a, to: ["n": 2])
        try await a.settle()
        #expect(seen.withLock { $0 } == [1, 2, 3, 4, 5, 6, 11, 12])
        #expect(try await a.heldIDs == [11, 12, 13, 14])
    }

    @Test("a query that is refused after its first page takes its documents away, not the writes")
    func refused() async throws {
        let (world, a) = try await world()
        during(page: 2, of: a, seeing: [1, 2]) {
            try await a.set(1, ["x": 1])
            throw RemoteError(.rejected, code: 2, "no")
        }
        let version = try await subscribe(a)
        try await a.settle()
        world.remote.before(nil)
        try await a.settle()
        #expect(try a.engine.subscriptions.state(of: version) == .error("no"))
        #expect(try await a.heldIDs == [])
        // The write is not sent; it is kept, and the error listener is told.
        #expect(try world.remoteDocument(1) == ["_id": 1, "n": 1])
        let rejected = try await a.items.rejectedWrites.all()
        #expect(rejected.map(\.document) == [["_id": 1, "n": 1, "x": 1]])
        let lines = world.transcript()
        #expect(lines.contains("A remote insert 1 settled"))
        #expect(lines.contains { $0.hasPrefix("A error") && $0.hasSuffix(" 1") }, "\(lines)")
    }

    @Test("a later set takes away what only the earlier one showed")
    func superseded() async throws {
        let (world, a) = try await world()
        try put(world, 11, ["n": 2])
        try await adopt(world)
        during(page: 2, of: a, seeing: [1, 2]) {
            try await subscribe(a, to: ["n": 2])
            throw RemoteError(.retryable, "lost")
        }
        let first = try await subscribe(a)
        try await a.sync()
        world.remote.before(nil)
        #expect(try await a.heldIDs == [1, 2])
        try await a.settle()
        #expect(try a.engine.subscriptions.state(of: first) == .superseded)
        #expect(try await a.heldIDs == [11])
        #expect(try world.remoteDocument(1) == ["_id": 1, "n": 1])
    }

    @Test("a write to an arrived document goes up under its set, before a later set")
    func writeThenSet() async throws {
        let (world, a) = try await world()
        try put(world, 11, ["n": 2])
        try await adopt(world)
        during(page: 2, of: a, seeing: [1, 2]) {
            try await a.set(1, ["x": 1])
            try await subscribe(a, to: ["n": 2])
        }
        try await subscribe(a)
        try await a.settle()
        #expect(try await a.heldIDs == [11])
        #expect(try world.remoteDocument(1)?["x"] == 1)
        #expect(try await a.items.rejectedWrites.all().isEmpty)
    }

    @Test(
        "a document that is written before a set, and again while it comes, goes up before the next"
    )
    func writtenAgain() async throws {
        let (world, a) = try await world()
        try put(world, 11, ["n": 2])
        try put(world, 12, ["n": 3])
        try await adopt(world)
        try await subscribe(a)
        try await a.settle()
        try await a.set(1, ["x": 1])
        let isFirst = Locked(true)
        world.remote.before { call in
            guard call.kind == .query, isFirst.withLock({ $0 }) else { return }
            isFirst.withLock { $0 = false }
            let sent = try world.remoteDocument(1)
            #expect(sent?["x"] == 1)
            try await a.set(1, ["x": 2])
            try await subscribe(a, to: ["n": 3])
        }
        try await subscribe(a, to: ["n": 2], named: "t")
        try await a.settle()
        world.remote.before(nil)
        #expect(try world.remoteDocument(1)?["x"] == 2)
        #expect(try await a.heldIDs == [11, 12])
        #expect(try await a.items.rejectedWrites.all().isEmpty)
    }

    @Test("a write after a later set that does not match it is reverted and kept")
    func setThenWrite() async throws {
        let (world, a) = try await world()
        try put(world, 11, ["n": 2])
        try await adopt(world)
        during(page: 2, of: a, seeing: [1, 2]) {
            try await subscribe(a, to: ["n": 2])
            try await a.set(1, ["x": 1])
            throw RemoteError(.retryable, "lost")
        }
        try await subscribe(a)
        try await a.sync()
        world.remote.before(nil)
        try await a.settle()
        #expect(try await a.heldIDs == [11])
        #expect(try world.remoteDocument(1) == ["_id": 1, "n": 1])
        let rejected = try await a.items.rejectedWrites.all()
        #expect(rejected.map(\.document) == [["_id": 1, "n": 1, "x": 1]])
    }

    @Test("a unique value of a document that leaves delays only the document that takes it")
    func uniqueValue() async throws {
        let (world, a) = try await world()
        for id in 1...6 as ClosedRange<Int32> { try put(world, .int32(id), ["x": .int32(id)]) }
        try put(world, 11, ["n": 2, "x": 1])
        try put(world, 12, ["n": 3, "x": 4])
        try await adopt(world)
        try a.store.collection(SyncWorld.namespace).createIndex(["x": 1], ["unique": true])
        try await subscribe(a, to: ["n": 2], shows: .together)
        try await subscribe(a, to: ["n": 3], named: "stays", shows: .together)
        try await a.settle()
        let seen = Locked<[BSONValue]>([])
        during(page: 3, of: a, seeing: [2, 3]) {
            let held = try await a.heldIDs
            seen.withLock { $0 = held }
            // A fetch of the staged document does not pause it either.
            try world.foreign(1) { $0["y"] = 1 }
        }
        try await subscribe(a)
        try await a.settle()
        #expect(seen.withLock { $0 } == [2, 3, 11, 12])
        #expect(try await a.heldIDs == [1, 2, 3, 5, 6, 12])
        #expect(try await a.local(1)?["y"] == 1)
        #expect(try await a.items.pausedIDs == [4])
    }

    @Test("a document that the app wrote to the store directly meets the remote's as a conflict")
    func writtenDirectly() async throws {
        let (world, a) = try await world()
        try await a.store.collection(SyncWorld.namespace).insertOne(["_id": 1, "by": "import"])
        during(page: 2, of: a, seeing: [2]) {
            let local = try await a.local(1)
            #expect(local?["by"] == "import")
        }
        try await subscribe(a)
        try await a.settle()
        #expect(world.transcript().contains("A conflict base - local by=import remote n=1"))
        #expect(try await a.heldIDs == [1, 2, 3, 4, 5, 6])
    }

    @Test("a lost history keeps the arrived documents where they are, unless they left")
    func gap() async throws {
        let (world, a) = try await world()
        during(page: 3, of: a, seeing: [1, 2, 3, 4]) {
            throw RemoteError(.retryable, "lost")
        }
        try await subscribe(a)
        try await a.sync()
        world.remote.before(nil)
        #expect(try await a.heldIDs == [1, 2, 3, 4])
        try world.foreign(1) { $0["x"] = 1 }
        try world.foreign(2) { $0["n"] = 2 }
        _ = world.transcript()
        try await a.engine.forceScan(SyncWorld.namespace)
        try await a.settle()
        #expect(try await a.heldIDs == [1, 3, 4, 5, 6])
        #expect(try await a.local(1)?["x"] == 1)
        let lines = world.transcript()
        #expect(
            lines.filter { !$0.contains("insert 5") && !$0.contains("insert 6") } == [
                "A remote replace 1 settled", "A remote evict 2 settled",
            ])
    }

    @Test("a restart goes on with the option that the set was made with")
    func restart() async throws {
        let (world, a) = try await world()
        during(page: 2, of: a, seeing: [1, 2]) { throw RemoteError(.retryable, "lost") }
        try await subscribe(a)
        try await a.sync()
        try await a.start()
        #expect(try a.engine.subscriptions.first(named: "s")?.shows == .asTheyArrive)
        during(page: 2, of: a, seeing: [1, 2, 3, 4]) {}
        try await a.settle()
        #expect(try await a.heldIDs.count == 6)
        // A set of an earlier version of the library has no such field.
        try await subscribe(a, shows: .together)
        let contents = try a.store.read { transaction in
            let select = try transaction.connection.prepare(
                "SELECT content FROM sync_sets ORDER BY version DESC LIMIT 1")
            _ = try select.step()
            return try BSONDocument(validating: select.bytes(0))
        }
        let parts = contents["subscriptions"]?.arrayValue?.values ?? []
        #expect(parts.count == 1 && parts.allSatisfy { $0.documentValue?["shows"] == nil })
        try await a.start()
        #expect(try a.engine.subscriptions.first(named: "s")?.shows == .together)
        world.remote.before(nil)
    }

    @Test("another option makes a set that asks for nothing")
    func otherOption() async throws {
        let (world, a) = try await world()
        try await a.items.subscribe(to: ["n": 1], named: "s")
        let version = try a.engine.subscriptions.version
        let queries = Locked(0)
        world.remote.before { call in
            if call.kind == .query { queries.withLock { $0 += 1 } }
        }
        let changed = try await a.items.subscribe(
            to: ["n": 1], named: "s", shows: .asTheyArrive, waitForSync: .always)
        #expect(changed.shows == .asTheyArrive)
        #expect(try a.engine.subscriptions.state(of: version + 1) == .complete)
        try await a.items.subscribe(to: ["n": 1], named: "s", shows: .asTheyArrive)
        // Without it the subscription keeps what it has.
        let kept = try await a.items.subscribe(to: ["n": 1], named: "s")
        #expect(kept.shows == .asTheyArrive)
        #expect(try a.engine.subscriptions.version == version + 1)
        #expect(queries.withLock { $0 } == 0)
        #expect(try await a.heldIDs.count == 6)
    }

    @Test("documents of two queries count once, and the progress ends at its total")
    func progress() async throws {
        let (world, a) = try await world()
        try await subscribe(a, named: "one")
        let all = try SubscriptionQuery(a.items.find())
        let bounded = try SubscriptionQuery(a.items.find(["_id": ["$lte": 4]]))
        try await a.engine.subscriptions.update {
            $0.insertOrAssign(all, named: "two", shows: .asTheyArrive)
            $0.insertOrAssign(bounded, named: "three", shows: .asTheyArrive)
        }
        let samples = Locked<[SyncProgress]>([])
        world.remote.before { _ in
            let progress = try await a.engine.progress()
            samples.withLock { $0.append(progress) }
        }
        try await a.settle()
        world.remote.before(nil)
        let end = try await a.engine.progress()
        #expect(end.downloadedDocuments == 6)
        #expect(end.totalDownloads == 6 && end.pendingDownloads == 0)
        #expect(samples.withLock { $0 }.allSatisfy { $0.downloadedDocuments <= $0.totalDownloads })
    }
}
