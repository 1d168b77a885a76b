import BSONStore
import Testing

@testable import StitchSync

/// What happens beside sync, or while documents of a set come in, is neither lost nor undone.
@Suite(.remotes)
struct SubscriptionMeanwhileScenarios {
    @Test("what was written past sync is not overwritten by what a subscription brings")
    func pastSync() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["by"] = "remote" }
        let a = try await world.device("A", handler: .localWins)
        // An import, or an app of before, wrote into the collection without an engine.
        try await a.store.collection(SyncWorld.namespace).insertOne(["_id": 1, "by": "import"])
        try await a.subscribe(to: [:])
        try await a.settle()
        #expect(world.transcript().contains("A conflict base - local by=import remote by=remote"))
        #expect(try await a.local(1)?["by"] == "import")
        #expect(try world.remoteDocument(1)?["by"] == "import")
        // While the subscription is there, news of such a document come as a change.
        try await a.insertPastSync(["_id": 2, "by": "import"])
        try world.foreign(2) { $0["by"] = "remote" }
        try await a.settle()
        #expect(world.transcript().contains("A conflict base - local by=import remote by=remote"))
        #expect(try await a.local(2)?["by"] == "import")
        #expect(try world.remoteDocument(2)?["by"] == "import")
    }

    @Test("what changes at the remote while a set comes in by pages is here as it is in the end")
    func aside() async throws {
        let world = try SyncWorld()
        for id in 1...6 as ClosedRange<Int32> { try world.foreign(.int32(id)) { $0["n"] = 1 } }
        // Another device gives the documents their versions.
        let b = try await world.device("B", handler: nil)
        try await b.items.sync(ids: (1...6).map { .int32($0) })
        try await b.sync()
        var limits = SyncLimits()
        limits.batchDocuments = 2
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        let query = try SubscriptionQuery(items.find(["n": 1]))
        let pages = Locked(0)
        world.remote.before { call in
            guard call.kind == .query else { return }
            let page = pages.withLock { count in
                count += 1
                return count
            }
            guard page == 2 else { return }
            // Both are aside already.
            try world.foreignDelete(1)
            try world.foreign(2) { $0["n"] = 2 }
        }
        let set = try await engine.subscriptions.update { $0.insertOrAssign(query, named: "one") }
        _ = try await engine.syncUntilQuiet()
        world.remote.before(nil)
        #expect(pages.withLock { $0 } > 2)
        #expect(try engine.subscriptions.state(of: set.version) == .complete)
        let held = try items.find().fetch().map(\.documentID)
        #expect(Set(held) == [3, 4, 5, 6])
        #expect(try await engine.verify() == [])
    }

    @Test("what was told of a document is not forgotten when a set that takes over lets it go")
    func toldBeforeTakeover() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 2 }
        let a = try await world.device("A", handler: .remoteWins)
        let (one, two) = (
            try SubscriptionQuery(a.items.find(["n": 1])),
            try SubscriptionQuery(a.items.find(["n": 2]))
        )
        try await a.engine.subscriptions.update {
            $0.insertOrAssign(one, named: "one")
            $0.insertOrAssign(two, named: "two")
        }
        try await a.settle()
        #expect(try await a.local(1)?["n"] == 2)
        let set = try await a.engine.subscriptions.update { $0.remove(named: "two") }
        world.remote.before { [remote = world.remote] call in
            switch call.kind {
            case .changes where try world.remoteDocument(1)?["n"] == 2:
                try world.foreign(1) { $0["n"] = 1 }
            case .find:
                remote.before(nil)
                throw RemoteError(.retryable, "lost")
            default: break
            }
        }
        try await a.sync()
        try await a.settle()
        #expect(try a.engine.subscriptions.state(of: set.version) == .complete)
        #expect(try await a.local(1)?["n"] == 1)
        #expect(try await a.engine.verify() == [])
    }

    @Test("what was written past sync is not lost, whatever becomes of its id while a set comes in")
    func pastSyncMeanwhile() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        for id in 2...3 as ClosedRange<Int32> { try world.foreign(.int32(id)) { $0["n"] = 5 } }
        let a = try await world.device("A", handler: .localWins)
        try await a.store.collection(SyncWorld.namespace).insertMany([
            ["_id": 2, "n": 1, "by": "import"], ["_id": 3, "n": 1, "by": "import"],
        ])
        world.remote.before { call in
            guard call.kind == .query else { return }
            world.remote.before(nil)
            // No query asks for either: one is there, the other is gone.
            try world.foreign(2) { $0["n"] = 6 }
            try world.foreignDelete(3)
        }
        try await a.subscribe(to: ["n": 1])
        try await a.settle()
        // What nobody has at the remote is sent.
        #expect(try await a.heldIDs == [1, 3])
        #expect(try world.remoteDocument(3) == ["_id": 3, "n": 1, "by": "import"])
        // The other is a conflict; its answer changes what is out of the view, and is kept as refused.
        let lines = world.transcript()
        #expect(lines.contains("A conflict base - local n=1,by=import remote n=6"))
        #expect(!lines.contains { $0.contains("delete") }, "\(lines)")
        let rejected = try await a.items.rejectedWrites.all()
        #expect(rejected.map(\.document) == [["_id": 2, "n": 1, "by": "import"]])
    }
}
