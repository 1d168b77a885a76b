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
        await a.items.configure(
            conflictHandler: handler,
            errorListener: { error, id in
                world.note("error \(error.code.rawValue) \(id.map { "\($0)" } ?? "all")")
            },
            droppedCollectionPolicy: policy)
        try await a.set("changed", ["x": 2])
        try world.remoteDocuments.drop()
        _ = world.transcript()
        return a
    }

    @Test(
        "what a dropped collection held is kept and paused, and told once",
        arguments: [false, true])
    func keeps(restarts: Bool) async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .pause)
        try await a.insert(["_id": "new", "x": 1])
        let report = try await a.sync()
        #expect(report.paused == 2 && report.removed == 0 && report.conflicts == 0)
        #expect(report.errors == [.collectionDropped])
        if restarts { try await a.start() }
        try await a.engine.syncUntilQuiet()
        #expect(world.transcript().filter { $0.contains("collectionDropped") }.count == 1)
        #expect(try await Set(a.items.pausedIDs) == ["kept", "changed"])
        #expect(try await a.items.pauseReason(of: "kept")?.code == .collectionDropped)
        #expect(try await a.local("kept") == ["_id": "kept", "x": 1])
        #expect(try await a.local("changed") == ["_id": "changed", "x": 2])
        #expect(try world.remoteDocument("new") == ["_id": "new", "x": 1])
    }

    @Test("a change whose answer was lost before the drop is kept and paused with its document")
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
        #expect(try await a.items.pauseReason(of: "kept")?.code == .collectionDropped)
        #expect(try await a.local("kept") == ["_id": "kept", "x": 2])
        #expect(try await a.engine.verify() == [])
    }

    @Test(
        "a document that takes part again after a drop follows the remote, and one that is written asks"
    )
    func resumes() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .pause, handler: .localWins)
        try await a.sync()
        #expect(try await a.items.resumeSync(of: "kept"))
        try await a.set("changed", ["x": 3])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("kept") == nil)
        #expect(try world.remoteDocument("changed") == ["_id": "changed", "x": 3])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("what is put back after a drop is in step as before")
    func putBack() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .pause)
        try world.foreign("kept") { $0["x"] = 7 }
        let report = try await a.sync()
        #expect(report.paused == 1)
        #expect(try await a.items.pausedIDs == ["changed"])
        #expect(try await a.local("kept") == ["_id": "kept", "x": 7])
        try world.foreign("kept") { $0["x"] = 8 }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("kept") == ["_id": "kept", "x": 8])
    }

    @Test("a drop is the deletion of each document where the app says so")
    func removes() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .remove)
        let report = try await a.sync()
        #expect(report.paused == 0 && report.errors == [])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.count() == 0)
        #expect(try await a.items.status() == SyncStatus())
    }
}
