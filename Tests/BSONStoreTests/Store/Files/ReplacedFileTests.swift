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

/// Without these a log would be written into a file that it does not belong to.
@Suite(.timeLimit(.minutes(30))) struct ReplacedFileTests {
    private static let things = Namespace("app", "things")

    private static func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path))
    }

    @Test(arguments: [true, false])
    func `a file that was put over an open one stays as it is`(writes: Bool) throws {
        let directory = try TemporaryDirectory()
        let (path, other) = (directory.file(), directory.file("other.store"))
        let store = try DocumentStore(at: .file(path))
        let things = store.collection(Self.things)
        try things.insertMany((0..<500).map { ["_id": .int32($0)] })
        let replacement = try DocumentStore(at: .file(other))
        try replacement.collection(Self.things).insertOne(["_id": "restored"])
        replacement.close()
        let before = try Self.bytes(other)
        #expect(rename(other, path) == 0)
        if writes {
            let error = #expect(throws: StoreError.self) { try things.insertOne(["_id": "new"]) }
            #expect(error?.code == .cannotOpen)
            #expect(error?.message.contains(path) == true)
            #expect(throws: StoreError.self) { try things.find().fetch() }
            #expect(throws: StoreError.self) { try store.checkpoint() }
        }
        store.close()
        #expect(try Self.bytes(path) == before)
        let again = try DocumentStore(at: .file(path))
        #expect(try again.collection(Self.things).find().fetch() == [["_id": "restored"]])
        #expect(try again.verify().faults.isEmpty)
    }

    @Test(arguments: [0, 8_192])
    func `a file that was cut under an open store ends it`(size: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file()
        let store = try DocumentStore(at: .file(path))
        let things = store.collection(Self.things)
        let text = BSONValue.string(String(repeating: "x", count: 1_000))
        try things.insertMany((0..<200).map { ["_id": .int32($0), "text": text] })
        try store.checkpoint()
        try things.insertOne(["_id": "seen"])
        #expect(truncate(path, off_t(size)) == 0)
        let error = #expect(throws: StoreError.self) { try things.insertOne(["_id": "new"]) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains(path) == true)
        #expect(throws: StoreError.self) { try things.find().fetch() }
        store.close()
        #expect(try Self.bytes(path).count == size)
    }

    @Test(arguments: ["cut", "cut to a part", "overwritten", "deleted", "replaced"])
    func `a log that was damaged under an open store ends it before a write`(how: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file()
        let log = path + "-wal"
        let store = try DocumentStore(at: .file(path))
        let things = store.collection(Self.things)
        try things.insertMany((0..<50).map { ["_id": .int32($0)] })
        try things.insertOne(["_id": "last"])
        let size = try Self.bytes(log).count
        switch how {
        case "cut": #expect(truncate(log, 0) == 0)
        case "cut to a part": #expect(truncate(log, off_t(size - 1)) == 0)
        case "overwritten":
            #expect(truncate(log, 0) == 0)
            #expect(truncate(log, off_t(size)) == 0)
        case "deleted": #expect(unlink(log) == 0)
        default:
            try Self.bytes(log).write(to: URL(fileURLWithPath: path + "-new"))
            #expect(rename(path + "-new", log) == 0)
        }
        for _ in 0..<3 {
            let error = #expect(throws: StoreError.self) { try things.insertOne(["_id": "new"]) }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains(log) == true)
        }
        #expect(throws: StoreError.self) { try things.find().fetch() }
        store.close()
    }

    @Test func `a log that is emptied, begun anew or shared is no damage`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file()
        let stores = try (0..<2).map { _ in try DocumentStore(at: .file(path)) }
        for round in Int32(0)..<40 {
            for (number, store) in stores.enumerated() {
                let id = round * 2 + Int32(number)
                try store.collection(Self.things).insertOne(["_id": .int32(id)])
                if round % 7 == Int32(number) { try store.checkpoint() }
            }
        }
        #expect(try stores[0].collection(Self.things).find().count() == 80)
        for store in stores { store.close() }
        let again = try DocumentStore(at: .file(path))
        #expect(try again.collection(Self.things).find().count() == 80)
        try again.collection(Self.things).insertOne(["_id": "more"])
    }

    @Test func `a look at a file without its log's index makes no file`() throws {
        let directory = try TemporaryDirectory()
        let (path, copy) = (directory.file(), directory.file("copy.store"))
        let store = try DocumentStore(at: .file(path))
        try store.collection(Self.things).insertOne(["_id": 1])
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
        }
        let before = try [Self.bytes(copy), Self.bytes(copy + "-wal")]
        var options = DocumentStore.Options(readOnly: true)
        options.leavesNoTrace = true
        let look = try DocumentStore(at: .file(copy), options: options)
        #expect(try look.collection(Self.things).find().fetch() == [["_id": 1]])
        #expect(try look.verify().faults.isEmpty)
        look.close()
        #expect(try [Self.bytes(copy), Self.bytes(copy + "-wal")] == before)
        #expect(StoreFile.size(copy + "-shm") == nil)
        store.close()
    }
}
