#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a bit that tips in a document's text would be believed, kept by the next change and sent.
@Suite struct ChecksumTests {
    private static let things = Namespace("app", "things")

    private static func document(_ id: Int32) -> BSONDocument {
        ["_id": .int32(id), "text": .string("needle \(id) in the hay"), "n": .int32(id)]
    }

    /// A closed store of 20 documents; in the file one character of one of them is another.
    private static func damaged(_ directory: TemporaryDirectory, id: Int32) throws {
        let store = try DocumentStore(at: .file(directory.file()))
        try store.collection(things).insertMany((0..<20).map(document))
        store.close()
        try flip("needle \(id) in", directory.file())
    }

    /// Makes the first character of a text in a file another one.
    private static func flip(_ text: String, _ path: String) throws {
        let url = URL(fileURLWithPath: path)
        var image = try Data(contentsOf: url)
        let place = try #require(image.firstRange(of: Data(text.utf8)))
        image[place.lowerBound] ^= 1
        try image.write(to: url)
    }

    private static func unknown(_ store: DocumentStore) throws -> Int64? {
        try store.read {
            try $0.connection.int64("SELECT count(*) FROM collection_1 WHERE checksum IS NULL")
        }
    }

    @Test func `one character that tipped in the file is found and named`() throws {
        let directory = try TemporaryDirectory()
        try Self.damaged(directory, id: 7)
        let store = try DocumentStore(at: .file(directory.file()))
        let things = store.collection(Self.things)
        // A read by itself does not see it.
        #expect(try things.findOne(id: 7)?["text"] == "oeedle 7 in the hay")
        let report = try store.verify()
        #expect(report.faults.map(\.place) == [.document])
        #expect(report.faults.map(\.documentID) == [7])
        #expect(report.faults.first?.namespace == Self.things)
        #expect(report.faults.first?.message.contains("checksum") == true)
        #expect(try store.quarantine() == report)
        #expect(try store.verify().isSound)
        try things.insertOne(Self.document(7))
        #expect(try store.verify().isSound && things.find().count() == 20)
    }

    @Test func `no change covers it, and it does not leave for another store`() throws {
        let directory = try TemporaryDirectory()
        try Self.damaged(directory, id: 7)
        let store = try DocumentStore(at: .file(directory.file()))
        let things = store.collection(Self.things)
        let writes: [() throws -> Void] = [
            { try things.updateOne(["_id": 7], ["$set": ["n": 1]]) },
            { try things.updateMany(["n": 7], ["$inc": ["n": 1]]) },
            { try things.replaceOne(["n": 7], ["n": 9]) },
            { _ = try store.write { try $0.put(Self.things, Self.document(7)) } },
        ]
        for write in writes {
            let error = #expect(throws: StoreError.self) { try write() }
            #expect(error?.code == .corrupt && error?.documentID == 7)
            #expect(error?.namespace == Self.things)
        }
        for ids in [[7], (0..<20).map(BSONValue.int32)] as [[BSONValue]] {
            let error = #expect(throws: StoreError.self) {
                try store.write {
                    try $0.getFirstChecked(Self.things, ids: ids, bytesMax: .max)
                }
            }
            #expect(error?.code == .corrupt && error?.documentID == 7)
        }
        #expect(try store.verify().faults.map(\.documentID) == [7])
        let others = try store.write {
            try $0.getFirstChecked(Self.things, ids: [6, 99, 8], bytesMax: .max)
        }
        #expect(others == [Self.document(6), nil, Self.document(8)])
        try things.updateOne(["_id": 6], ["$set": ["n": 1]])
        #expect(try things.deleteOne(["_id": 7]) == 1)
        #expect(try store.verify().isSound)
    }

    @Test func `every way of writing keeps the checksum, and so do copies`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(directory.file()), options: .init(changeHistory: .keep(changesMax: 100)))
        let things = store.collection(Self.things)
        try things.insertMany((0..<12).map(Self.document))
        try store.write { transaction in
            try transaction.insertBatch(Self.things, (20..<35).map(Self.document))
            try transaction.put(Self.things, Self.document(50))
            try transaction.put(Self.things, ["_id": 50, "n": 51])
            try transaction.put(Self.things, ["_id": 50, "n": 52, "m": 1])
        }
        try things.updateMany(["n": ["$lt": 5]], ["$set": ["text": "other"]])
        try things.updateMany(["n": ["$lt": 5]], ["$inc": ["n": 1]])
        try things.updateOne(["_id": 60], ["$set": ["n": 1]], upsert: true)
        try things.replaceOne(["_id": 3], ["a": 1])
        #expect(try store.verify().isSound)
        #expect(try Self.unknown(store) == 0)
        try store.backup(to: directory.file("copy.store"))
        try store.compact()
        #expect(try store.verify().isSound)
        #expect(try Self.unknown(store) == 0)
        let copy = try DocumentStore(at: .file(directory.file("copy.store")))
        #expect(try copy.verify().isSound)
        #expect(try Self.unknown(copy) == 0)
        copy.close()
        try Self.flip("needle 22 in", directory.file("copy.store"))
        let again = try DocumentStore(at: .file(directory.file("copy.store")))
        #expect(try again.verify().faults.contains { $0.documentID == 22 })
    }

    @Test func `the checksum is the same with and without the processor's help`() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 151 ^ $0 >> 3) }
        bytes.withUnsafeBytes { bytes in
            for start in 0..<9 {
                for end in start...bytes.count {
                    let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                    #expect(CRC32C.checksum(part) == CRC32C.byTables(part))
                }
            }
        }
        let known = Array("123456789".utf8).withUnsafeBytes { CRC32C.byTables($0) }
        #expect(known == 0xE306_9283)
    }
}
