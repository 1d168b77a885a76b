import Foundation
import Testing

@testable import BSONStore

/// What an encrypted file must not do: show a word of a document, open with another key, or not open
/// with its own; `make test-encrypted` runs it with SQLCipher.
@Suite(.enabled(if: LinkedLibrary.encrypts || LinkedLibrary.mustEncrypt)) struct EncryptionTests {
    private static let marker = "a word that nobody may read"
    private let key = [UInt8](repeating: 7, count: 32)
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: [1_024, 4_096, 8_192, 65_536])
    func `an encrypted store opens with its key, whatever its pages, and shows nothing`(
        pageBytes: Int
    ) throws {
        let options = StoreOptions(pageBytes: pageBytes, encryptionKey: key)
        let store = try DocumentStore(at: .file(directory.file()), options: options)
        let things = store.collection(Namespace("app", "things"))
        for number in 0..<500 as Range<Int32> {
            try things.insertOne(["_id": .int32(number), "text": .string(Self.marker)])
        }
        #expect(try things.find().count() == 500)
        try expectNothingReadable()
        try store.checkpoint()
        try store.compact()
        try store.backup(to: directory.file("copy"))
        #expect(try store.verify().isSound)
        store.close()
        try expectNothingReadable()
        for name in ["store", "copy"] {
            let path = name == "copy" ? directory.file("copy") : directory.file()
            for readOnly in [false, true] {
                var options = options
                options.readOnly = readOnly
                let store = try DocumentStore(at: .file(path), options: options)
                #expect(try store.collection(Namespace("app", "things")).find().count() == 500)
                store.close()
            }
        }
    }

    @Test func `another key, none, or a key for a plain file is an error, and changes nothing`()
        throws
    {
        try make(key)
        let before = try Data(contentsOf: URL(filePath: directory.file()))
        for wrong in [[UInt8](repeating: 8, count: 32), nil] {
            #expect(code(wrong) == .notADatabase)
        }
        #expect(code([1, 2, 3]) == .invalidOptions)
        #expect(try Data(contentsOf: URL(filePath: directory.file())) == before)
        #expect(code(key) == nil)
    }

    @Test func `a changed key opens the store, and the old one no longer`() throws {
        try make(key)
        let new = [UInt8](repeating: 9, count: 32)
        // While a store has it open, it cannot be changed.
        let open = try DocumentStore(
            at: .file(directory.file()), options: .init(encryptionKey: key))
        _ = try open.collection(Namespace("app", "things")).find().count()
        #expect(throws: StoreError.self) {
            try DocumentStore.changeKey(ofFileAt: directory.file(), from: key, to: new)
        }
        open.close()
        #expect(throws: StoreError.self) {
            try DocumentStore.changeKey(ofFileAt: directory.file(), from: new, to: new)
        }
        for _ in 0..<2 {
            try DocumentStore.changeKey(ofFileAt: directory.file(), from: key, to: new)
        }
        #expect(code(key) == .notADatabase)
        #expect(code(new) == nil)
        try expectNothingReadable()
    }

    @Test func `a process that ends before the checkpoint of a changed key leaves the new one`()
        throws
    {
        try make(key)
        let new = [UInt8](repeating: 9, count: 32)
        let connection = try SQLiteConnection(path: directory.file(), mode: .readWrite)
        try connection.unlock(key, pageBytes: 8_192)
        try connection.changeKey(to: new)
        let copy = directory.file("copy")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: directory.file() + suffix, toPath: copy + suffix)
        }
        #expect(StoreFile.size(copy + "-wal") ?? 0 > 0)
        try DocumentStore.changeKey(ofFileAt: copy, from: key, to: new)
        #expect(code(key, at: copy) == .notADatabase)
        #expect(code(new, at: copy) == nil)
    }

    private func make(_ key: [UInt8]) throws {
        let path = directory.file()
        let store = try DocumentStore(at: .file(path), options: .init(encryptionKey: key))
        try store.collection(Namespace("app", "things")).insertOne([
            "_id": 1, "text": .string(Self.marker),
        ])
        store.close()
    }

    /// The error of opening with a key.
    private func code(_ key: [UInt8]?, at path: String? = nil) -> StoreError.Code? {
        do {
            let store = try DocumentStore(
                at: .file(path ?? directory.file()), options: .init(encryptionKey: key))
            defer { store.close() }
            let found = try store.collection(Namespace("app", "things")).find().fetch()
            #expect(found.map { $0["text"]?.stringValue } == [Self.marker])
            #expect(try store.verify().isSound)
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    private func expectNothingReadable() throws {
        let folder = URL(filePath: directory.file()).deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.isEmpty)
        for name in names {
            let bytes = try Data(contentsOf: folder.appending(path: name))
            #expect(bytes.range(of: Data(Self.marker.utf8)) == nil, "\(name)")
            #expect(bytes.range(of: Data("SQLite format".utf8)) == nil, "\(name)")
        }
    }
}

/// The SQLite that the tests are linked with.
enum LinkedLibrary {
    /// Whether the tests of encryption fail without SQLCipher, instead of being skipped.
    static let mustEncrypt =
        ProcessInfo.processInfo.environment["STITCHSYNC_TEST_ENCRYPTED"] != nil
    /// Whether it is SQLCipher.
    static let encrypts: Bool = {
        do {
            return try SQLiteConnection(path: ":memory:", mode: .readWrite).isEncrypting()
        } catch {
            return false
        }
    }()
}
