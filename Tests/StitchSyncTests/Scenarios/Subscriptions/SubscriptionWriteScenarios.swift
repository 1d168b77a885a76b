import BSONStore
import Testing

@testable import StitchSync

/// Writes and sets of subscriptions reach the remote in the order in which they were made.
@Suite(.remotes)
struct SubscriptionWriteScenarios {
    @Test("what is inserted into the view syncs by itself, and leaves with the subscription")
    func insertion() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.subscribe("mine", to: ["n": ["$lte": 3]])
        try await a.settle()
        try await a.insert(["_id": 1, "n": 1])
        try await a.settle()
        #expect(try world.remoteDocument(1) == ["_id": 1, "n": 1])
        try await a.engine.subscriptions.remove(named: "mine")
        #expect(try await a.heldIDs == [])
        #expect(try world.remoteDocument(1) == ["_id": 1, "n": 1])
        // Where nothing asks for the collection, an insert keeps its document in step by its id.
        try await a.insert(["_id": 2, "n": 9])
        try await a.settle()
        #expect(try await a.heldIDs == [2])
        await a.engine.flushEvents()
        #expect(
            world.transcript() == [
                "A local insert 1 pending", "A committed insert 1 settled",
                "A subscription evict 1 settled", "A local insert 2 pending",
                "A committed insert 2 settled",
            ])
    }

    @Test("a local change out of the view is stored at the remote, then leaves the device")
    func leaving() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        let a = try await world.device("A")
        try await a.subscribe(to: ["n": ["$lte": 3]])
        try await a.settle()
        _ = world.transcript()
        try await a.set(1, ["n": 9])
        #expect(try await a.heldIDs == [1])
        try await a.settle()
        #expect(
            world.transcript() == [
                "A local update 1 pending", "A committed update 1 settled",
                "A committed evict 1 settled",
            ])
        #expect(try world.remoteDocument(1)?["n"] == 9)
        #expect(try await a.heldIDs == [])
    }

    @Test("a change that waits keeps its document when its query goes, and goes up first")
    func pendingAtRemoval() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        try world.foreign(2) { $0["n"] = 2 }
        let a = try await world.device("A")
        try await a.subscribe("small", to: ["n": ["$lte": 3]])
        try await a.settle()
        _ = world.transcript()
        try await a.set(1, ["x": 1])
        try await a.engine.subscriptions.update { $0.remove(named: "small") }
        try await a.settle()
        #expect(
            world.transcript() == [
                "A local update 1 pending", "A committed update 1 settled",
                "A subscription evict 1 settled", "A subscription evict 2 settled",
            ])
        #expect(try world.remoteDocument(1)?["x"] == 1)
    }

    @Test("a paused change stays here when its query goes, until it is given up")
    func pausedAtRemoval() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        let a = try await world.device("A")
        try await a.subscribe("small", to: ["n": ["$lte": 3]])
        try await a.settle()
        try await a.set(1, ["x": 1])
        try await a.engine.write(SyncWorld.namespace) { sync in
            var record = try #require(try sync.record(1))
            record.pause = PauseReason(.rejected, "no")
            try sync.save(record)
        }
        try await a.engine.subscriptions.remove(named: "small")
        #expect(try await a.heldIDs == [1])
        try await a.items.discardPendingChange(of: 1)
        try await a.settle()
        #expect(try await a.heldIDs == [])
        #expect(try world.remoteDocument(1)?["n"] == 1)
    }

    @Test("an own document that is given up makes room for the one that a query asks for")
    func givenUp() async throws {
        struct Undecided: Error {}
        let world = try SyncWorld()
        let a = try await world.device("A", handler: ConflictHandler { _ in throw Undecided() })
        try await a.subscribe(to: ["n": ["$lte": 3]])
        try await a.settle()
        try world.foreign(1) { $0["n"] = 1 }
        try await a.insert(["_id": 1, "n": 2])
        try await a.settle()
        #expect(try await a.items.pausedIDs == [1])
        try await a.items.deleteOne(["_id": 1])
        #expect(try await a.heldIDs == [])
        try await a.settle()
        #expect(try await a.local(1) == ["_id": 1, "n": 1])
    }

    @Test("a change out of the view that is given up brings the remote's document back")
    func givenUpByDesync() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        let a = try await world.device("A")
        try await a.subscribe(to: ["n": ["$lte": 3]])
        try await a.settle()
        try await a.set(1, ["n": 9])
        try await a.items.desync(ids: [1])
        #expect(try await a.heldIDs == [])
        try await a.settle()
        #expect(try await a.local(1) == ["_id": 1, "n": 1])
    }

    @Test("writes and sets made offline go out in their order; only the last set's view is left")
    func offline() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.subscribe("s", to: [:])
        try await a.settle()
        try await a.insert(["_id": "foo", "text": "foo", "n": 5])
        try await a.insert(["_id": "bar", "text": "bar", "n": 15])
        try await a.settle()
        a.engine.setOnline(false)
        try await a.subscribe("s", to: ["text": "foo"])
        try await a.set("foo", ["n": 15])
        try await a.subscribe("s", to: ["n": ["$gte": 10]])
        try await a.set("foo", ["n": 5])
        _ = world.transcript()
        a.engine.setOnline(true)
        try await a.engine.subscriptions.waitForSynchronization()
        try await a.settle()
        #expect(try await a.heldIDs == ["bar"])
        #expect(try world.remoteDocument("foo")?["n"] == 5)
        #expect(!world.transcript().contains { $0.contains("error") })
    }

    @Test("the remote sees a write, the set, then the write behind it")
    func interleaving() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        let a = try await world.device("A")
        try await a.subscribe("s", to: ["n": 1])
        try await a.settle()
        try await a.insert(["_id": 2, "n": 1])
        try await a.subscribe("s", to: ["n": 2])
        try await a.insert(["_id": 3, "n": 2])
        let calls = Locked<[String]>([])
        world.remote.before { call in
            guard [.write, .query].contains(call.kind) else { return }
            let ids = call.kind == .write ? call.documentIDs.map(Device.text) : []
            calls.withLock { $0.append(([call.kind.rawValue] + ids).joined(separator: " ")) }
        }
        try await a.settle()
        world.remote.before(nil)
        #expect(calls.withLock { $0 } == ["write 2", "query", "write 3"])
        #expect(try await a.heldIDs == [3])
        #expect(try a.rowCount("sync_earlier") == 0)
    }

    @Test("what came into being on both sides is a conflict, also where a set brings it")
    func divergence() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["by"] = "remote" }
        let a = try await world.device("A")
        try await a.subscribe(to: ["by": "nobody"])
        try await a.settle()
        a.engine.setOnline(false)
        try await a.subscribe(to: ["by": ["$in": ["remote", "a"]]])
        try await a.insert(["_id": 1, "by": "a"])
        _ = world.transcript()
        a.engine.setOnline(true)
        try await a.settle()
        #expect(try await a.local(1)?["by"] == "remote")
        #expect(world.transcript().contains("A conflict base - local by=a remote by=remote"))
    }

    @Test("a document that both sides changed and that left the view is asked about, then goes")
    func conflictOutOfView() async throws {
        for handler in [ConflictHandler<BSONDocument>.remoteWins, .localWins] {
            let world = try SyncWorld()
            try world.foreign(1) { $0["n"] = 1 }
            let a = try await world.device("A", handler: handler)
            try await a.subscribe(to: ["n": 1])
            try await a.settle()
            try world.foreign(1) { $0["n"] = 2 }
            try await a.set(1, ["n": 3])
            try await a.settle()
            #expect(try await a.heldIDs == [])
            let kept = try world.remoteDocument(1)?["n"]
            #expect(kept == 2 || kept == 3)
        }
    }

    @Test("a change that is taken back after its query went leaves its document to go")
    func takenBack() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        let a = try await world.device("A")
        await a.items.configure(conflictHandler: .remoteWins, rejectionPolicy: .pause)
        try await a.subscribe("s", to: ["n": 1])
        try await a.settle()
        try await a.engine.subscriptions.update { $0.removeAll() }
        try await a.set(1, ["x": 1])
        // The set takes over; the change, which was made later, is about nothing that it asks for.
        try await a.sync()
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try await a.heldIDs == [1])
        try await a.items.updateOne(["_id": 1], ["$unset": ["x": ""]])
        try await a.settle()
        #expect(try await a.heldIDs == [])
        #expect(try world.remoteDocument(1) == ["_id": 1, "n": 1])
    }

    @Test("a change that is taken back while it is refused waits no more, and lets its document go")
    func takenBackWhileRefused() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        let refusal = Locked<RemoteError?>(nil)
        let remote = ScriptedRemote(
            TwistedRemote(base: world.remote, writeFault: { _ in refusal.withLock { $0 } }))
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: .remoteWins, remote: remote)
        try await a.start()
        await a.items.configure(conflictHandler: .remoteWins, rejectionPolicy: .pause)
        try await a.subscribe("s", to: ["n": 1])
        try await a.settle()
        try await a.set(1, ["x": 1])
        refusal.withLock { $0 = RemoteError(.rejected, code: 121, "no") }
        remote.before { call in
            guard call.kind == .write else { return }
            try await a.items.updateOne(["_id": 1], ["$unset": ["x": ""]])
        }
        try await a.sync()
        remote.before(nil)
        refusal.withLock { $0 = nil }
        #expect(try await a.items.pausedIDs == [1])
        #expect(try await a.items.status() == SyncStatus(synced: 1, paused: 1))
        try await a.engine.subscriptions.update { $0.removeAll() }
        try await a.settle()
        #expect(try await a.heldIDs == [])
    }

    @Test("an Item out of the view is there, then gone, with the query view in the reason")
    func outOfView() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.subscribe("simple-items", to: ["complexity": ["$lte": 4]])
        try await a.settle()
        try await a.insert(["_id": "simple", "complexity": 4])
        try await a.insert(["_id": "hard", "complexity": 7])
        #expect(try await a.heldIDs == ["hard", "simple"])
        let report = try await a.sync()
        #expect(report.uploaded == 1 && report.reverted == 1 && report.paused == 0)
        #expect(report.errors == [.compensatingWrite])
        #expect(try await a.heldIDs == ["simple"])
        #expect(try world.remoteDocument("hard") == nil)
        let lines = world.transcript()
        #expect(lines.contains("A compensation delete hard settled"))
        #expect(lines.contains("A error compensatingWrite hard"))
        let rejected = try #require(try await a.items.rejectedWrites.all().first)
        #expect(
            rejected.reason == #"write to "hard" in table "items" not allowed; "#
                + "object is outside of the current query view")
        #expect(rejected.compensatingWrite.cause == .outOfView && rejected.code == 231)
        #expect(rejected.document == ["_id": "hard", "complexity": 7] && rejected.base == nil)
        // Once it is asked for, it can be written after all.
        try await a.subscribe("simple-items", to: ["complexity": ["$lte": 9]])
        try await a.settle()
        try await a.items.rejectedWrites.retry(rejected.id)
        try await a.settle()
        #expect(try world.remoteDocument("hard") == ["_id": "hard", "complexity": 7])
        #expect(try await a.items.rejectedWrites.all().isEmpty)
    }

    @Test("a change of what left the view is paused where the app wants that")
    func outOfViewPaused() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        await a.items.configure(conflictHandler: .remoteWins, rejectionPolicy: .pause)
        try await a.subscribe("s", to: ["n": 1])
        try await a.settle()
        try await a.insert(["_id": 1, "n": 2])
        let report = try await a.sync()
        #expect(report.paused == 1 && report.reverted == 0)
        #expect(try await a.items.status(of: 1).pauseReason?.code == .rejected)
        #expect(try await a.local(1) == ["_id": 1, "n": 2])
        #expect(try world.remoteDocument(1) == nil)
        // Mended, it goes up.
        try await a.set(1, ["n": 1])
        try await a.settle()
        #expect(try world.remoteDocument(1) == ["_id": 1, "n": 1])
    }
}
