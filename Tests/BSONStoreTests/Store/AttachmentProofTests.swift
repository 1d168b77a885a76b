import BSONStore
import Testing

/// The check of a file before the write must not let another content in than the check after it.
@Suite struct AttachmentProofTests {
    private static let size = AttachmentBucket.chunkSize
    private let store: DocumentStore
    private let bucket = AttachmentBucket(database: "app")
    private static let head = [UInt8](repeating: 7, count: 2 * size)
    private static let tail = [UInt8](repeating: 9, count: 10)

    init() throws { store = try DocumentStore(at: .inMemory) }

    private static func place(_ content: [UInt8]) -> AttachmentPlace {
        AttachmentPlace(
            Namespace("app", "todos"), documentID: 1,
            Attachment(
                id: BSONObjectID(), sha256: SHA256.hash(content), length: Int64(content.count)))
    }

    private func proof(
        _ bytes: [UInt8], at offset: Int, of place: AttachmentPlace
    ) throws -> AttachmentProof? {
        try store.read {
            try bucket.proof(completing: bytes, at: Int64(offset), of: place, in: $0)
        }
    }

    private func put(
        _ bytes: [UInt8], at offset: Int, of place: AttachmentPlace, _ proof: AttachmentProof?
    ) throws -> AttachmentBucket.State {
        try store.write {
            try bucket.put(bytes, at: Int64(offset), of: place, proof: proof, in: $0)
        }
    }

    @Test func `a proof is made for the last bytes only, and completes the file`() throws {
        let place = Self.place(Self.head + Self.tail)
        #expect(try proof(Self.head, at: 0, of: place) == nil)
        #expect(try proof(Self.tail, at: Self.head.count, of: place) == nil)
        #expect(try put(Self.head, at: 0, of: place, nil) == .partial(Int64(Self.head.count)))
        let proof = try #require(try proof(Self.tail, at: Self.head.count, of: place))
        #expect(proof.isWhole)
        #expect(try put(Self.tail, at: Self.head.count, of: place, proof) == .complete)
        for content in [[], Self.tail] {
            let small = Self.place(content)
            let proof = try #require(try self.proof(content, at: 0, of: small))
            #expect(proof.isWhole)
            #expect(try put(content, at: 0, of: small, proof) == .complete)
        }
    }

    @Test func `a wrong content is removed`() throws {
        let place = Self.place(Self.head + Self.tail)
        let wrong = Self.tail.map { $0 + 1 }
        _ = try put(Self.head, at: 0, of: place, nil)
        let proof = try #require(try proof(wrong, at: Self.head.count, of: place))
        #expect(!proof.isWhole)
        #expect(try put(wrong, at: Self.head.count, of: place, proof) == .partial(0))
        #expect(try store.read { try $0.find(bucket.chunks, filter: Filter([:])) }.isEmpty)
    }

    @Test func `a proof of other chunks or bytes does not count`() throws {
        let place = Self.place(Self.head + Self.tail)
        let other = [UInt8](repeating: 8, count: Self.head.count)
        _ = try put(Self.head, at: 0, of: place, nil)
        let proof = try #require(try proof(Self.tail, at: Self.head.count, of: place))
        // Removed and sent again with another content meanwhile.
        try store.write { try bucket.remove(place.attachment.id, in: $0) }
        _ = try put(other, at: 0, of: place, nil)
        #expect(try put(Self.tail, at: Self.head.count, of: place, proof) == .partial(0))
        // The first chunks were removed meanwhile, as the hourly removal does.
        _ = try put(Self.head, at: 0, of: place, nil)
        let second = try #require(try self.proof(Self.tail, at: Self.head.count, of: place))
        try store.write { _ = try $0.deleteMany(bucket.chunks, filter: Filter(["n": 0])) }
        #expect(try put(Self.tail, at: Self.head.count, of: place, second) == .partial(0))
        // Other bytes than those of the proof.
        _ = try put(Self.head, at: 0, of: place, nil)
        let third = try #require(try self.proof(Self.tail, at: Self.head.count, of: place))
        let wrong = Self.tail.map { $0 + 1 }
        #expect(try put(wrong, at: Self.head.count, of: place, third) == .partial(0))
    }
}
