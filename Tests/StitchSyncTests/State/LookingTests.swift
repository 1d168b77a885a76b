#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import BSONStore
import Testing

@testable import StitchSync

/// Tools look at stores that they must not, or cannot, write: what they tell must be what an engine that
/// writes would tell.
@Suite struct LookingTests {
    private static let fixtures = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures/stores")

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

    @Test(arguments: ["sync-1-device.db", "sync-2-device.db", "sync-2-wanted-device.db"])
    func `a look at an earlier file tells what it holds, and leaves it`(name: String) async throws {
        let directory = try ScratchDirectory()
        let path = directory.path(name)
        try FileManager.default.copyItem(
            atPath: Self.fixtures.appending(path: name).path, toPath: path)
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let before = try Data(contentsOf: URL(filePath: path))
        let look = try DocumentStore(at: .file(path), options: .looking)
        let told = try await Self.told(try Self.engine(look))
        look.close()
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [name])
        let plain = try DocumentStore(at: .file(path), options: .init(readOnly: true))
        let error = #expect(throws: SyncError.self) { try Self.engine(plain) }
        #expect(error?.code == .storeFailed)
        #expect(error?.message.contains("once for writing") == true)
        plain.close()
        let store = try DocumentStore(at: .file(path))
        #expect(try await Self.told(try Self.engine(store)) == told)
        #expect(!told.isEmpty)
    }

    @Test func `a delete that waits in an earlier file is told as one`() async throws {
        let directory = try ScratchDirectory()
        let things = Namespace("app", "things")
        let path = directory.path("device.store")
        let store = try DocumentStore(at: .file(path))
        let engine = try Self.engine(store)
        let collection = engine.collection(things)
        await collection.configure(conflictHandler: .remoteWins)
        for id in 0..<3 as Range<Int32> { try await collection.insertOne(["_id": .int32(id)]) }
        try await engine.syncUntilQuiet()
        try await collection.deleteOne(["_id": 1])
        // As version 3 left it.
        try await store.write { transaction in
            try transaction.connection.execute("UPDATE sync_documents SET tombstone = 0")
            try transaction.connection.execute("UPDATE sync_instance SET schema = 3")
        }
        await engine.close()
        store.close()
        let look = try DocumentStore(at: .file(path), options: .looking)
        let looking = try Self.engine(look)
        #expect(try await looking.collection(things).status() == SyncStatus(synced: 3, pending: 1))
        #expect(try await looking.verify() == [])
        look.close()
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
        let look = try Self.engine(try DocumentStore(at: .file(path), options: .looking))
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
        for options in [DocumentStore.Options(readOnly: true), .looking] {
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
