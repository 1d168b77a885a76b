#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@testable import BSONCore
@testable import BSONStore

/// Without these a file could be read by others, taken for a store, or damaged without notice.
@Suite struct StoreFileTests {
    private static let things = Namespace("app", "things")

    @Test func `the file and its neighbours are for their owner only`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/new/deep/test.store"
        let store = try DocumentStore(at: .file(path))
        try store.write { try $0.insert(Self.things, ["_id": 1]) }
        for name in [path, path + "-wal", path + "-shm"] {
            #expect(try Self.mode(name) == 0o600, "\(name)")
        }
        #expect(try Self.mode(directory.path + "/new") == 0o700)
        #expect(try Self.mode(directory.path + "/new/deep") == 0o700)
        store.close()
    }

    @Test func `the file has the settings that were promised`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        let settings: [(String, Int64)] = [
            ("page_size", 8_192), ("synchronous", 2), ("trusted_schema", 0),
            ("cell_size_check", 1), ("temp_store", 2), ("cache_size", -65_536),
            ("user_version", StoreSchema.version), ("secure_delete", 2),
        ]
        for (name, value) in settings { #expect(try Self.setting(name, store) == value, "\(name)") }
        let normal = try DocumentStore(
            at: .file(directory.file()), options: .init(durability: .normal))
        #expect(try Self.setting("synchronous", normal) == 1)
        for (wanted, value) in [(DocumentStore.SecureDelete.off, Int64(0)), (.full, 1)] {
            let store = try DocumentStore(
                at: .file(directory.file()), options: .init(secureDelete: wanted))
            #expect(try Self.setting("secure_delete", store) == value)
        }
    }

    @Test func `what is deleted leaves the file where that is asked for`() throws {
        let directory = try TemporaryDirectory()
        let text = "gone with the wind"
        let path = directory.file()
        let store = try DocumentStore(at: .file(path), options: .init(secureDelete: .full))
        try store.write { transaction in
            for id in 0..<100 {
                let words = BSONValue.string(String(repeating: text, count: 20))
                try transaction.insert(Self.things, ["_id": .int32(Int32(id)), "a": words])
            }
        }
        try store.checkpoint()
        #expect(try Data(contentsOf: URL(filePath: path)).contains(text: text))
        try store.write { transaction in
            for id in 0..<100 { try transaction.remove(Self.things, id: .int32(Int32(id))) }
        }
        try store.checkpoint()
        #expect(try !Data(contentsOf: URL(filePath: path)).contains(text: text))
    }

    private static func setting(_ name: String, _ store: DocumentStore) throws -> Int64? {
        try store.write { try $0.connection.int64("PRAGMA \(name)") }
    }

    @Test func `a store reads what it wrote after it was closed`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        try store.write { try $0.insert(Self.things, ["_id": 1, "a": "x"]) }
        store.close()
        let error = #expect(throws: StoreError.self) { try store.read { _ in } }
        #expect(error?.code == .closed)
        #expect(throws: StoreError.self) { try store.write { _ in } }
        let again = try DocumentStore(at: .file(directory.file()))
        #expect(try again.collection(Self.things).findOne(id: 1) == ["_id": 1, "a": "x"])
    }

    @Test func `a file that is no database is refused and left alone`() throws {
        let directory = try TemporaryDirectory()
        let text = String(repeating: "this is no database. ", count: 500)
        try text.write(toFile: directory.file(), atomically: true, encoding: .utf8)
        let error = #expect(throws: StoreError.self) {
            try DocumentStore(at: .file(directory.file()))
        }
        #expect(error?.code == .notADatabase)
        #expect(try String(contentsOfFile: directory.file(), encoding: .utf8) == text)
    }

    @Test func `another application's database is refused and left alone`() throws {
        let directory = try TemporaryDirectory()
        try StoreFile.create(directory.file())
        do {
            let connection = try SQLiteConnection(path: directory.file(), mode: .readWrite)
            try connection.execute("CREATE TABLE theirs (x)")
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        let error = #expect(throws: StoreError.self) {
            try DocumentStore(at: .file(directory.file()))
        }
        #expect(error?.code == .notADatabase)
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file())) == before)
    }

    @Test(arguments: [false, true], [StoreSchema.version + 1, StoreSchema.version - 1, 1])
    func `a file of another schema is refused and left alone`(
        readOnly: Bool, version: Int64
    ) throws {
        let directory = try TemporaryDirectory()
        try DocumentStore(at: .file(directory.file())).close()
        do {
            let connection = try SQLiteConnection(path: directory.file(), mode: .readWrite)
            try connection.execute("PRAGMA user_version = \(version)")
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        let error = #expect(throws: StoreError.self) {
            try DocumentStore(at: .file(directory.file()), options: .init(readOnly: readOnly))
        }
        #expect(error?.code == (version > StoreSchema.version ? .newerSchema : .olderSchema))
        #expect(error?.message.contains("schema version \(version)") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file())) == before)
    }

    @Test func `a store that was opened for reading refuses to write`() throws {
        let directory = try TemporaryDirectory()
        let writer = try DocumentStore(at: .file(directory.file()))
        try writer.write { try $0.insert(Self.things, ["_id": 1]) }
        let reader = try DocumentStore(at: .file(directory.file()), options: .init(readOnly: true))
        #expect(reader.isReadOnly)
        #expect(try reader.collection(Self.things).find().count() == 1)
        let error = #expect(throws: StoreError.self) {
            try reader.write { try $0.insert(Self.things, ["_id": 2]) }
        }
        #expect(error?.code == .readOnly)
        writer.close()
        #expect(try reader.collection(Self.things).find().count() == 1)
    }

    @Test func `a file that is not there is not made by a store for reading`() throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: StoreError.self) {
            try DocumentStore(at: .file(directory.file()), options: .init(readOnly: true))
        }
        #expect(error?.code == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: directory.file()))
    }

    @Test func `a full disk refuses the write and keeps what was there`() throws {
        let directory = try TemporaryDirectory()
        var options = DocumentStore.Options()
        options.pagesMax = 40
        let store = try DocumentStore(at: .file(directory.file()), options: options)
        let text = BSONValue.string(String(repeating: "x", count: 5_000))
        try store.write { try $0.insert(Self.things, ["_id": 0, "text": text]) }
        let error = #expect(throws: StoreError.self) {
            try store.write { transaction in
                for id in 1..<200 {
                    try transaction.insert(Self.things, ["_id": .int32(Int32(id)), "text": text])
                }
            }
        }
        #expect(error?.code == .diskFull)
        #expect(try store.collection(Self.things).find().count() == 1)
        try store.write { try $0.put(Self.things, ["_id": 0]) }
        #expect(try store.collection(Self.things).find().first() == ["_id": 0])
    }

    @Test func `a damaged document is named and the others stay usable`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        let things = store.collection(Self.things)
        try things.insertMany([["_id": "a"], ["_id": "b"], ["_id": "c"]])
        try store.write { transaction in
            try transaction.connection.execute(
                "UPDATE collection_1 SET doc = x'0F000000' WHERE id = 2")
        }
        let error = #expect(throws: StoreError.self) { try things.find().fetch() }
        #expect(error?.code == .corrupt)
        #expect(error?.documentID == "b")
        #expect(error?.namespace == Self.things)
        #expect(throws: StoreError.self) { try things.findOne(id: "b") }
        #expect(try things.findOne(id: "c") == ["_id": "c"])
    }

    @Test func `a collection's damaged UUID is named`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        try store.collection(Self.things).insertOne(["_id": "a"])
        try store.write { transaction in
            try transaction.connection.execute("UPDATE store_options SET uuid = x'01'")
        }
        let error = #expect(throws: StoreError.self) { try store.listCollections("app") }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("UUID") == true)
    }

    @Test func `a damaged page is reported, never taken for data`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        let text = BSONValue.string(String(repeating: "x", count: 1_000))
        try store.collection(Self.things).insertMany(
            (0..<100).map { ["_id": .int32($0), "text": text] })
        store.close()
        let url = URL(fileURLWithPath: directory.file())
        var image = try Data(contentsOf: url)
        // The header of every page but the first says how its cells lie.
        for page in stride(from: 8_192, to: image.count, by: 8_192) {
            for offset in 0..<8 { image[page + offset] = 0xFF }
        }
        try image.write(to: url)
        let error = #expect(throws: StoreError.self) {
            let damaged = try DocumentStore(at: .file(directory.file()))
            _ = try damaged.collection(Self.things).find().fetch()
        }
        #expect(error?.code == .corrupt)
    }

    private static func mode(_ path: String) throws -> mode_t {
        var status = stat()
        #expect(stat(path, &status) == 0)
        return status.st_mode & 0o777
    }
}

extension Data {
    /// Whether the bytes of a text stand somewhere.
    fileprivate func contains(text: String) -> Bool {
        String(decoding: self, as: UTF8.self).contains(text)
    }
}
