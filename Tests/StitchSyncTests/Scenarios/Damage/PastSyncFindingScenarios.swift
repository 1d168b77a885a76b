import BSONStore
import Testing

@testable import StitchSync

/// Rows that earlier versions let an app write past the engine are never sent by themselves: the
/// structural check has to name them.
@Suite struct PastSyncFindingScenarios {
    private func findings(_ device: Device) async throws -> [String] {
        try await device.engine.verify().map {
            "\($0.kind.rawValue) \($0.documentID.map { "\($0)" } ?? "?")"
        }
    }

    @Test("a document that was written past the engine has no record")
    func unknown() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": 1])
        try await a.sync()
        try await a.insertPastSync(["_id": 2, "x": 1], ["_id": 3])
        #expect(
            try await findings(a) == [
                "documentWithoutRecord 2", "documentWithoutRecord 3",
            ])
        // Synced by its id, it takes part like any other.
        try await a.items.sync(ids: [2, 3])
        try await a.engine.syncUntilQuiet()
        #expect(try await findings(a) == [])
        #expect(try world.remoteDocument(2) == ["_id": 2, "x": 1])
    }

    @Test("a document that was written past the engine under a record is not queued")
    func notQueued() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.items.sync(ids: [7])
        try await a.sync()
        try await a.insertPastSync(["_id": 7, "x": 1])
        #expect(try await findings(a) == ["changeNotQueued 7"])
    }

    @Test("a document that was deleted past the engine is missing")
    func missing() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": 1])
        try await a.sync()
        let namespace = SyncWorld.namespace
        try await a.store.write { transaction in
            transaction.isEngineWrite = true
            _ = try transaction.remove(namespace, id: 1)
        }
        #expect(try await findings(a) == ["localDocumentMissing 1"])
    }
}
