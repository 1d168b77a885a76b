import BSONStore
import Testing

/// A file that nobody can reach fills the disk, and one that is removed too early is lost.
@Suite struct AttachmentSweepTests {
    private static let todos = Namespace("app", "todos")
    private static let bucket = AttachmentBucket(database: "app")
    private static let start = BSONDatetime(milliseconds: 1_000_000_000_000)

    private static func later(_ milliseconds: Int64) -> BSONDatetime {
        BSONDatetime(milliseconds: start.milliseconds + milliseconds)
    }

    private static func counts(
        marked: Int = 0, unmarked: Int = 0, files: Int = 0, chunks: Int = 0
    ) -> AttachmentSweep<StoredAttachments>.Counts {
        var counts = AttachmentSweep<StoredAttachments>.Counts()
        (counts.marked, counts.unmarked) = (marked, unmarked)
        (counts.removedFiles, counts.removedChunks) = (files, chunks)
        return counts
    }

    @Test func `a file is removed an hour after the last reference`() throws {
        let store = try DocumentStore(at: .inMemory)
        let bytes = [UInt8](repeating: 1, count: AttachmentBucket.chunkSize + 1)
        let photo = BSONStore.Attachment(
            id: BSONObjectID(), sha256: SHA256.hash(bytes), length: Int64(bytes.count))
        let place = AttachmentPlace(Self.todos, documentID: 1, photo)
        let document: BSONDocument = ["_id": 1, "photo": photo.bsonValue]
        try store.write { transaction in
            try transaction.insert(Self.todos, document)
            _ = try Self.bucket.put(bytes, at: 0, of: place, in: transaction)
            try transaction.insert(Self.bucket.files, ["_id": "of another program"])
        }
        let files = StoredAttachments(store)
        #expect(try files.sweep(now: Self.start) == Self.counts())
        try store.write { try $0.remove(Self.todos, id: 1) }
        #expect(try files.sweep(now: Self.start) == Self.counts(marked: 1))
        #expect(try files.sweep(now: Self.later(3_599_999)) == Self.counts())
        try store.write { try $0.insert(Self.todos, document) }
        #expect(try files.sweep(now: Self.later(3_600_000)) == Self.counts(unmarked: 1))
        try store.write { try $0.put(Self.todos, ["_id": 1]) }
        #expect(try files.sweep(now: Self.start) == Self.counts(marked: 1))
        #expect(
            try files.sweep(now: Self.later(3_600_000)) == Self.counts(files: 1, chunks: 2))
        #expect(try files.sweep(now: Self.later(3_600_000)) == Self.counts())
        #expect(try store.read { try $0.find(Self.bucket.files).count } == 1)
    }

    @Test func `the chunks of an upload are removed a day after the last one`() throws {
        let store = try DocumentStore(at: .inMemory)
        let bytes = [UInt8](repeating: 1, count: AttachmentBucket.chunkSize)
        let photo = BSONStore.Attachment(
            id: BSONObjectID(), sha256: SHA256.hash(bytes), length: Int64(bytes.count + 1))
        let place = AttachmentPlace(Self.todos, documentID: 1, photo)
        try store.write { transaction in
            _ = try Self.bucket.put(bytes, at: 0, of: place, in: transaction)
        }
        let files = StoredAttachments(store)
        let now = BSONDatetime.now.milliseconds
        #expect(try files.sweep(now: BSONDatetime(milliseconds: now)) == Self.counts())
        #expect(
            try files.sweep(now: BSONDatetime(milliseconds: now + 86_460_000))
                == Self.counts(chunks: 1))
    }
}
