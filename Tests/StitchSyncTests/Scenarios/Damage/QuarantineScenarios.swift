import Testing

@testable import BSONStore
@testable import StitchSync

/// A document that is damaged and moved away was not deleted by anybody.
@Suite(.remotes)
struct QuarantineScenarios {
    /// A device whose document is damaged and moved away.
    private static func device(in world: SyncWorld, changing: Bool) async throws -> Device {
        let a = try await world.device("A", handler: .remoteWins)
        try await a.insert(["_id": "hurt", "x": 1])
        try await a.insert(["_id": "whole", "x": 1])
        try await a.engine.syncUntilQuiet()
        if changing { try await a.set("hurt", ["x": 2]) }
        try await a.store.write { transaction in
            let table = try #require(
                try Catalog.read(SyncWorld.namespace, transaction.connection))
            let update = try transaction.connection.prepare(
                "UPDATE \(StoreSchema.tableName(table.id)) SET doc = x'0F000000' WHERE key = ?1")
            update.bind(1, keyOf: "hurt")
            try update.run()
        }
        let report = try a.store.quarantine()
        #expect(report.faults.count == 1)
        await a.engine.flushEvents()
        _ = world.transcript()
        return a
    }

    @Test("one in step comes again from the remote", arguments: [false, true])
    func clean(restarts: Bool) async throws {
        let world = try SyncWorld()
        let a = try await Self.device(in: world, changing: false)
        if restarts { try await a.start() }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("hurt") == ["_id": "hurt", "x": 1])
        #expect(try world.remoteDocument("hurt") == ["_id": "hurt", "x": 1])
        #expect(try await a.engine.verify() == [])
    }

    @Test("one with a change is paused and listed, not deleted; resumed it comes again")
    func changed() async throws {
        let world = try SyncWorld()
        let a = try await Self.device(in: world, changing: true)
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("hurt") == ["_id": "hurt", "x": 1])
        #expect(try await a.items.status(of: "hurt").pauseReason?.code == .unusableDocument)
        #expect(try await a.engine.verify() == [])
        // Another edition does not end what tells the app of the lost change.
        try world.foreign("hurt") { $0["y"] = 1 }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.pausedIDs == ["hurt"])
        #expect(try await a.items.resumeSync(of: "hurt"))
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("hurt") == ["_id": "hurt", "x": 1, "y": 1])
        // From now on it is a document like others.
        try await a.delete("hurt")
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("hurt") == nil)
        #expect(try world.remoteDocument("whole") == ["_id": "whole", "x": 1])
    }
}
