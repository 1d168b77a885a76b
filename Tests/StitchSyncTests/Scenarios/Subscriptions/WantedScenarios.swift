import BSONStore
import Testing

@testable import StitchSync

/// Ids that were asked for stand in one row until the remote was looked at; nobody notices.
@Suite(.remotes)
struct WantedScenarios {
    @Test("ids that were asked for are told of before anything was looked at")
    func told() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.items.sync(ids: [1, 2, 3, 2])
        #expect(try await a.items.syncedIDs == [1, 2, 3])
        #expect(try await a.items.status() == SyncStatus(synced: 3, toLook: 3))
        #expect(try await a.items.status(of: 2) == .stale)
        #expect(try await a.items.status(of: 2.0) == .stale)
        #expect(try await a.items.status(of: 4) == .notSynced)
        try await a.items.sync(ids: [3.0, 4])
        #expect(try await a.items.syncedIDs == [1, 2, 3, 4])
        try await a.items.desync(ids: [1])
        #expect(try await a.items.status() == SyncStatus(synced: 3, toLook: 3))
        #expect(try await a.engine.verify() == [])
        try await a.sync()
        #expect(try await a.items.status() == SyncStatus(synced: 3))
    }

    @Test(
        "an id that is desynced before its document appears does not bring it",
        arguments: [0, 1])
    func desynced(passes: Int) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.items.sync(ids: [1, 2])
        for _ in 0..<passes { try await a.sync() }
        try await a.items.desync(ids: [1])
        for id in [1, 2] as [BSONValue] { try world.foreign(id) { $0["n"] = 3 } }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local(1) == nil)
        #expect(try await a.local(2) == ["_id": 2, "n": 3])
        #expect(try await a.items.syncedIDs == [2])
        #expect(try await a.items.status(of: 1) == .notSynced)
    }

    @Test("an id that is desynced during the request for it does not bring its document")
    func desyncedMeanwhile() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.items.sync(ids: [1, 2])
        for id in [1, 2] as [BSONValue] { try world.foreign(id) { $0["n"] = 3 } }
        world.remote.after { call in
            guard call.kind == .find else { return }
            world.remote.after(nil)
            try await a.items.desync(ids: [1])
        }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local(1) == nil)
        #expect(try await a.local(2) == ["_id": 2, "n": 3])
        #expect(try await a.items.syncedIDs == [2])
    }

    @Test("an id that was asked for and is inserted before a look is a conflict if both have it")
    func insertedMeanwhile() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let b = try await world.device("B")
        try await a.insert(["_id": 1, "by": "a"])
        try await a.sync()
        try await b.items.sync(ids: [1, 2])
        try await b.insert(["_id": 1, "by": "b"])
        try await b.insert(["_id": 2, "by": "b"])
        try await b.engine.syncUntilQuiet()
        #expect(try await b.local(1) == ["_id": 1, "by": "a"])
        #expect(try world.remoteDocument(2) == ["_id": 2, "by": "b"])
        #expect(try await b.items.status() == SyncStatus(synced: 2))
    }

    @Test("where the store holds a wanted document that sync never saw, the two are compared")
    func heldUnseen() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let b = try await world.device("B")
        try await a.insert(["_id": 1, "by": "a"])
        try await a.sync()
        try await b.items.sync(ids: [1])
        try await b.insertPastSync(["_id": 1, "by": "b"])
        try await b.engine.syncUntilQuiet()
        #expect(try await b.local(1) == ["_id": 1, "by": "a"])
        #expect(try await b.engine.verify() == [])
    }

    @Test("many that were asked for are many requests of a batch each")
    func batches() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let count = SyncLimits().batchDocuments * 2 + 1
        for id in 0..<count where id % 2 == 0 {
            try world.foreign(.int32(Int32(id))) { $0.append("n", .int32(Int32(id))) }
        }
        try await a.items.sync(ids: (0..<count).map { .int32(Int32($0)) })
        let report = try await a.engine.syncNow()
        #expect(report.taken == count / 2 + 1 && report.looked >= count)
        #expect(try await a.items.status() == SyncStatus(synced: count))
        #expect(try await a.engine.verify() == [])
    }
}
