internal import BSONStore

/// The contents of files on the device, in a store of their own beside the documents'.
///
/// A content is stored in chunks before the document that refers to it, so that no reference is without
/// its file where the file was here. The store has the settings of the documents' store, also its key.
final class AttachmentCache: Sendable {
    static let records = Namespace("attachments", "records")
    static let chunks = Namespace("attachments", "chunks")
    /// The number of bytes of a chunk, as in GridFS.
    static let chunkSize = AttachmentBucket.chunkSize
    /// The number of bytes that are stored in one transaction.
    static let batchBytes = AttachmentPieces.sizeMax
    /// The largest page cache of a connection, in KiB.
    ///
    /// A content is read from front to back, so a larger cache would only keep pages that are not read
    /// again.
    private static let cacheMaxKiB = 2_048

    /// The age at which a content counts as abandoned of which no more is stored, in milliseconds.
    private static let arrivingMax: Int64 = 3_600 * 1_000

    private let store: DocumentStore

    /// Opens the store beside a documents' store; creates it if it is missing.
    init(beside documents: DocumentStore) throws {
        store = try DocumentStore(
            at: Self.location(beside: documents.location),
            options: Self.options(beside: documents.options))
        guard !store.isReadOnly else { return }
        try store.write { transaction in
            _ = try transaction.createIndex(
                Self.records, IndexDefinition(["name": "stage_1", "key": ["stage": 1]]))
            _ = try transaction.createIndex(
                Self.records, IndexDefinition(["name": "document_1", "key": ["document": 1]]))
        }
    }

    /// Returns the place of the contents beside a documents' store.
    static func location(beside documents: DocumentStore.Location) -> DocumentStore.Location {
        switch documents {
        case .file(let path): .file(path + "-attachments")
        case .inMemory: .inMemory
        }
    }

    /// Returns the settings of the store beside a documents' store.
    static func options(beside documents: StoreOptions) -> StoreOptions {
        var options = documents
        options.changeHistory = .off
        options.cacheKiB = min(options.cacheKiB, cacheMaxKiB)
        return options
    }

    func close() { store.close() }

    // MARK: - Records

    /// Returns the record of a file; `nil` for an unknown one.
    func record(_ id: BSONObjectID) throws -> AttachmentRecord? {
        try store.read { try $0.get(Self.records, id: .objectID(id)) }.map {
            try AttachmentRecord($0)
        }
    }

    /// Returns all records.
    func all() throws -> [AttachmentRecord] { try records([:]) }

    /// Returns the records in a stage.
    func records(_ stage: AttachmentRecord.Stage) throws -> [AttachmentRecord] {
        try records([AttachmentRecord.Key.stage: .string(stage.rawValue)])
    }

    /// Returns the records of the files of a document.
    func records(of owner: AttachmentRecord.Owner) throws -> [AttachmentRecord] {
        try records([AttachmentRecord.Key.document: ["$eq": owner.documentID]])
            .filter { $0.owner?.namespace == owner.namespace }
    }

    private func records(_ filter: BSONDocument) throws -> [AttachmentRecord] {
        let filter = try Filter(filter)
        return try store.read { try $0.find(Self.records, filter: filter) }.map {
            try AttachmentRecord($0)
        }
    }

    func save(_ record: AttachmentRecord) async throws {
        try await store.write { _ = try $0.put(Self.records, record.stored) }
    }

    /// Stores a record unless the file has one.
    ///
    /// - Returns: whether it was stored.
    func add(_ record: AttachmentRecord) async throws -> Bool {
        try await store.write { transaction in
            let id = BSONValue.objectID(record.attachment.id)
            guard try transaction.get(Self.records, id: id) == nil else { return false }
            _ = try transaction.put(Self.records, record.stored)
            return true
        }
    }

    /// Changes a record in a transaction; does nothing for one that was removed.
    ///
    /// - Returns: whether the record is another one now; only then it is stored.
    @discardableResult
    func change(
        _ id: BSONObjectID, _ body: @escaping @Sendable (inout AttachmentRecord) -> Void
    ) async throws -> Bool {
        try await store.write { transaction in
            guard let stored = try transaction.get(Self.records, id: .objectID(id)) else {
                return false
            }
            var record = try AttachmentRecord(stored)
            body(&record)
            let changed = record.stored
            guard changed != stored else { return false }
            _ = try transaction.put(Self.records, changed)
            return true
        }
    }

    // MARK: - Contents

    /// Stores a content as a staged file.
    ///
    /// - Throws: what the source throws; `SyncError` of code `.timedOut` if the process stood still for so
    ///   long that another one has removed the content. Nothing is left then.
    func store(
        _ source: AttachmentSource, contentType: String?, name: String?,
        of owner: AttachmentRecord.Owner?
    ) async throws -> Attachment {
        let id = BSONObjectID()
        do {
            let nobody = [UInt8](repeating: 0, count: 32)
            let arriving = Attachment(id: id, sha256: nobody, length: source.length)
            try await save(
                AttachmentRecord(attachment: arriving, stage: .arriving, owner: nil, bytes: 0))
            var digest = SHA256.Digest()
            var offset: Int64 = 0
            while offset < source.length {
                let bytes = try source.read(at: offset, count: Self.batchBytes)
                guard !bytes.isEmpty else { throw AttachmentSource.tooShort(source.length, offset) }
                digest.add(bytes)
                try await store.write { [offset] transaction in
                    var record = try Self.arriving(id, in: transaction)
                    record.used = .now
                    _ = try transaction.put(Self.records, record.stored)
                    try Self.put(bytes, at: offset, of: id, in: transaction)
                }
                offset += Int64(bytes.count)
            }
            let attachment = Attachment(
                id: id, sha256: digest.hash, length: source.length, contentType: contentType,
                name: name)
            let staged = AttachmentRecord(
                attachment: attachment, stage: .staged, owner: owner, bytes: source.length)
            try await store.write { transaction in
                _ = try Self.arriving(id, in: transaction)
                _ = try transaction.put(Self.records, staged.stored)
            }
            return attachment
        } catch {
            try await remove(id)
            throw error
        }
    }

    /// Returns the record of a content that is being stored.
    ///
    /// - Throws: `SyncError` of code `.timedOut` if another process has removed it as abandoned.
    private static func arriving(
        _ id: BSONObjectID, in transaction: ReadTransaction
    ) throws -> AttachmentRecord {
        let stored = try transaction.get(records, id: .objectID(id)).map {
            try AttachmentRecord($0)
        }
        guard let stored, stored.stage == .arriving else {
            throw SyncError(
                .timedOut, "the file was not stored in time and was removed: attach it again")
        }
        return stored
    }

    /// Removes the contents of which a process that has ended stored a part only.
    ///
    /// A process that lives stores the next part before the time is over, also an extension of the app.
    func removeAbandoned() async throws {
        for record in try records(.arriving) where Self.isAbandoned(record) {
            try await remove(record.attachment.id, if: Self.isAbandoned)
        }
    }

    private static func isAbandoned(_ record: AttachmentRecord) -> Bool {
        record.stage == .arriving
            && record.used.milliseconds + arrivingMax < BSONDatetime.now.milliseconds
    }

    /// Stores bytes at a place that is a multiple of the chunk size.
    private static func put(
        _ bytes: [UInt8], at offset: Int64, of id: BSONObjectID, in transaction: WriteTransaction
    ) throws {
        for start in stride(from: 0, to: bytes.count, by: chunkSize) {
            let data = Array(bytes[start..<min(start + chunkSize, bytes.count)])
            let number = (offset + Int64(start)) / Int64(chunkSize)
            _ = try transaction.put(
                chunks, ["_id": chunkID(id, number), "data": .binary(BSONBinary(data))])
        }
    }

    /// Stores bytes that were loaded, and the record with their number, in one transaction.
    ///
    /// - Returns: the record; `nil` if the file was removed, or others have loaded it meanwhile.
    func append(_ bytes: [UInt8], to record: AttachmentRecord) async throws -> AttachmentRecord? {
        try await store.write { transaction in
            let id = record.attachment.id
            guard let stored = try transaction.get(Self.records, id: .objectID(id)) else {
                return nil
            }
            var current = try AttachmentRecord(stored)
            guard current.stage == .loading, current.bytes == record.bytes,
                current.isContent(of: record.attachment)
            else { return nil }
            try Self.put(bytes, at: current.bytes, of: id, in: transaction)
            current.bytes += Int64(bytes.count)
            _ = try transaction.put(Self.records, current.stored)
            return current
        }
    }

    /// Reads stored bytes; fewer at the end of what is stored.
    ///
    /// - Throws: `StoreError` of code `corrupt` when a chunk is missing.
    func read(_ record: AttachmentRecord, from offset: Int64, count: Int) throws -> [UInt8] {
        guard offset >= 0, offset < record.bytes, count > 0 else { return [] }
        let end = offset + min(Int64(count), record.bytes - offset)
        let size = Int64(Self.chunkSize)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(end - offset))
        try store.read { transaction in
            for number in (offset / size)...((end - 1) / size) {
                let id = Self.chunkID(record.attachment.id, number)
                guard let chunk = try transaction.get(Self.chunks, id: id),
                    case .binary(let data)? = chunk["data"]
                else { throw Self.damaged(record) }
                let start = number * size
                let from = Int(max(offset - start, 0))
                let to = Int(min(end - start, size))
                guard to <= data.bytes.count else { throw Self.damaged(record) }
                bytes += data.bytes[from..<to]
            }
        }
        return bytes
    }

    /// Whether the stored content is whole, and has the hash that the reference names.
    func isSound(_ record: AttachmentRecord) throws -> Bool {
        var digest = SHA256.Digest()
        var offset: Int64 = 0
        do {
            while offset < record.bytes {
                let bytes = try read(record, from: offset, count: Self.batchBytes)
                digest.add(bytes)
                offset += Int64(bytes.count)
            }
        } catch let error as StoreError where Self.isDamage(error) {
            return false
        }
        return digest.hash == record.attachment.sha256
    }

    // MARK: - Removal

    /// Removes a file with its record.
    func remove(_ id: BSONObjectID) async throws { try await remove(id) { _ in true } }

    /// Removes a file with its record if it is in the stage, and of the document, of a record that was
    /// read before.
    func remove(_ record: AttachmentRecord) async throws {
        try await remove(record.attachment.id) {
            $0.stage == record.stage && $0.owner == record.owner
        }
    }

    private func remove(
        _ id: BSONObjectID, if condition: @escaping @Sendable (AttachmentRecord) -> Bool
    ) async throws {
        guard try await clear(id, if: condition) else { return }
        try await store.write { transaction in
            guard try Self.isBeingRemoved(id, in: transaction) else { return }
            _ = try transaction.remove(Self.records, id: .objectID(id))
        }
    }

    /// Removes the content of a file, and keeps its record as one that may be loaded.
    ///
    /// - Returns: `false` if the record has changed since it was read: the file may have to be sent again,
    ///   and this content may be the only one, or a call loads it now.
    @discardableResult
    func evict(_ record: AttachmentRecord) async throws -> Bool {
        let id = record.attachment.id
        let isCleared = try await clear(id) {
            $0.stage == record.stage && $0.isWanted == record.isWanted && $0.bytes == record.bytes
        }
        guard isCleared else { return false }
        try await change(id) { record in
            guard record.stage == .removing else { return }
            (record.stage, record.bytes, record.isWanted) = (.loading, 0, false)
        }
        return true
    }

    /// Ends the removal of a content, which another call or process may have begun, and stores another
    /// record of the file.
    ///
    /// - Returns: `false` if the removal has ended already.
    func takeOverRemoval(for record: AttachmentRecord) async throws -> Bool {
        let id = record.attachment.id
        guard try await clear(id, if: { $0.stage == .removing }) else { return false }
        return try await store.write { transaction in
            guard try Self.isBeingRemoved(id, in: transaction) else { return false }
            _ = try transaction.put(Self.records, record.stored)
            return true
        }
    }

    /// Removes the content of a file; the record stays as one that the next start removes, so that it
    /// never counts as whole, and nobody loads into what is being removed.
    ///
    /// - Returns: whether there is a record that meets the condition.
    private func clear(
        _ id: BSONObjectID, if condition: @escaping @Sendable (AttachmentRecord) -> Bool
    ) async throws -> Bool {
        let stored = try await store.write { transaction -> Int64? in
            guard let stored = try transaction.get(Self.records, id: .objectID(id)) else {
                return nil
            }
            var record = try AttachmentRecord(stored)
            guard condition(record) else { return nil }
            // Of one that is being stored, the number of bytes is not noted, but its length is true; that
            // of a reference may be forged.
            if record.stage == .arriving { record.bytes = record.attachment.length }
            record.stage = .removing
            _ = try transaction.put(Self.records, record.stored)
            return record.bytes
        }
        guard let stored else { return false }
        let size = Int64(Self.chunkSize)
        let count = stored / size + (stored % size > 0 ? 1 : 0)
        for first in stride(from: Int64(0), to: count, by: 256) {
            try await store.write { transaction in
                guard try Self.isBeingRemoved(id, in: transaction) else { return }
                for number in first..<min(first + 256, count) {
                    _ = try transaction.remove(Self.chunks, id: Self.chunkID(id, number))
                }
            }
        }
        return true
    }

    /// Whether a file's content is still being removed: another process may have finished that.
    private static func isBeingRemoved(
        _ id: BSONObjectID, in transaction: ReadTransaction
    ) throws -> Bool {
        let stored = try transaction.get(records, id: .objectID(id))
        return try stored.map { try AttachmentRecord($0).stage == .removing } ?? false
    }

    private static func chunkID(_ id: BSONObjectID, _ number: Int64) -> BSONValue {
        let place = withUnsafeBytes(of: UInt32(clamping: number).bigEndian) { Array($0) }
        return .binary(BSONBinary(Array(id.bytes) + place))
    }

    /// Whether an error is the damage of one content, not of the store.
    static func isDamage(_ error: StoreError) -> Bool {
        error.code == .corrupt && error.sqliteCode == nil
    }

    private static func damaged(_ record: AttachmentRecord) -> StoreError {
        StoreError(
            .corrupt,
            "the content of the file \(record.attachment.id) is damaged: a chunk is missing")
    }
}
