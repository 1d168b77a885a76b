import BSONStore
import Testing

@testable import StitchSync

/// A collection that somebody drops at the remote takes nothing with it here unless the app says so.
@Suite(.remotes)
struct DroppedCollectionScenarios {
    /// A device with two documents that the remote has, one of which has changed here since.
    private func device(
        in world: SyncWorld, _ policy: DroppedCollectionPolicy,
        handler: ConflictHandler<BSONDocument> = .remoteWins
    ) async throws -> Device {
        let a = try await world.device("A")
        try await a.insert(["_id": "kept", "x": 1])
        try await a.insert(["_id": "changed", "x": 1])
        try await a.engine.syncUntilQuiet()
        await configure(a, policy, handler)
        try await a.set("changed", ["x": 2])
        try world.remoteDocuments.drop()
        _ = world.transcript()
        return a
    }

    private func configure(
        _ a: Device, _ policy: DroppedCollectionPolicy,
        _ handler: ConflictHandler<BSONDocument> = .remoteWins
    ) async {
        let world = a.world
        await a.items.configure(
            conflictHandler: handler,
            errorListener: { error, id in
                world.note("error \(error.code.rawValue) \(id.map { "\($0)" } ?? "all")")
            },
            droppedCollectionPolicy: policy)
    }

    @Test(
        "a drop stops the collection: all is kept, nothing is sent, and the app is told once",
        arguments: [false, true])
    func keeps(restarts: Bool) async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .pause)
        try await a.insert(["_id": "new", "x": 1])
        let report = try await a.sync()
        #expect(report.removed == 0 && report.conflicts == 0 && report.uploaded == 0)
        #expect(report.errors == [.collectionDropped])
        try await a.engine.syncUntilQuiet()
        #expect(world.transcript() == ["error collectionDropped all"])
        if restarts {
            try await a.start()
            try await a.sync()
        }
        let status = try await a.items.status()
        #expect(status.stop?.code == .collectionDropped && status.stop?.documentCount == 2)
        #expect(status.pending == 2 && status.paused == 0)
        #expect(try await a.local("kept") == ["_id": "kept", "x": 1])
        #expect(try await a.local("changed") == ["_id": "changed", "x": 2])
        #expect(try world.remoteDocument("new") == nil)
    }

    @Test("a change whose answer was lost before the drop is kept with its document")
    func uncertain() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "kept", "x": 1])
        try await a.engine.syncUntilQuiet()
        await a.items.configure(conflictHandler: .remoteWins, droppedCollectionPolicy: .pause)
        try await a.set("kept", ["x": 2])
        world.remote.after { call in
            if call.kind == .write { throw RemoteError(.retryable, "the answer was lost") }
        }
        _ = try await a.engine.syncNow()
        world.remote.after(nil)
        try world.remoteDocuments.drop()
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.status().stop?.code == .collectionDropped)
        #expect(try await a.local("kept") == ["_id": "kept", "x": 2])
        #expect(try await a.engine.verify() == [])
    }

    @Test("to adopt what is there after a drop uploads what is here")
    func adopts() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .pause, handler: .localWins)
        try await a.sync()
        #expect(try await a.items.adoptRemote())
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("kept") == ["_id": "kept", "x": 1])
        #expect(try world.remoteDocument("changed") == ["_id": "changed", "x": 2])
        let status = try await a.items.status()
        #expect(status == SyncStatus(synced: 2))
        try world.foreign("kept") { $0["x"] = 8 }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("kept") == ["_id": "kept", "x": 8])
    }

    @Test("to replace what is here after a drop follows the remote, also in what was put back")
    func replaces() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .pause)
        try world.foreign("kept") { $0["x"] = 7 }
        #expect(try await a.sync().errors == [.collectionDropped])
        #expect(try await a.items.replaceFromRemote())
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("kept") == ["_id": "kept", "x": 7])
        #expect(try await a.local("changed") == nil)
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        try world.foreign("kept") { $0["x"] = 8 }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("kept") == ["_id": "kept", "x": 8])
    }

    @Test(
        "a drop is the deletion of each document where the app says so", arguments: [false, true])
    func removes(isMadeAnew: Bool) async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .remove)
        if isMadeAnew { try world.foreign("another") { $0["x"] = 7 } }
        let report = try await a.sync()
        #expect(report.paused == 0 && report.errors == [])
        try await a.engine.syncUntilQuiet()
        #expect(try a.items.find().count() == 0)
        #expect(try await a.items.status() == SyncStatus())
    }
}
