import BSONStore
import Testing

@testable import StitchSync

/// Sets of subscriptions that wait hold up what was written before and after them, and nothing else.
@Suite(.remotes)
struct SubscriptionPendingScenarios {
    @Test("what takes the place of a write that was given up counts as written after the set")
    func placeUsedAgain() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.subscribe("s", to: ["n": 1])
        try await a.settle()
        try await a.insert(["_id": "gone", "n": 1])
        try await a.subscribe("s", to: ["n": 2])
        try await a.delete("gone")
        try await a.insert(["_id": "new", "n": 2])
        let report = try await a.settle()
        #expect(report.reverted == 0)
        #expect(try world.remoteDocument("new") == ["_id": "new", "n": 2])
        #expect(try await a.items.rejectedWrites.all().isEmpty)
        #expect(try await a.heldIDs == ["new"])
    }

    @Test("a set that cannot be asked for does not keep a collection back that no set is about")
    func unconcernedCollection() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        let asked = engine.collection(Namespace(SyncWorld.database, "asked"))
        try await items.insertOne(["_id": "before"])
        let query = try SubscriptionQuery(asked.find(["n": 1]))
        let set = try await engine.subscriptions.update { $0.insertOrAssign(query) }
        try await items.insertOne(["_id": "after"])
        world.remote.before { call in
            if call.kind == .query { throw RemoteError(.retryable, "down") }
        }
        let report = try await engine.syncNow()
        #expect(report.errors == [.remoteUnavailable] && report.uploaded == 2)
        #expect(try world.remoteDocument("after") == ["_id": "after"])
        #expect(try engine.subscriptions.state(of: set.version) == .bootstrapping)
    }

    @Test("who waits for a collection's download waits for its set behind a conflict, too")
    func waitingForTheSet() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        try world.foreign(2) { $0["n"] = 2 }
        let a = try await world.device("A", handler: .localWins)
        try await a.subscribe("s", to: ["n": 1])
        try await a.settle()
        try world.foreign(1) { $0["x"] = 5 }
        try await a.set(1, ["x": 2])
        try await a.subscribe("s", to: ["n": 2])
        try await a.items.waitForDownload()
        #expect(try await a.heldIDs == [2])
        #expect(try world.remoteDocument(1)?["x"] == 2)
    }

    @Test("a write that is not taken in where no set asks does not keep a set back")
    func unconcernedWrite() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        let failing = engine.collection(Namespace(SyncWorld.database, "failing"))
        try await failing.insertOne(["_id": "f"])
        let query = try SubscriptionQuery(items.find(["n": 1]))
        try await engine.subscriptions.update { $0.insertOrAssign(query) }
        world.remote.before { call in
            if call.documentIDs == ["f"] { throw RemoteError(.retryable, "down") }
        }
        let report = try await engine.syncNow()
        #expect(report.errors == [.remoteUnavailable] && report.subscriptionSets == 1)
        #expect(try items.findOne(id: 1) == ["_id": 1, "n": 1])
        #expect(try await failing.status().pending == 1)
    }
}
