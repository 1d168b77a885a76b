/// A part of a complete file, put together from the file's chunks.
package struct AttachmentPiece {
    /// The numbers of the chunks that hold the part; `nil` for an empty part.
    package let numbers: ClosedRange<Int64>?
    private let place: AttachmentPlace
    private let size: Int64
    private let range: Range<Int64>
    private var next: Int64
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - file: the file's document in GridFS.
    ///   - count: the number of bytes; the part has fewer at the end of the file.
    package init(
        of file: BSONDocument, _ place: AttachmentPlace, from offset: Int64, count: Int
    ) {
        self.place = place
        // A file of another program may have chunks of another size.
        size = max(1, file["chunkSize"]?.int64Value ?? Int64(AttachmentBucket.chunkSize))
        let length = place.attachment.length
        let start = min(max(offset, 0), length)
        range = start..<(start + min(Int64(max(count, 0)), length - start))
        next = start / size
        numbers = range.isEmpty ? nil : next...(range.upperBound - 1) / size
    }

    /// Whether all chunks were added.
    package var isWhole: Bool { Int64(bytes.count) == range.upperBound - range.lowerBound }

    /// The number of the chunk to add next.
    package var nextNumber: Int64 { next }

    /// Adds the next chunk.
    ///
    /// - Throws: `corrupt` for another one.
    package mutating func add(_ chunk: BSONDocument) throws(StoreError) {
        guard chunk["n"]?.int64Value == next, case .binary(let data)? = chunk["data"] else {
            throw damage
        }
        let start = next * size
        let from = Int(max(range.lowerBound - start, 0))
        let to = min(Int(range.upperBound - start), data.bytes.count)
        guard from <= to else { throw damage }
        bytes += data.bytes[from..<to]
        next += 1
    }

    /// Returns the bytes.
    ///
    /// - Throws: `corrupt` when some are missing.
    package func whole() throws(StoreError) -> [UInt8] {
        guard isWhole else { throw damage }
        return bytes
    }

    private var damage: StoreError {
        StoreError(
            .corrupt,
            "the file \(place.attachment.id) of \(place.namespace) is damaged: a chunk is missing "
                + "or has another size")
    }
}

/// The chunks in which bytes of a file are stored.
package struct AttachmentChunks {
    /// The documents in the collection of chunks.
    package let documents: [BSONDocument]
    /// The number of bytes of the file up to the end of these chunks.
    package let end: Int64
    /// Whether the file ends with them.
    package let areLast: Bool

    /// Cuts bytes; returns `nil` for more bytes than the file has.
    ///
    /// Only whole chunks are stored before the end of the file, since another one could not be
    /// continued.
    ///
    /// - Parameters:
    ///   - offset: the place of the bytes, which begins a chunk, or is the file's end.
    ///   - file: the `_id` of the file, one of ``AttachmentSpot/ids(of:)``.
    package init?(
        _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace, in file: BSONValue
    ) {
        let attachment = place.attachment
        let size = AttachmentBucket.chunkSize
        let length = attachment.length
        guard offset >= 0, offset <= length, Int64(bytes.count) <= length - offset else {
            return nil
        }
        areLast = Int64(bytes.count) == length - offset
        let count = areLast ? bytes.count : bytes.count / size * size
        end = offset + Int64(count)
        let first = offset / Int64(size)
        let mark = AttachmentBucket.mark(of: place)
        documents = stride(from: 0, to: count, by: size).map { start in
            [
                "_id": .objectID(BSONObjectID()), "files_id": file,
                "n": .int32(Int32(clamping: first + Int64(start / size))),
                "data": .binary(BSONBinary(Array(bytes[start..<min(start + size, count)]))),
                AttachmentBucket.placeField: mark,
            ]
        }
    }
}

/// The check that the stored chunks of a file are the content to which a reference refers.
package struct AttachmentCheck {
    private var digest = SHA256.Digest()
    private var length: Int64 = 0
    private var next: Int64 = 0
    private var isDamaged = false
    /// The `_id`s of the chunks so far.
    package private(set) var chunkIDs: [BSONValue] = []

    package init() {}

    /// The number of the chunk to add next.
    package var nextNumber: Int64 { next }

    /// Adds the next chunk.
    package mutating func add(_ chunk: BSONDocument) {
        chunkIDs.append(chunk["_id"] ?? .null)
        guard let number = chunk["n"]?.int64Value, case .binary(let data)? = chunk["data"] else {
            isDamaged = true
            return
        }
        isDamaged = isDamaged || number != next
        next = max(next, number) + 1
        length += Int64(data.bytes.count)
        digest.add(data.bytes)
    }

    /// Whether the chunks are the whole content.
    package func proves(_ attachment: Attachment) -> Bool {
        !isDamaged && length == attachment.length && digest.hash == attachment.sha256
    }
}

/// The result of reading a whole file before its last bytes are stored.
package struct AttachmentProof: Sendable {
    let attachment: Attachment
    let offset: Int64
    /// The `_id`s of the first and the last chunk that were stored.
    let endIDs: [BSONValue]
    /// The hash of the bytes that are to be stored.
    let contentHash: [UInt8]
    /// Whether the content is the one to which the reference refers.
    package let isWhole: Bool

    /// Whether the proof is about these bytes after the chunks between those with two `_id`s.
    func isOf(
        _ attachment: Attachment, _ bytes: [UInt8], at offset: Int64, between endIDs: [BSONValue]
    ) -> Bool {
        self.attachment == attachment && self.offset == offset && self.endIDs == endIDs
            && contentHash == SHA256.hash(bytes)
    }
}
