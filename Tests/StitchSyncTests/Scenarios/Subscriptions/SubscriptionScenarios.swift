import BSONStore
import Testing

@testable import StitchSync

/// The documents that subscriptions ask for are on the device, and no others.
@Suite(.remotes)
struct SubscriptionScenarios {
    private func world(_ numbers: ClosedRange<Int32> = 1...5) throws -> SyncWorld {
        let world = try SyncWorld()
        for number in numbers { try world.foreign(.int32(number)) { $0["n"] = .int32(number) } }
        return world
    }

    @Test("without a subscription nothing comes, with one exactly what matches, in one batch")
    func arrival() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.sync()
        #expect(try await a.heldIDs == [])
        #expect(try a.engine.subscriptions.version == 0)
        #expect(try a.engine.subscriptions.state == .pending)
        try await a.subscribe("small", to: ["n": ["$lte": 3]])
        #expect(try a.engine.subscriptions.state == .pending)
        let report = try await a.sync()
        #expect(report.taken == 3 && report.subscriptionSets == 1)
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try await a.heldIDs == [1, 2, 3])
        #expect(
            world.transcript() == [
                "A subscription insert 1 settled", "A subscription insert 2 settled",
                "A subscription insert 3 settled",
            ])
        #expect(try await a.sync().isQuiet)
        #expect(world.transcript() == [])
    }

    @Test("a collection that the remote does not have yet has nothing, until somebody makes it")
    func unknownCollection() async throws {
        let world = try SyncWorld()
        let (a, b) = try await (world.device("A"), world.device("B"))
        for device in [a, b] {
            try await device.subscribe(to: ["n": 1])
            try await device.settle()
            #expect(try device.engine.subscriptions.state == .complete)
            #expect(try await device.heldIDs == [])
        }
        try await a.insert(["_id": "first", "n": 1])
        try await a.settle()
        try await b.settle()
        #expect(try await b.heldIDs == ["first"])
        #expect(try world.remoteDocument("first") == ["_id": "first", "n": 1])
    }

    @Test("remote changes bring documents into the view and out of it; a delete is a delete")
    func membership() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.subscribe(to: ["n": ["$lte": 3]])
        try await a.settle()
        _ = world.transcript()
        try world.foreign(4) { $0["n"] = 2 }
        try world.foreign(1) { $0["n"] = 9 }
        try world.foreignDelete(2)
        try world.foreign(3) { $0["m"] = 1 }
        try world.foreign(5) { $0["m"] = 1 }
        try world.foreign(6) { $0["n"] = 0 }
        let report = try await a.settle()
        #expect(report.evicted == 1 && report.removed == 1 && report.taken == 3)
        #expect(
            Set(world.transcript()) == [
                "A remote evict 1 settled", "A remote delete 2 settled",
                "A remote replace 3 settled", "A remote insert 4 settled",
                "A remote insert 6 settled",
            ])
        #expect(try await a.heldIDs == [3, 4, 6])
        // What left and comes back arrives again.
        try world.foreign(1) { $0["n"] = 1 }
        try await a.settle()
        #expect(world.transcript() == ["A remote insert 1 settled"])
        #expect(try world.remoteDocument(2) == nil)
    }

    @Test("a named subscription that gets another query evicts and brings in one step")
    func swap() async throws {
        let world = try SyncWorld()
        for (id, room) in [(1, "red"), (2, "red"), (3, "blue"), (4, "blue")] as [(Int32, String)] {
            try world.foreign(.int32(id)) { $0["room"] = .string(room) }
        }
        let a = try await world.device("A")
        try await a.subscribe("conversation", to: ["room": "red"])
        try await a.settle()
        _ = world.transcript()
        try await a.subscribe("conversation", to: ["room": "blue"])
        // Until the set takes over the old room is there.
        #expect(try await a.heldIDs == [1, 2])
        try await a.settle()
        #expect(
            world.transcript() == [
                "A subscription evict 1 settled", "A subscription evict 2 settled",
                "A subscription insert 3 settled", "A subscription insert 4 settled",
            ])
        #expect(try a.engine.subscriptions.count == 1)
        #expect(try await a.heldIDs == [3, 4])
        for id in [1, 2, 3, 4] as [BSONValue] { #expect(try world.remoteDocument(id) != nil) }
    }

    @Test("a document stays as long as one of two subscriptions, or its id, asks for it")
    func twoSources() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.subscribe("low", to: ["n": ["$lte": 3]])
        try await a.subscribe("high", to: ["n": ["$gte": 3]])
        try await a.items.sync(ids: [2])
        try await a.settle()
        #expect(try await a.heldIDs == [1, 2, 3, 4, 5])
        _ = world.transcript()
        try await a.engine.subscriptions.remove(named: "low")
        await a.engine.flushEvents()
        #expect(world.transcript() == ["A subscription evict 1 settled"])
        #expect(try await a.heldIDs == [2, 3, 4, 5])
        try await a.items.desync(ids: [2])
        await a.engine.flushEvents()
        #expect(world.transcript() == ["A desync delete 2 settled"])
        // Ending an id's sync leaves what a subscription asks for.
        try await a.items.sync(ids: [3])
        try await a.items.desync(ids: [3])
        #expect(try await a.heldIDs == [3, 4, 5])
        try await a.engine.subscriptions.removeAll()
        #expect(try await a.heldIDs == [])
        try await a.items.sync(ids: [1])
        try await a.settle()
        #expect(try await a.heldIDs == [1])
        #expect(try await a.engine.verify() == [])
    }

    @Test("an id that was held by a query stays once it is asked for by itself")
    func idBesideQuery() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.subscribe(to: ["n": ["$lte": 3]])
        try await a.settle()
        try await a.items.sync(ids: [1, 3])
        try await a.engine.subscriptions.removeAll()
        #expect(try await a.heldIDs == [1, 3])
        try world.foreign(1) { $0["n"] = 100 }
        try await a.settle()
        #expect(try await a.local(1)?["n"] == 100)
    }

    @Test("more documents than fit into a page come all, of whatever type their ids are")
    func pages() async throws {
        let world = try SyncWorld()
        let ids: [BSONValue] = [
            .double(.nan), -1, 0, 1, 2.5, .int64(1 << 40), "", "a", "b", ["x": 1], ["x": 2],
            .binary(BSONBinary([1, 2])), .objectID(BSONObjectID()), .objectID(BSONObjectID()),
            false, true, .datetime(BSONDatetime(milliseconds: 5)), .null,
        ]
        for id in ids { try world.foreign(id) { $0["n"] = 1 } }
        let limits = {
            var limits = SyncLimits()
            limits.batchDocuments = 2
            return limits
        }()
        let store = try DocumentStore(at: .inMemory)
        let engine = try SyncEngine(store: store, remote: world.remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        try await items.subscribe(to: ["n": 1])
        #expect(try items.find().count() == ids.count)
        #expect(try await engine.verify() == [])
    }

    @Test("after a gap in the history newcomers are found, and what left is evicted")
    func gap() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.subscribe(to: ["n": ["$lte": 3]])
        try await a.settle()
        _ = world.transcript()
        try world.foreign(1) { $0["n"] = 9 }
        try world.foreign(5) { $0["n"] = 0 }
        try await a.engine.forceScan(SyncWorld.namespace)
        try await a.settle()
        #expect(try await a.heldIDs == [2, 3, 5])
        #expect(
            Set(world.transcript()) == ["A remote evict 1 settled", "A remote insert 5 settled"])
    }

    @Test("a document that the store holds past sync is compared when a subscription brings it")
    func heldUnseen() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.store.collection(SyncWorld.namespace).insertOne(["_id": 1, "n": 77])
        try await a.subscribe(to: ["n": ["$lte": 3]])
        try await a.settle()
        #expect(try await a.heldIDs == [1, 2, 3])
        #expect(try await a.local(1)?["n"] == 1)
    }

    @Test("changes that are only noted, not looked at, bring newcomers with the next pass")
    func noted() async throws {
        let world = try world()
        let a = try await world.device("A")
        try await a.subscribe(to: ["n": ["$lte": 3]])
        try await a.settle()
        try world.foreign(6) { $0["n"] = 3 }
        try world.foreign(7) { $0["n"] = 7 }
        try await a.engine.syncNow(only: nil, steps: .markStaleOnly)
        #expect(try await a.heldIDs == [1, 2, 3])
        try await a.insert(["_id": 8, "n": 1])
        try await a.settle()
        #expect(try await a.heldIDs == [1, 2, 3, 6, 8])
        #expect(try a.rowCount("sync_documents") == 5)
    }
}
