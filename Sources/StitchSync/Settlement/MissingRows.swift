internal import BSONStore

/// The treatment of documents whose local rows are missing although no delete is recorded.
struct MissingRows {
    let sync: SyncTransaction
    /// The keys of missing documents that a scan of all rows found; `nil` before a scan.
    var scan: Set<[UInt8]>?

    /// Returns the error of a missing row without a pending change.
    func error(of record: SyncRecord, isThere: Bool) -> SyncError {
        SyncError(
            .localDocumentMissing,
            "the local document \(record.documentID.extendedJSON(.relaxed)) was missing, and no "
                + "delete is recorded; it had no pending change, and "
                + (isThere
                    ? "it is downloaded again" : "the remote does not have it either")
                + ": check the file with verify()",
            namespace: sync.namespace, documentID: record.documentID)
    }

    /// Pauses documents whose rows are missing, so that nothing of them is uploaded.
    ///
    /// Once resumed, they are downloaded again.
    ///
    /// - Returns: the errors for the app.
    func pause(_ records: [SyncRecord]) throws -> [SyncError] {
        let keys = records.map { BSONKey.encode($0.documentID) }
        let found = try scan ?? foundByScan(keys)
        return try zip(records, keys).map { try pause($0, isDamaged: found.contains($1)) }
    }

    private func pause(_ old: SyncRecord, isDamaged: Bool) throws -> SyncError {
        var record = old
        let error = SyncError(
            .localDocumentMissing,
            "the local document \(old.documentID.extendedJSON(.relaxed)) is missing, and no delete "
                + "is recorded"
                + (isDamaged ? ": it is in the table, but not found by its key" : "")
                + "; nothing of it is sent: check the file with verify(), then fetch the document "
                + "again with resumeSync(of:)",
            namespace: sync.namespace, documentID: old.documentID)
        record.pause = PauseReason(.localDocumentMissing, error.message)
        record.clearBase(hasLocal: false)
        try sync.makeStale(&record)
        try sync.save(record)
        return error
    }

    /// Searches documents that the key lookup does not find, by one scan of all rows.
    ///
    /// - Returns: the keys of the documents that the scan found.
    private func foundByScan(_ keys: [[UInt8]]) throws -> Set<[UInt8]> {
        guard !keys.isEmpty else { return [] }
        let wanted = Set(keys)
        var found: Set<[UInt8]> = []
        try sync.transaction.forEach(sync.namespace) { document in
            let key = BSONKey.encode(document.documentID)
            if wanted.contains(key) { found.insert(key) }
        }
        return found
    }

    /// Scans all rows once where several fetched documents with a change are missing locally.
    ///
    /// - Parameter locals: the local documents of the first records, where they were read already.
    func scan(
        for fetchedDocuments: [FetchedDocument], _ locals: [StoredDocument?]
    ) throws -> Set<[UInt8]>? {
        let missing = try fetchedDocuments.enumerated().filter { index, fetched in
            let record = fetched.record
            guard record.rowID != nil, record.isPending || record.attempt != nil,
                record.isRowMissing(local: nil)
            else { return false }
            if index < locals.count { return locals[index] == nil }
            return try sync.local(record.documentID) == nil
        }
        guard missing.count > 1 else { return nil }
        return try foundByScan(missing.map { BSONKey.encode($1.record.documentID) })
    }
}

extension SyncRecord {
    /// Whether the local document is missing without a delete, because its row is damaged.
    ///
    /// A pending change is lost with its row, even where the record has a copy of the base.
    func isRowMissing(local: BSONDocument?) -> Bool {
        guard local == nil, !isDeletedHere, pause?.code != .localDocumentMissing else {
            return false
        }
        return isPending || base == .sameAsLocal
    }
}
