internal import BSONStore

extension SyncRecord {
    /// Whether the local document is missing without a delete, because its row is damaged.
    func isRowMissing(local: BSONDocument?) -> Bool {
        guard local == nil, !isDeletedHere, pause?.code != .localDocumentMissing else {
            return false
        }
        return isPending || base == .sameAsLocal
    }
}

extension SyncTransaction {
    /// Returns the error of a missing row without a pending change.
    func missingError(_ record: SyncRecord, isThere: Bool) -> SyncError {
        SyncError(
            .localDocumentMissing,
            "the local document \(record.documentID.extendedJSON(.relaxed)) was missing though "
                + "nobody deleted it; it had no change, and "
                + (isThere
                    ? "comes again from the remote" : "the remote does not have it either")
                + ": check the file with verify()",
            namespace: namespace, documentID: record.documentID)
    }

    /// Pauses documents whose rows are missing, so that nothing of them is uploaded.
    ///
    /// Once resumed, they are downloaded again.
    ///
    /// - Parameter found: the keys that a scan of all rows found; `nil` before a scan.
    /// - Returns: the errors for the app.
    func pauseMissing(
        _ records: [SyncRecord], foundByScan found: Set<[UInt8]>? = nil
    ) throws -> [SyncError] {
        let keys = records.map { BSONKey.encode($0.documentID) }
        let found = try found ?? foundByScan(keys)
        return try zip(records, keys).map { try pauseMissing($0, isDamaged: found.contains($1)) }
    }

    private func pauseMissing(_ old: SyncRecord, isDamaged: Bool) throws -> SyncError {
        var record = old
        let error = SyncError(
            .localDocumentMissing,
            "the local document \(old.documentID.extendedJSON(.relaxed)) is missing though nobody "
                + "deleted it"
                + (isDamaged ? ": it is in the table, but not found by its key" : "")
                + "; nothing of it is sent: check the file with verify(), then fetch the document "
                + "again with resumeSync(of:)",
            namespace: namespace, documentID: old.documentID)
        record.pause = PauseReason(.localDocumentMissing, error.message)
        record.attempt = nil
        record.clearUnresolved()
        (record.base, record.version, record.isPending) = (.absent, .absent, false)
        record.hint = try nextStaleMark()
        try save(record)
        return error
    }

    /// Searches documents that the key lookup does not find, by one scan of all rows.
    ///
    /// - Returns: the keys of the documents that the scan found.
    func foundByScan(_ keys: [[UInt8]]) throws -> Set<[UInt8]> {
        guard !keys.isEmpty else { return [] }
        let wanted = Set(keys)
        var found: Set<[UInt8]> = []
        try transaction.forEach(namespace) { document in
            let key = BSONKey.encode(document.documentID)
            if wanted.contains(key) { found.insert(key) }
        }
        return found
    }

    /// Scans all rows once where several fetched documents with a change are missing locally.
    ///
    /// - Parameter locals: the local documents of the first records, where they were read already.
    func scanningForMissingRows(
        _ looks: [FetchedDocument], _ locals: [StoredDocument?] = []
    ) throws -> SyncTransaction {
        let missing = try looks.enumerated().filter { index, look in
            let record = look.record
            guard record.rowID != nil, record.isPending || record.attempt != nil,
                record.isRowMissing(local: nil)
            else { return false }
            if index < locals.count { return locals[index] == nil }
            return try local(record.documentID) == nil
        }
        guard missing.count > 1 else { return self }
        var scanned = self
        scanned.scan = try foundByScan(missing.map { BSONKey.encode($1.record.documentID) })
        return scanned
    }
}
