#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import BSONStore
import Testing

@testable import StitchSync

/// Tools inspect stores that they must not, or cannot, write.
///
/// Without these tests they could report something else than an engine that writes.
@Suite struct InspectionTests {
    private static func engine(_ store: DocumentStore) throws -> SyncEngine {
        try SyncEngine(store: store, remote: try InProcessRemote(at: .inMemory))
    }

    /// What an engine tells of a store.
    private static func told(_ engine: SyncEngine) async throws -> [String] {
        var lines: [String] = []
        for namespace in try engine.syncedCollections() {
            let collection = engine.collection(namespace)
            lines.append("\(namespace) \(try await collection.status())")
            lines.append("\(try await collection.pausedIDs)")
            lines.append("\(try await collection.rejectedWrites.all().map(\.documentID))")
            lines.append("\(try engine.editions(in: namespace, limit: 100).map(\.status))")
        }
        return lines + (try await engine.verify()).map(\.description)
    }

    @Test func `a look at a device's file tells what it holds, and leaves it`() async throws {
        let directory = try ScratchDirectory()
        let things = Namespace("app", "things")
        let path = directory.path("device.store")
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let store = try DocumentStore(at: .file(path))
        let engine = try Self.engine(store)
        let collection = engine.collection(things)
        await collection.configure(conflictHandler: .remoteWins)
        for id in 0..<3 as Range<Int32> { try await collection.insertOne(["_id": .int32(id)]) }
        try await engine.syncUntilQuiet()
        try await collection.deleteOne(["_id": 1])
        let expected = try await Self.told(engine)
        await engine.close()
        store.close()
        let (before, files) = (
            try Data(contentsOf: URL(filePath: path)),
            try FileManager.default.contentsOfDirectory(atPath: folder)
        )
        let look = try DocumentStore(at: .file(path), options: .inspecting)
        let looking = try Self.engine(look)
        #expect(try await Self.told(looking) == expected)
        #expect(try await looking.collection(things).status() == SyncStatus(synced: 3, pending: 1))
        look.close()
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == files)
    }

    @Test(arguments: [SyncSchema.version - 1, SyncSchema.version + 1])
    func `tables of another version are refused and left alone`(version: Int64) async throws {
        let directory = try ScratchDirectory()
        let path = directory.path("device.store")
        let store = try DocumentStore(at: .file(path))
        let engine = try Self.engine(store)
        await engine.close()
        try await store.write { transaction in
            try transaction.connection.execute("UPDATE sync_instance SET schema = \(version)")
        }
        for options in [DocumentStore.Options(), .init(readOnly: true), .inspecting] {
            let again = try DocumentStore(at: .file(path), options: options)
            let error = #expect(throws: SyncError.self) { try Self.engine(again) }
            #expect(error?.code == .storeFailed)
            #expect(error?.message.contains("of version \(version)") == true)
            again.close()
        }
        #expect(
            try store.read { try $0.connection.int64("SELECT schema FROM sync_instance") }
                == version)
    }

    @Test func `a store that was never synced is told as such`() async throws {
        let directory = try ScratchDirectory()
        let things = Namespace("app", "things")
        let path = directory.path("plain.store")
        let store = try DocumentStore(at: .file(path))
        try await store.collection(things).insertOne(["_id": 1])
        let plain = try DocumentStore(at: .file(path), options: .init(readOnly: true))
        let error = #expect(throws: SyncError.self) { try Self.engine(plain) }
        #expect(error?.code == .storeFailed)
        #expect(error?.message.contains("never synced") == true)
        let look = try Self.engine(try DocumentStore(at: .file(path), options: .inspecting))
        #expect(try look.syncedCollections() == [])
        #expect(try await look.collection(things).status() == SyncStatus())
        #expect(try await look.verify() == [])
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sync%'"
        #expect(try store.read { try $0.connection.int64(tables) } == 0)
    }

    @Test func `an engine over a store for reading reads, and refuses to write`() async throws {
        let directory = try ScratchDirectory()
        let things = Namespace("app", "things")
        let path = directory.path("device.store")
        let store = try DocumentStore(at: .file(path))
        let writing = try Self.engine(store)
        try await writing.collection(things).insertOne(["_id": 1])
        for options in [DocumentStore.Options(readOnly: true), .inspecting] {
            let reading = try Self.engine(try DocumentStore(at: .file(path), options: options))
            let collection = reading.collection(things)
            #expect(try await collection.status() == SyncStatus(synced: 1, pending: 1))
            #expect(try collection.find(["_id": 1]).first() == ["_id": 1])
            let error = await #expect(throws: StoreError.self) {
                try await collection.insertOne(["_id": 2])
            }
            #expect(error?.code == .readOnly)
        }
    }
}
