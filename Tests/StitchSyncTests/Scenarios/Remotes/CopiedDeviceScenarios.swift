import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// A copy of a device's file, such as a restored backup, does not undo what happened since.
@Suite(.remotes)
struct CopiedDeviceScenarios {
    /// A device on a file, and a copy of it from when its insert of `k` was pending.
    private func devices(
        _ world: SyncWorld, _ folder: ScratchDirectory
    ) async throws -> (Device, Device) {
        func device(_ name: String) throws -> Device {
            Device(
                name: name, world: world,
                store: try DocumentStore(at: .file(folder.path("\(name).db"))),
                handler: .localWins)
        }
        let a = try device("A")
        try await a.start()
        try await a.insert(["_id": "first", "x": 1])
        try await a.engine.syncUntilQuiet()
        try await a.insert(["_id": "k", "x": 1])
        try a.store.checkpoint()
        try FileManager.default.copyItem(
            atPath: folder.path("A.db"), toPath: folder.path("copy.db"))
        return (a, try device("copy"))
    }

    @Test("a pending insert that the original sent and another deleted is not inserted again")
    func sentAndDeleted() async throws {
        let world = try SyncWorld()
        let folder = try ScratchDirectory()
        let (a, copy) = try await devices(world, folder)
        try await a.engine.syncUntilQuiet()
        let b = try await world.device("B")
        try await b.items.sync(ids: ["k"])
        try await b.engine.syncUntilQuiet()
        try await b.delete("k")
        try await b.engine.syncUntilQuiet()
        _ = world.transcript()
        try await copy.start()
        try await copy.engine.syncUntilQuiet()
        await copy.engine.flushEvents()
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await copy.local("k") == nil)
        #expect(!world.transcript().contains { $0.contains("conflict") })
        #expect(try await copy.items.status() == SyncStatus(synced: 1))
    }

    @Test("a pending insert that the original has not sent is sent, and so is a changed one")
    func notSent() async throws {
        let world = try SyncWorld()
        let folder = try ScratchDirectory()
        let (a, copy) = try await devices(world, folder)
        try await copy.start()
        try await copy.set("k", ["x": 2])
        try await copy.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2])
        #expect(try await copy.items.status() == SyncStatus(synced: 2))
        a.store.close()
    }

    @Test("an own insert that was deleted, and made anew after a restart, stays")
    func ownAgain() async throws {
        let world = try SyncWorld()
        let folder = try ScratchDirectory()
        let (a, _) = try await devices(world, folder)
        try await a.engine.syncUntilQuiet()
        try await a.delete("k")
        try await a.engine.syncNow()
        try await a.insert(["_id": "k", "x": 1])
        try await a.start()
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try await a.local("k") == ["_id": "k", "x": 1])
    }
}
