internal import BSONCore

/// The files of a database in the format of GridFS: the bucket `attachments`, which any driver reads.
///
/// A file is `attachments.files` with `_id` (``AttachmentSpot``), `length`, `chunkSize`, `uploadDate`,
/// `filename` and `metadata` (`collection`, `document`, `sha256`, `contentType`), and its chunks of 255 KiB in
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
        /// The reference is a copy of that to another document's file, or the file is being removed.
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
        try standing(of: place, in: transaction).state
    }

    /// Returns how much of a file is stored, and the `_id` by which it is.
    private func standing(
        of place: AttachmentPlace, in transaction: ReadTransaction
    ) throws(StoreError) -> (state: State, id: BSONValue) {
        switch try spot(of: place, in: transaction) {
        case .complete(let file): return (.complete, file["_id"] ?? .null)
        case .open(let ids):
            for id in ids {
                guard let last = try lastChunk(of: id, in: transaction) else {
                    return (.partial(0), id)
                }
                guard Self.isOf(place, last), let number = last["n"]?.int64Value else { continue }
                let count = min((number + 1) * Int64(Self.chunkSize), place.attachment.length)
                return (.partial(count), id)
            }
            return (.foreign, .null)
        }
    }

    private func spot(
        of place: AttachmentPlace, in transaction: ReadTransaction
    ) throws(StoreError) -> AttachmentSpot {
        var found: [BSONDocument] = []
        for id in AttachmentSpot.ids(of: place) {
            if let file = try transaction.get(files, id: id) { found.append(file) }
        }
        return AttachmentSpot(of: place, among: found)
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
        let (state, file) = try standing(of: place, in: transaction)
        guard state == .partial(offset),
            let chunks = AttachmentChunks(bytes, at: offset, of: place, in: file), chunks.areLast
        else { return nil }
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
        let (state, file) = try standing(of: place, in: transaction)
        let attachment = place.attachment
        guard state == .partial(offset),
            let chunks = AttachmentChunks(bytes, at: offset, of: place, in: file)
        else { return state }
        let ends = try proof == nil ? [] : endChunkIDs(of: file, in: transaction)
        if offset == 0 { try createIndexes(in: transaction) }
        for chunk in chunks.documents { try transaction.insert(self.chunks, chunk) }
        guard chunks.areLast else { return .partial(chunks.end) }
        let isWhole: Bool
        if let proof, proof.isOf(attachment, bytes, at: offset, between: ends) {
            isWhole = proof.isWhole
        } else {
            var check = AttachmentCheck()
            try forEachChunk(of: file, 0...Int64.max, in: transaction) { check.add($0) }
            isWhole = check.proves(attachment)
        }
        guard isWhole else {
            try removeChunks(of: file, in: transaction)
            return .partial(0)
        }
        try transaction.insert(files, Self.file(place, id: file))
        return .complete
    }

    /// Reads bytes of a complete file; `nil` if it is not there, or belongs to another document.
    ///
    /// - Parameter count: the number of bytes; fewer are returned at the end of the file.
    package func read(
        _ place: AttachmentPlace, from offset: Int64, count: Int, in transaction: ReadTransaction
    ) throws -> [UInt8]? {
        guard case .complete(let file) = try spot(of: place, in: transaction) else { return nil }
        var piece = AttachmentPiece(of: file, place, from: offset, count: count)
        guard let numbers = piece.numbers else { return [] }
        try forEachChunk(of: file["_id"] ?? .null, numbers, in: transaction) { try piece.add($0) }
        return try piece.whole()
    }

    /// Removes a file.
    package func remove(_ file: BSONObjectID, in transaction: WriteTransaction) throws {
        // The file first: nobody may see a part of it.
        try transaction.remove(files, id: .objectID(file))
        try removeChunks(of: .objectID(file), in: transaction)
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
            BSONKey.encode(document) == BSONKey.encode(place.documentID)
        else { return false }
        return hasContent(file, place)
    }

    /// Whether a file's document tells of the content that the reference of a place names.
    static func hasContent(_ file: BSONDocument, _ place: AttachmentPlace) -> Bool {
        guard file["length"]?.int64Value == place.attachment.length else { return false }
        guard case .binary(let hash)? = file["metadata"]?.documentValue?["sha256"] else {
            return true
        }
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
    ///
    /// - Parameter id: the `_id`, one of ``AttachmentSpot/ids(of:)``.
    package static func file(_ place: AttachmentPlace, id: BSONValue) -> BSONDocument {
        let attachment = place.attachment
        var metadata: BSONDocument = [
            "collection": .string(place.namespace.collection), "document": place.documentID,
            "sha256": .binary(BSONBinary(attachment.sha256)),
        ]
        if let type = attachment.contentType { metadata.append("contentType", .string(type)) }
        if id != AttachmentSpot.usualID(of: place) {
            metadata.append(AttachmentSpot.referenceField, .objectID(attachment.id))
        }
        var file: BSONDocument = [
            "_id": id, "length": .int64(attachment.length),
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
        of file: BSONValue, in transaction: ReadTransaction
    ) throws(StoreError) -> BSONDocument? {
        try transaction.find(
            chunks, filter: Filter(["files_id": file]),
            options: FindOptions(sort: SortOrder(["n": -1]), limit: 1)
        ).first
    }

    /// Returns the `_id`s of the first and the last chunk; the same chunks are stored as long as these
    /// are the same.
    ///
    /// Chunks have new ids each time they are stored, and are removed from the first on, or together.
    private func endChunkIDs(
        of file: BSONValue, in transaction: ReadTransaction
    ) throws -> [BSONValue] {
        var ids: [BSONValue] = []
        try forEachChunk(of: file, 0...0, in: transaction) { ids.append($0["_id"] ?? .null) }
        if let last = try lastChunk(of: file, in: transaction) { ids.append(last["_id"] ?? .null) }
        return ids
    }

    private func forEachChunk(
        of file: BSONValue, _ numbers: ClosedRange<Int64>, in transaction: ReadTransaction,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        let filter = try Filter(Self.chunksFilter(of: file, numbers))
        let options = try FindOptions(sort: SortOrder(["n": 1]))
        try transaction.forEach(chunks, filter: filter, options: options) { try body($0) }
    }

    private func removeChunks(of file: BSONValue, in transaction: WriteTransaction) throws {
        _ = try transaction.deleteMany(
            chunks, filter: Filter(["files_id": file]))
    }
}
