#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these damage could go unnoticed, a copy be half a store, or an error have no name.
@Suite struct MaintenanceTests {
    private static let things = Namespace("app", "things")

    private static func filled(_ directory: TemporaryDirectory) throws -> DocumentStore {
        let store = try DocumentStore(
            at: .file(directory.file()), options: .init(changeHistory: .keep(changesMax: 100)))
        try store.collection(things).insertMany(
            (Int32(0)..<50).map {
                ["_id": .int32($0), "text": .string(String(repeating: "x", count: 500))]
            })
        return store
    }

    @Test func `a sound store has no faults`() throws {
        let directory = try TemporaryDirectory()
        let report = try Self.filled(directory).verify()
        #expect(report.isSound && report.documentCount == 50 && report.changeCount == 50)
    }

    @Test func `damaged documents are told and put aside, the rest can be read`() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.filled(directory)
        try store.write { transaction in
            let connection = transaction.connection
            try connection.execute("UPDATE collection_1 SET doc = x'0F000000' WHERE id = 2")
            try connection.execute(
                "UPDATE collection_1 SET doc = (SELECT doc FROM collection_1 WHERE id = 4) "
                    + "WHERE id = 3")
            try connection.execute("UPDATE store_changes SET after = x'00' WHERE position = 7")
        }
        let report = try store.verify()
        #expect(report.faults.map(\.place) == [.document, .document, .change])
        #expect(report.faults.map(\.documentID) == [1, 2, nil])
        #expect(throws: StoreError.self) { try store.collection(Self.things).find().fetch() }
        #expect(try store.quarantine() == report)
        #expect(try store.collection(Self.things).find().fetch().count == 48)
        #expect(try store.verify().faults.map(\.place) == [.change])
        let kept = try store.read {
            try $0.connection.int64("SELECT count(*) FROM store_quarantine WHERE length(doc) = 4")
        }
        #expect(kept == 1)
    }

    @Test func `a damaged page is told`() throws {
        let directory = try TemporaryDirectory()
        try Self.filled(directory).close()
        let url = URL(fileURLWithPath: directory.file())
        var image = try Data(contentsOf: url)
        let last = image.count - 8_192
        for offset in 0..<8 { image[last + offset] = 0xFF }
        try image.write(to: url)
        let report = try DocumentStore(at: .file(directory.file())).verify()
        #expect(report.faults.contains { $0.place == .page })
    }

    @Test(arguments: [true, false])
    func `a backup is a store of one moment`(inMemory: Bool) throws {
        let directory = try TemporaryDirectory()
        let store = inMemory ? try DocumentStore(at: .inMemory) : try Self.filled(directory)
        let things = store.collection(Self.things)
        try things.insertOne(["_id": "last"])
        let path = directory.file("copy.store")
        try store.backup(to: path)
        try things.insertOne(["_id": "later"])
        let copy = try DocumentStore(at: .file(path))
        #expect(try copy.collection(Self.things).find().count() == things.find().count() - 1)
        #expect(try copy.collection(Self.things).findOne(id: "last") != nil)
        #expect(try copy.verify().isSound)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let error = #expect(throws: StoreError.self) { try store.backup(to: path) }
        #expect(error?.code == .cannotOpen)
    }

    @Test func `compacting gives free pages back and loses nothing`() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.filled(directory)
        let things = store.collection(Self.things)
        try things.deleteMany(["_id": ["$gte": 10]])
        let before = try store.statistics()
        #expect(before.freeBytes > 0 && before.logBytes > 0 && before.changeCount == 90)
        try store.compact()
        let after = try store.statistics()
        #expect(after.freeBytes == 0 && after.logBytes == 0)
        #expect(after.fileBytes < before.fileBytes)
        #expect(after.collections.map(\.documentCount) == [10])
        #expect(
            try after.collections.map(\.documentBytes) == [
                things.find().fetch().reduce(0) { $0 + $1.byteCount }
            ])
        try things.insertOne(["_id": 99])
        #expect(try store.verify().isSound)
    }

    @Test(.disabled(if: LinkedLibrary.encrypts))
    func `a key that nothing can use is refused before a file is made`() throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: StoreError.self) {
            try DocumentStore(
                at: .file(directory.file()),
                options: .init(encryptionKey: Array(repeating: 7, count: 32)))
        }
        #expect(error?.code == .invalidOptions)
        #expect(StoreFile.size(directory.file()) == nil)
    }

    @Test func `a file that another process keeps is busy`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(directory.file()), options: .init(busyTimeoutMS: 20))
        let other = try SQLiteConnection(path: directory.file(), mode: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: StoreError.self) {
            try store.collection(Self.things).insertOne(["_id": 1])
        }
        #expect(error?.code == .busy)
        try other.execute("COMMIT")
        try store.collection(Self.things).insertOne(["_id": 1])
        #expect(try store.collection(Self.things).find().count() == 1)
    }

    @Test func `a file that was deleted is missed, not made anew`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        for name in ["", "-wal", "-shm"] { StoreFile.remove(directory.file() + name) }
        for _ in 0..<3 {
            let error = #expect(throws: StoreError.self) {
                try store.collection(Self.things).insertOne(["_id": 1])
            }
            #expect(error?.code == .cannotOpen)
        }
        #expect(StoreFile.size(directory.file()) == nil)
    }
}
