import Testing

@testable import BSONCore
@testable import BSONStore
@testable import StitchSync

/// A document whose bytes changed by themselves is not what anybody wrote: it is not sent.
@Suite(.remotes)
struct ChecksumScenarios {
    /// A device in step with two documents, whose changes wait or not; one is damaged then and stays valid.
    private static func device(_ world: SyncWorld, changing: Bool) async throws -> Device {
        let a = try await world.device("A", handler: .remoteWins)
        try await a.insert(["_id": "hurt", "x": 1])
        try await a.insert(["_id": "whole", "x": 1])
        try await a.engine.syncUntilQuiet()
        if changing { for id in ["hurt", "whole"] { try await a.set(.string(id), ["x": 2]) } }
        try await a.store.write { transaction in
            let table = try #require(
                try Catalog.read(SyncWorld.namespace, transaction.connection))
            let update = try transaction.connection.prepare(
                "UPDATE \(StoreSchema.tableName(table.id)) SET doc = ?2 WHERE key = ?1")
            update.bind(1, keyOf: "hurt")
            update.bind(2, ["_id": "hurt", "x": 3] as BSONDocument)
            try update.run()
        }
        return a
    }

    /// What is told of the damaged document.
    private static func expectDamage(_ error: StoreError?) {
        #expect(error?.code == .corrupt && error?.documentID == "hurt")
        #expect(error?.namespace == SyncWorld.namespace)
        #expect(error?.message.contains("verify --quarantine") == true)
    }

    @Test("with a change it stops the sync of the file; the remote keeps its own edition")
    func changed() async throws {
        let world = try SyncWorld()
        let a = try await Self.device(world, changing: true)
        #expect(try await a.engine.verify().map(\.kind) == [.damagedDocument])
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.self) { try await a.engine.syncNow() }
            Self.expectDamage(error)
        }
        #expect(try world.remoteDocument("hurt") == ["_id": "hurt", "x": 1])
        #expect(try await a.engine.verify().map(\.kind) == [.damagedDocument])
        #expect(try a.store.quarantine().faults.map(\.documentID) == ["hurt"])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("hurt") == ["_id": "hurt", "x": 1])
        #expect(try world.remoteDocument("whole") == ["_id": "whole", "x": 2])
        #expect(try await a.items.status(of: "hurt").pauseReason?.code == .unusableDocument)
        #expect(try await a.items.resumeSync(of: "hurt"))
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("hurt") == ["_id": "hurt", "x": 1])
        #expect(try await a.engine.verify() == [])
        await a.engine.flushEvents()
        _ = world.transcript()
    }

    @Test("without a change no later change carries it")
    func unchanged() async throws {
        let world = try SyncWorld()
        let a = try await Self.device(world, changing: false)
        let error = await #expect(throws: StoreError.self) { try await a.set("hurt", ["y": 5]) }
        Self.expectDamage(error)
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("hurt") == ["_id": "hurt", "x": 1])
        #expect(try await a.engine.verify().map(\.kind) == [.damagedDocument])
        _ = try a.store.quarantine()
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("hurt") == ["_id": "hurt", "x": 1])
        #expect(try await a.engine.verify() == [])
        await a.engine.flushEvents()
        _ = world.transcript()
    }
}
