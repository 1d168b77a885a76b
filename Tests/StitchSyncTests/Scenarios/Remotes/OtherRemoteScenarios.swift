import BSONStore
import Foundation
import StitchSyncTesting
import Testing

@testable import StitchSync

/// Another server under the same address, an empty file or a restored one must not empty a device.
struct OtherRemoteScenarios {
    private static let items = Namespace("app", "items")
    private static let history = DocumentStore.Options(
        changeHistory: .keep(changesMax: 100_000))

    /// A remote's store in a file of a folder.
    private func store(_ path: String) throws -> DocumentStore {
        try DocumentStore(at: .file(path), options: Self.history)
    }

    private func engine(
        _ store: DocumentStore, _ remote: DocumentStore,
        handler: ConflictHandler<BSONDocument> = .localWins
    ) async throws -> SyncEngine {
        let engine = try SyncEngine(store: store, remote: InProcessRemote(store: remote))
        await engine.collection(Self.items).configure(conflictHandler: handler)
        return engine
    }

    /// A device in step with a remote's file of so many documents.
    private func device(
        _ folder: ScratchDirectory, count: Int = 50
    ) async throws -> (store: DocumentStore, remote: DocumentStore) {
        let remote = try store(folder.path("a.stitch"))
        let device = try store(folder.path("device.stitch"))
        let engine = try await engine(device, remote)
        for number in 0..<count {
            try await engine.collection(Self.items).insertOne([
                "_id": .int32(Int32(number)), "x": 1,
            ])
        }
        try await engine.syncUntilQuiet()
        try await engine.release()
        #expect(try remote.read { try $0.count(Self.items) } == count)
        return (device, remote)
    }

    enum Other: CaseIterable { case empty, filled, backup }

    @Test(
        "another remote stops the collection: nothing is deleted or sent", arguments: Other.allCases
    )
    func stops(other: Other) async throws {
        let folder = try ScratchDirectory()
        let (device, remote) = try await device(folder)
        let path = folder.path("b.stitch")
        if other == .backup { try remote.backup(to: path) }
        let another = try store(path)
        if other == .filled { try await another.write { _ = try $0.put(Self.items, ["_id": 99]) } }
        let engine = try await engine(device, another)
        let items = engine.collection(Self.items)
        try await items.updateOne(["_id": 1], ["$set": ["x": 2]])
        try await items.insertOne(["_id": "new"])
        let (report, _) = try await engine.syncUntilQuiet()
        #expect(report.errors.contains(.remoteChanged) && report.removed == 0)
        #expect(try items.find().count() == 51)
        #expect(try another.read { try $0.get(Self.items, id: "new") } == nil)
        let stop = try #require(try await items.status().stop)
        #expect(stop.code == .remoteChanged && stop.documentCount == 50)
        #expect(stop.expected != stop.found)
        await #expect(throws: SyncError.self) {
            try await engine.waitForUpload(timeout: .seconds(60))
        }
        try await engine.release()
        // Back at the first one, all goes on.
        let back = try await self.engine(device, remote)
        try await back.syncUntilQuiet()
        #expect(try remote.read { try $0.count(Self.items) } == 51)
        #expect(try await back.collection(Self.items).status() == SyncStatus(synced: 51))
    }

    @Test("a scan that the app asks for loses no evidence before the remote's identity is known")
    func forcedScan() async throws {
        let world = try SyncWorld()
        var remote = TwistedRemote(base: world.remote)
        let isSilent = Locked(true)
        remote.identity = { identity in isSilent.withLock { $0 } ? .unknown : identity }
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": 1])
        try await engine.syncUntilQuiet()
        // A program that knows no versions leaves a tombstone without one.
        try world.foreign(1) { $0 = ["_id": 1, "n": 1] }
        try world.foreignDelete(1)
        try await engine.forceScan(SyncWorld.namespace)
        isSilent.withLock { $0 = false }
        #expect(try await engine.syncNow().errors == [])
        #expect(try items.find().count() == 0)
    }

    @Test("a delete that the history tells is known also after a scan that the app asks for")
    func forcedScanWithoutTombstones() async throws {
        let world = try SyncWorld()
        let remote = PlainRemote(base: world.remote, tellsIdentity: true)
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": 1])
        try await engine.syncUntilQuiet()
        try world.foreignDelete(1)
        try await engine.forceScan(SyncWorld.namespace)
        let (report, _) = try await engine.syncUntilQuiet()
        #expect(report.unexplained == 0 && report.removed == 1)
        #expect(try items.find().count() == 0)
    }

    @Test("a collection that was renamed away and back goes on by itself")
    func renamedBack() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
        let items = engine.collection(Self.items)
        try await items.insertMany([["_id": 1, "x": 1], ["_id": 2, "x": 1]])
        try await engine.syncUntilQuiet()
        let other = Namespace(Self.items.database, "moved")
        try await remote.store.write { transaction in
            try transaction.renameCollection(Self.items, to: other)
            try transaction.renameCollection(other, to: Self.items)
        }
        try await remote.store.collection(Self.items).updateOne(
            ["_id": 1], ["$set": ["x": 2], "$inc": ["__stitch_sync_version.v": 1]])
        for _ in 1...2 { #expect(try await engine.syncNow().errors.isEmpty) }
        #expect(try items.findOne(id: 1)?["x"] == 2)
        #expect(try await items.status() == SyncStatus(synced: 2))
    }

    @Test("to adopt another remote uploads what is here and merges what is there")
    func adopts() async throws {
        let folder = try ScratchDirectory()
        let (device, _) = try await device(folder)
        let another = try store(folder.path("b.stitch"))
        try await another.write { _ = try $0.put(Self.items, ["_id": 1, "x": 9]) }
        let engine = try await engine(device, another)
        let items = engine.collection(Self.items)
        try await items.deleteOne(["_id": 2])
        try await engine.syncUntilQuiet()
        #expect(try await items.adoptRemote())
        try await engine.syncUntilQuiet()
        #expect(try another.read { try $0.count(Self.items) } == 49)
        #expect(try another.read { try $0.get(Self.items, id: 1) }?["x"] == 1)
        #expect(try another.read { try $0.get(Self.items, id: 2) } == nil)
        #expect(try await items.status() == SyncStatus(synced: 49))
        #expect(try await engine.verify() == [])
    }

    @Test("to replace what is here by another remote's takes what that one holds")
    func replaces() async throws {
        let folder = try ScratchDirectory()
        let (device, _) = try await device(folder)
        let another = try store(folder.path("b.stitch"))
        try await another.write { _ = try $0.put(Self.items, ["_id": 1, "x": 9]) }
        let engine = try await engine(device, another)
        let items = engine.collection(Self.items)
        try await items.updateOne(["_id": 3], ["$set": ["x": 4]])
        try await engine.syncUntilQuiet()
        #expect(try await items.replaceFromRemote())
        try await engine.syncUntilQuiet()
        #expect(try items.find().fetch() == [["_id": 1, "x": 9]])
        #expect(try await items.status() == SyncStatus(synced: 1))
        #expect(try another.read { try $0.count(Self.items) } == 1)
        #expect(try await engine.verify() == [])
    }

    @Test("a device that never synced adopts whichever remote it meets")
    func first() async throws {
        let folder = try ScratchDirectory()
        let device = try store(folder.path("device.stitch"))
        let remote = try store(folder.path("a.stitch"))
        let engine = try await engine(device, remote)
        let items = engine.collection(Self.items)
        // The collection is made by the first upload, and is known from then on.
        try await engine.syncUntilQuiet()
        try await items.insertOne(["_id": 1])
        try await engine.syncUntilQuiet()
        try await items.insertOne(["_id": 2])
        try await engine.syncUntilQuiet()
        #expect(try await items.status() == SyncStatus(synced: 2))
        try await engine.release()
        let other = try await self.engine(device, try store(folder.path("b.stitch")))
        let met = try await other.syncUntilQuiet().report
        #expect(met.errors.contains(.remoteChanged))
        #expect(try other.collection(Self.items).find().count() == 2)
    }

    /// The sync tables as an earlier version left them: without an identity.
    private func forgetIdentity(_ device: DocumentStore) throws {
        try device.write { transaction in
            try transaction.connection.execute("UPDATE sync_collections SET identity = NULL")
        }
    }

    @Test("a file of an earlier version adopts the remote that holds its documents, and no other")
    func upgrade() async throws {
        let folder = try ScratchDirectory()
        let (device, remote) = try await device(folder)
        try forgetIdentity(device)
        // What the history tells is no reason to stop.
        try await remote.write { _ = try $0.remove(Self.items, id: 7) }
        let same = try await engine(device, remote)
        try await same.syncUntilQuiet()
        #expect(try await same.collection(Self.items).status() == SyncStatus(synced: 49))
        try await same.release()
        try forgetIdentity(device)
        let another = try store(folder.path("b.stitch"))
        try await another.write { _ = try $0.put(Self.items, ["_id": 1]) }
        let other = try await engine(device, another)
        let met = try await other.syncUntilQuiet().report
        #expect(met.errors.contains(.remoteChanged))
        let status = try await other.collection(Self.items).status()
        #expect(status.synced == 49 && status.stop?.documentCount == 48)
    }

    @Test("where a remote does not tell its identity, absence alone deletes nothing")
    func nameless() async throws {
        let folder = try ScratchDirectory()
        let device = try store(folder.path("device.stitch"))
        let remote = try store(folder.path("a.stitch"))
        let first = try SyncEngine(
            store: device,
            remote: PlainRemote(base: InProcessRemote(store: remote), tellsIdentity: false))
        for number in 0..<5 {
            try await first.collection(Self.items).insertOne(["_id": .int32(Int32(number))])
        }
        try await first.syncUntilQuiet()
        // A delete that the history tells is a delete as ever.
        try await remote.write { _ = try $0.remove(Self.items, id: 4) }
        try await first.syncUntilQuiet()
        #expect(try first.collection(Self.items).find().count() == 4)
        try await first.release()
        let another = try store(folder.path("b.stitch"))
        let second = try SyncEngine(
            store: device,
            remote: PlainRemote(base: InProcessRemote(store: another), tellsIdentity: false))
        let (report, _) = try await second.syncUntilQuiet()
        #expect(report.removed == 0 && report.unexplained == 4)
        let items = second.collection(Self.items)
        #expect(try await items.status() == SyncStatus(synced: 4, unexplained: 4))
        #expect(try another.read { try $0.count(Self.items) } == 0)
    }
}
