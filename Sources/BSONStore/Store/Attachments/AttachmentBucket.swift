internal import BSONCore

/// The files of a database in the format of GridFS: the bucket `attachments`, which any driver reads.
///
/// A file is `attachments.files` with `_id`, `length`, `chunkSize`, `uploadDate`, `filename` and
/// `metadata` (`collection`, `document`, `sha256`, `contentType`), and its chunks of 255 KiB in
/// `attachments.chunks`. The file's document is stored after its last chunk, so that nobody sees a part
/// of a file.
///
/// Source: the drivers' specification "GridFS".
package struct AttachmentBucket: Sendable {
    /// How much of a file is stored.
    package enum State: Sendable, Hashable {
        /// The number of bytes from the beginning that are stored.
        case partial(Int64)
        case complete
        /// Another document has a file with this `_id`, or the file's content is not the one that the
        /// reference names.
        case foreign
    }

    /// The number of bytes of a chunk; the last one of a file may be shorter.
    package static let chunkSize = 255 * 1_024
    /// The number of chunks that a message should have at most.
    package static let chunksPerMessage = 16

    package let database: String

    package init(database: String) { self.database = database }

    package var files: Namespace { Namespace(database, "attachments.files") }
    package var chunks: Namespace { Namespace(database, "attachments.chunks") }

    /// Returns how much of a file is stored.
    package func state(
        of place: AttachmentPlace, in transaction: ReadTransaction
    ) throws(StoreError) -> State {
        let file = place.attachment.id
        if let stored = try transaction.get(files, id: .objectID(file)) {
            return Self.describes(stored, place) ? .complete : .foreign
        }
        return .partial(
            min(
                try chunkCount(of: file, in: transaction) * Int64(Self.chunkSize),
                place.attachment.length))
    }

    /// Stores bytes of a file that follow those that are stored; the last ones make the file complete.
    ///
    /// - Parameter offset: the place of the bytes in the file. If other bytes are expected, nothing is
    ///   stored.
    /// - Returns: the state afterwards. If the whole content does not have the reference's hash, its
    ///   chunks are removed, and the state is `.partial(0)`.
    package func put(
        _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace,
        in transaction: WriteTransaction
    ) throws -> State {
        let state = try state(of: place, in: transaction)
        let attachment = place.attachment
        guard state == .partial(offset), offset + Int64(bytes.count) <= attachment.length else {
            return state
        }
        if offset == 0 { try createIndexes(in: transaction) }
        let isLast = offset + Int64(bytes.count) == attachment.length
        // Only whole chunks: a partial one in the middle could not be continued.
        let count = isLast ? bytes.count : bytes.count / Self.chunkSize * Self.chunkSize
        var next = Int32(clamping: offset / Int64(Self.chunkSize))
        for start in stride(from: 0, to: count, by: Self.chunkSize) {
            let end = min(start + Self.chunkSize, count)
            try transaction.insert(
                chunks,
                [
                    "_id": .objectID(BSONObjectID()), "files_id": .objectID(attachment.id),
                    "n": .int32(next), "data": .binary(BSONBinary(Array(bytes[start..<end]))),
                ])
            next += 1
        }
        guard isLast else { return .partial(offset + Int64(count)) }
        guard try hash(of: attachment.id, in: transaction) == attachment.sha256 else {
            try removeChunks(of: attachment.id, in: transaction)
            return .partial(0)
        }
        try transaction.insert(files, Self.file(place))
        return .complete
    }

    /// Reads bytes of a complete file; `nil` if it is not there, or belongs to another document.
    ///
    /// - Parameter count: the number of bytes; fewer are returned at the end of the file.
    package func read(
        _ place: AttachmentPlace, from offset: Int64, count: Int, in transaction: ReadTransaction
    ) throws -> [UInt8]? {
        guard try state(of: place, in: transaction) == .complete,
            let file = try transaction.get(files, id: .objectID(place.attachment.id))
        else { return nil }
        // A file of another program may have chunks of another size.
        let size = max(1, file["chunkSize"]?.int64Value ?? Int64(Self.chunkSize))
        let end = min(offset + Int64(count), place.attachment.length)
        guard offset >= 0, offset < end else { return [] }
        let (first, last) = (offset / size, (end - 1) / size)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(end - offset))
        var next = first
        try forEachChunk(of: place.attachment.id, from: first, through: last, in: transaction) {
            number, data in
            guard number == next else { throw Self.damaged(place) }
            let start = number * size
            let from = Int(max(offset - start, 0))
            let to = min(Int(end - start), data.count)
            guard from <= to else { throw Self.damaged(place) }
            bytes += data[from..<to]
            next += 1
        }
        guard Int64(bytes.count) == end - offset else { throw Self.damaged(place) }
        return bytes
    }

    /// Removes a file.
    package func remove(_ file: BSONObjectID, in transaction: WriteTransaction) throws {
        // The file first: nobody may see a part of it.
        try transaction.remove(files, id: .objectID(file))
        try removeChunks(of: file, in: transaction)
    }

    // MARK: - Documents

    /// Whether a file's document describes the file of a place.
    ///
    /// Other programs store the place in `metadata` as well; the hash is not theirs to know.
    package static func describes(_ file: BSONDocument, _ place: AttachmentPlace) -> Bool {
        guard let metadata = file["metadata"]?.documentValue,
            metadata["collection"]?.stringValue?.hasSameBytes(as: place.namespace.collection)
                == true,
            let document = metadata["document"],
            BSONKey.encode(document) == BSONKey.encode(place.documentID),
            file["length"]?.int64Value == place.attachment.length
        else { return false }
        guard case .binary(let hash)? = metadata["sha256"] else { return true }
        return hash.bytes == place.attachment.sha256
    }

    /// Returns the document of a complete file.
    package static func file(_ place: AttachmentPlace) -> BSONDocument {
        let attachment = place.attachment
        var metadata: BSONDocument = [
            "collection": .string(place.namespace.collection), "document": place.documentID,
            "sha256": .binary(BSONBinary(attachment.sha256)),
        ]
        if let type = attachment.contentType { metadata.append("contentType", .string(type)) }
        var file: BSONDocument = [
            "_id": .objectID(attachment.id), "length": .int64(attachment.length),
            "chunkSize": .int32(Int32(chunkSize)), "uploadDate": .datetime(.now),
        ]
        if let name = attachment.name { file.append("filename", .string(name)) }
        file.append("metadata", .document(metadata))
        return file
    }

    /// Creates the indexes that drivers create.
    private func createIndexes(in transaction: WriteTransaction) throws {
        try transaction.createIndex(
            chunks,
            IndexDefinition([
                "name": "files_id_1_n_1", "key": ["files_id": 1, "n": 1], "unique": true,
            ]))
        try transaction.createIndex(
            files,
            IndexDefinition([
                "name": "filename_1_uploadDate_1", "key": ["filename": 1, "uploadDate": 1],
            ]))
    }

    // MARK: - Chunks

    /// Returns the number of chunks, which are stored in their order.
    private func chunkCount(
        of file: BSONObjectID, in transaction: ReadTransaction
    ) throws(StoreError) -> Int64 {
        let last = try transaction.find(
            chunks, filter: Filter(["files_id": .objectID(file)]),
            options: FindOptions(sort: SortOrder(["n": -1]), limit: 1))
        return (last.first?["n"]?.int64Value ?? -1) + 1
    }

    private func forEachChunk(
        of file: BSONObjectID, from first: Int64, through last: Int64,
        in transaction: ReadTransaction, _ body: (Int64, [UInt8]) throws -> Void
    ) throws {
        let filter = try Filter([
            "files_id": .objectID(file),
            "n": ["$gte": .int64(first), "$lte": .int64(last)],
        ])
        let options = try FindOptions(sort: SortOrder(["n": 1]))
        try transaction.forEach(chunks, filter: filter, options: options) { chunk in
            guard let number = chunk["n"]?.int64Value, case .binary(let data)? = chunk["data"]
            else { throw StoreError(.corrupt, "a chunk of \(chunks) has no number or data") }
            try body(number, data.bytes)
        }
    }

    private func hash(of file: BSONObjectID, in transaction: ReadTransaction) throws -> [UInt8] {
        var digest = SHA256.Digest()
        try forEachChunk(of: file, from: 0, through: .max, in: transaction) { _, data in
            digest.add(data)
        }
        return digest.hash
    }

    private func removeChunks(of file: BSONObjectID, in transaction: WriteTransaction) throws {
        _ = try transaction.deleteMany(
            chunks, filter: Filter(["files_id": .objectID(file)]))
    }

    private static func damaged(_ place: AttachmentPlace) -> StoreError {
        StoreError(
            .corrupt,
            "the file \(place.attachment.id) of \(place.namespace) is damaged: a chunk is missing "
                + "or has another size")
    }
}
