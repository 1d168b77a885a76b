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
    /// The number of chunks that a message of this version has at most.
    ///
    /// Each side holds several copies of a message at a time: the stored chunks, the command, and the
    /// bytes on the connection. So the size of a message decides how much memory a file needs.
    package static let chunksPerMessage = 4
    /// The number of chunks that a message of another version has at most.
    package static let chunksPerMessageMax = 16

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
        guard let last = try lastChunk(of: file, in: transaction) else { return .partial(0) }
        guard Self.isOf(place, last), let number = last["n"]?.int64Value else { return .foreign }
        return .partial(min((number + 1) * Int64(Self.chunkSize), place.attachment.length))
    }

    /// Returns a proof of a file's content, if these bytes make the file complete; else `nil`.
    ///
    /// It reads the whole file, so make it before the write transaction: other writers do not wait.
    ///
    /// - Parameter offset: the place of the bytes in the file.
    package func proof(
        completing bytes: [UInt8], at offset: Int64, of place: AttachmentPlace,
        in transaction: ReadTransaction
    ) throws -> AttachmentProof? {
        guard try state(of: place, in: transaction) == .partial(offset),
            let chunks = AttachmentChunks(bytes, at: offset, of: place), chunks.areLast
        else { return nil }
        let file = place.attachment.id
        var check = AttachmentCheck()
        try forEachChunk(of: file, 0...Int64.max, in: transaction) { check.add($0) }
        for chunk in chunks.documents { check.add(chunk) }
        return AttachmentProof(
            attachment: place.attachment, offset: offset,
            endIDs: try endChunkIDs(of: file, in: transaction),
            contentHash: SHA256.hash(bytes), isWhole: check.proves(place.attachment))
    }

    /// Stores bytes of a file that follow those that are stored; the last ones make the file complete.
    ///
    /// - Parameters:
    ///   - offset: the place of the bytes in the file. If other bytes are expected, nothing is stored.
    ///   - proof: of the content with these bytes. If it is missing, or the stored chunks are others
    ///     than when it was made, the whole file is read in the transaction.
    /// - Returns: the state afterwards. If the whole content does not have the reference's hash, its
    ///   chunks are removed, and the state is `.partial(0)`.
    package func put(
        _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace,
        proof: AttachmentProof? = nil, in transaction: WriteTransaction
    ) throws -> State {
        let state = try state(of: place, in: transaction)
        let attachment = place.attachment
        guard state == .partial(offset),
            let chunks = AttachmentChunks(bytes, at: offset, of: place)
        else { return state }
        let ends = try proof == nil ? [] : endChunkIDs(of: attachment.id, in: transaction)
        if offset == 0 { try createIndexes(in: transaction) }
        for chunk in chunks.documents { try transaction.insert(self.chunks, chunk) }
        guard chunks.areLast else { return .partial(chunks.end) }
        let isWhole: Bool
        if let proof, proof.isOf(attachment, bytes, at: offset, between: ends) {
            isWhole = proof.isWhole
        } else {
            var check = AttachmentCheck()
            try forEachChunk(of: attachment.id, 0...Int64.max, in: transaction) { check.add($0) }
            isWhole = check.proves(attachment)
        }
        guard isWhole else {
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
        var piece = AttachmentPiece(of: file, place, from: offset, count: count)
        guard let numbers = piece.numbers else { return [] }
        try forEachChunk(of: place.attachment.id, numbers, in: transaction) { try piece.add($0) }
        return try piece.whole()
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
    /// Other programs store the place in `metadata` as well; the hash is not theirs to know. A file
    /// that ``AttachmentSweep`` has claimed is not there any more, and not free for an upload either.
    package static func describes(_ file: BSONDocument, _ place: AttachmentPlace) -> Bool {
        guard let metadata = file["metadata"]?.documentValue, metadata["claimedAt"] == nil,
            metadata["collection"]?.stringValue?.hasSameBytes(as: place.namespace.collection)
                == true,
            let document = metadata["document"],
            BSONKey.encode(document) == BSONKey.encode(place.documentID),
            file["length"]?.int64Value == place.attachment.length
        else { return false }
        guard case .binary(let hash)? = metadata["sha256"] else { return true }
        return hash.bytes == place.attachment.sha256
    }

    /// The field of a chunk that tells whose document the file belongs to.
    package static let placeField = "place"

    /// Returns the mark of a place in the chunks of its file.
    ///
    /// Without it, a copy of the reference in another document could continue an upload, and get the
    /// file.
    package static func mark(of place: AttachmentPlace) -> BSONValue {
        let owner: BSONDocument = [
            "collection": .string(place.namespace.collection), "document": place.documentID,
        ]
        return .binary(BSONBinary(Array(SHA256.hash(BSONKey.encode(.document(owner))).prefix(16))))
    }

    /// Whether a chunk was stored for a place.
    package static func isOf(_ place: AttachmentPlace, _ chunk: BSONDocument) -> Bool {
        chunk[placeField] == mark(of: place)
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
        try transaction.createIndex(chunks, IndexDefinition(Self.chunksIndex))
        try transaction.createIndex(files, IndexDefinition(Self.filesIndex))
    }

    // MARK: - Chunks

    /// Returns the last chunk; they are stored in their order.
    private func lastChunk(
        of file: BSONObjectID, in transaction: ReadTransaction
    ) throws(StoreError) -> BSONDocument? {
        try transaction.find(
            chunks, filter: Filter(["files_id": .objectID(file)]),
            options: FindOptions(sort: SortOrder(["n": -1]), limit: 1)
        ).first
    }

    /// Returns the `_id`s of the first and the last chunk; the same chunks are stored as long as these
    /// are the same.
    ///
    /// Chunks have new ids each time they are stored, and are removed from the first on, or together.
    private func endChunkIDs(
        of file: BSONObjectID, in transaction: ReadTransaction
    ) throws -> [BSONValue] {
        var ids: [BSONValue] = []
        try forEachChunk(of: file, 0...0, in: transaction) { ids.append($0["_id"] ?? .null) }
        if let last = try lastChunk(of: file, in: transaction) { ids.append(last["_id"] ?? .null) }
        return ids
    }

    private func forEachChunk(
        of file: BSONObjectID, _ numbers: ClosedRange<Int64>, in transaction: ReadTransaction,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        let filter = try Filter(Self.chunksFilter(of: file, numbers))
        let options = try FindOptions(sort: SortOrder(["n": 1]))
        try transaction.forEach(chunks, filter: filter, options: options) { try body($0) }
    }

    private func removeChunks(of file: BSONObjectID, in transaction: WriteTransaction) throws {
        _ = try transaction.deleteMany(
            chunks, filter: Filter(["files_id": .objectID(file)]))
    }
}
