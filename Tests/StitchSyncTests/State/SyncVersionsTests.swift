#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import BSONStore
import StitchRules
import Testing

@testable import StitchSync

/// Files whose sync tables are of an earlier version open, and what waited in them goes on.
struct SyncVersionsTests {
    private static let items = Namespace("bench", "items")

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A copy of a kept file.
    private func file(_ name: String, in directory: ScratchDirectory) throws -> String {
        let copy = directory.path(name)
        try FileManager.default.copyItem(
            atPath: Self.root.appending(path: "fixtures/stores/\(name)").path, toPath: copy)
        return copy
    }

    @Test("a device of version 2 keeps its documents by their ids, whatever subscriptions ask for")
    func versionTwoByIDs() async throws {
        let directory = try ScratchDirectory()
        let device = try DocumentStore(
            at: .file(try file("sync-2-wanted-device.db", in: directory)))
        let remote = try DocumentStore(
            at: .file(try file("sync-2-wanted-remote.db", in: directory)))
        let engine = try SyncEngine(store: device, remote: InProcessRemote(store: remote))
        #expect(
            try device.read { try $0.connection.int64("SELECT schema FROM sync_instance") }
                == SyncSchema.version)
        #expect(try engine.subscriptions.version == 0)
        let items = engine.collection(Namespace("shop", "items"))
        #expect(try await items.status() == SyncStatus(synced: 5, toLook: 2))
        try await engine.syncUntilQuiet()
        try await items.subscribe(to: ["n": 1])
        try await engine.subscriptions.removeAll()
        #expect(try items.find(["n": ["$lte": 3]]).count() == 3)
        #expect(try await items.syncedIDs.count == 5)
    }

    @Test("a device of version 1 that died while its changes were under way sends them again")
    func versionOne() async throws {
        let directory = try ScratchDirectory()
        let device = try DocumentStore(at: .file(try file("sync-1-device.db", in: directory)))
        let remote = try DocumentStore(at: .file(try file("sync-1-remote.db", in: directory)))
        let before = try device.read { transaction in
            try transaction.connection.int64(
                "SELECT count(*) FROM sync_documents WHERE base IS NOT NULL AND attempt IS NOT NULL"
            )
        }
        #expect(before == 12)
        let engine = try SyncEngine(store: device, remote: InProcessRemote(store: remote))
        let items = engine.collection(Self.items)
        #expect(
            try device.read { try $0.connection.int64("SELECT schema FROM sync_instance") }
                == SyncSchema.version)
        #expect(try await items.status() == SyncStatus(synced: 12, pending: 12, toLook: 12))
        #expect(try await engine.verify() == [])
        let quiet = try await engine.syncUntilQuiet()
        #expect(quiet.report.uploaded == 12 && quiet.report.conflicts == 0)
        #expect(try await items.status() == SyncStatus(synced: 12))
        #expect(try await engine.verify() == [])
        for document in try device.collection(Self.items).find().fetch() {
            #expect(document["newField"] == "mine!")
            let there = try remote.collection(Self.items).findOne(id: document.documentID)
            #expect(there?.withoutVersion.contentEquals(document) == true)
        }
        #expect(
            try device.read { try $0.connection.int64("SELECT count(*) FROM sync_bases") } == 0)
    }

    @Test("a device of version 2 keeps what was refused then, and what waited goes on")
    func versionTwo() async throws {
        let directory = try ScratchDirectory()
        let device = try DocumentStore(at: .file(try file("sync-2-device.db", in: directory)))
        let remote = try DocumentStore(at: .file(try file("sync-2-remote.db", in: directory)))
        let engine = try SyncEngine(
            store: device,
            remote: InProcessRemote(
                store: remote, rules: try RuledWorld.rules(RuledWorld.ownerReadWrite),
                user: RuleUser(id: "ann")))
        #expect(
            try device.read { try $0.connection.int64("SELECT schema FROM sync_instance") }
                == SyncSchema.version)
        let before = SyncStatus(synced: 7, pending: 5, paused: 1, toLook: 3)
        #expect(try await engine.items.status() == before)
        #expect(try await engine.verify() == [])
        let quiet = try await engine.syncUntilQuiet()
        #expect(quiet.report.uploaded == 1 && quiet.report.conflicts == 0)
        #expect(try remote.collection(RuledWorld.items).findOne(id: "late") != nil)
        #expect(try await engine.items.rejectedWrites.all().isEmpty)
        #expect(try await engine.items.pausedIDs == ["bad"])
        // What was paused then is rejected now.
        try await engine.items.resumeSync(of: "bad")
        try await engine.syncUntilQuiet()
        #expect(try await engine.items.rejectedWrites.all().map(\.documentID) == ["bad"])
        #expect(try await engine.items.status() == SyncStatus(synced: 6, rejected: 1))
        #expect(try await engine.verify() == [])
    }
}
