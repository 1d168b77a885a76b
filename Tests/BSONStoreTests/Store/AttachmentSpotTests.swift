import BSONStore
import Testing

/// Whoever reads a reference may copy its id: that must not keep the file from being stored.
@Suite struct AttachmentSpotTests {
    private static let todos = Namespace("app", "todos")
    private static let bucket = AttachmentBucket(database: "app")
    private static let whole = [UInt8](repeating: 7, count: AttachmentBucket.chunkSize + 1)

    private static func place(
        _ document: BSONValue, _ bytes: [UInt8], id: BSONObjectID
    ) -> AttachmentPlace {
        AttachmentPlace(
            todos, documentID: document,
            BSONStore.Attachment(id: id, sha256: SHA256.hash(bytes), length: Int64(bytes.count)))
    }

    private static func store(_ places: [AttachmentPlace]) throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        try store.write { transaction in
            for place in places {
                try transaction.put(
                    todos, ["_id": place.documentID, "photo": place.attachment.bsonValue])
            }
        }
        return store
    }

    private static func put(
        _ bytes: [UInt8], at offset: Int64 = 0, of place: AttachmentPlace, _ store: DocumentStore
    ) throws -> AttachmentBucket.State {
        let proof = try store.read {
            try bucket.proof(completing: bytes, at: offset, of: place, in: $0)
        }
        return try store.write {
            try bucket.put(bytes, at: offset, of: place, proof: proof, in: $0)
        }
    }

    private static func state(
        _ place: AttachmentPlace, _ store: DocumentStore
    ) throws -> AttachmentBucket.State {
        try store.read { try bucket.state(of: place, in: $0) }
    }

    private static func read(_ place: AttachmentPlace, _ store: DocumentStore) throws -> [UInt8]? {
        try store.read { try bucket.read(place, from: 0, count: .max, in: $0) }
    }

    /// Sweeps twice, an hour apart, and returns the number of removed files.
    private static func sweep(_ store: DocumentStore) throws -> Int {
        let now = BSONDatetime.now.milliseconds
        let hours = [0, 4_000_000] as [Int64]
        return try hours.reduce(0) { sum, later in
            let time = BSONDatetime(milliseconds: now + later)
            return sum + (try StoredAttachments(store).sweep(now: time).removedFiles)
        }
    }

    @Test(
        "a file is stored although another document's file has its id",
        arguments: [[9], whole.map { $0 + 1 }])
    func otherContent(content: [UInt8]) throws {
        let id = BSONObjectID()
        let (own, other) = (Self.place(1, Self.whole, id: id), Self.place(2, content, id: id))
        let store = try Self.store([own, other])
        #expect(try Self.put(content, of: other, store) == .complete)
        #expect(try Self.state(own, store) == .partial(0))
        #expect(try Self.put(Self.whole, of: own, store) == .complete)
        #expect(try Self.state(own, store) == .complete)
        #expect(try Self.read(own, store) == Self.whole && Self.read(other, store) == content)
        // Both are referred to; each goes with its own reference.
        #expect(try Self.sweep(store) == 0)
        try store.write { _ = try $0.remove(Self.todos, id: 2) }
        #expect(try Self.sweep(store) == 1)
        #expect(try Self.read(own, store) == Self.whole)
        #expect(try Self.state(own, store) == .complete)
        try store.write { _ = try $0.remove(Self.todos, id: 1) }
        #expect(try Self.sweep(store) == 1)
        let left = try store.read { transaction in
            try transaction.count(Self.bucket.files) + transaction.count(Self.bucket.chunks)
        }
        #expect(left == 0)
    }

    @Test("a file is stored although another document's upload with its id never ends")
    func otherUpload() throws {
        let id = BSONObjectID()
        let (own, other) = (Self.place(1, Self.whole, id: id), Self.place(2, Self.whole, id: id))
        let store = try Self.store([own, other])
        let size = AttachmentBucket.chunkSize
        let first = Array(Self.whole.prefix(size))
        #expect(try Self.put(first, of: other, store) == .partial(Int64(size)))
        #expect(try Self.put(first, of: own, store) == .partial(Int64(size)))
        #expect(try Self.state(own, store) == .partial(Int64(size)))
        let end = Array(Self.whole.suffix(1))
        #expect(try Self.put(end, at: Int64(size), of: own, store) == .complete)
        #expect(try Self.read(own, store) == Self.whole)
        #expect(try Self.read(other, store) == nil)
    }

    @Test("a copy of a reference is another document's file, and is not stored twice")
    func copy() throws {
        let id = BSONObjectID()
        let (own, copy) = (Self.place(1, Self.whole, id: id), Self.place(2, Self.whole, id: id))
        let store = try Self.store([own, copy])
        #expect(try Self.put(Self.whole, of: own, store) == .complete)
        #expect(try Self.state(copy, store) == .foreign)
        #expect(try Self.put(Self.whole, of: copy, store) == .foreign)
        #expect(try Self.read(copy, store) == nil)
    }
}
