internal import BSONStore

extension SyncRecord {
    /// The document should be here and is not, and nobody deleted it: its row is damaged.
    func isRowMissing(local: BSONDocument?) -> Bool {
        #if ENGINE_VARIANTS
            if EngineVariant.missingRowsSent.isOn { return false }
        #endif
        return lacksRow(local: local)
    }

    /// The same for the structural check.
    func lacksRow(local: BSONDocument?) -> Bool {
        guard local == nil, !isDeletedHere, pause?.code != .localDocumentMissing else {
            return false
        }
        return isPending || base == .sameAsLocal
    }
}

extension SyncTransaction {
    /// What the app is told of a document whose row, which held no change, is missing.
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

    /// Pauses documents whose rows are missing, so that nothing of them is sent; resumed, they come
    /// again from the remote.
    ///
    /// - Parameter found: the keys that a look at every row found, where there was one.
    /// - Returns: what the app is told.
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

    /// The second way to documents that their keys do not find, one look at every row for all of them.
    ///
    /// - Returns: the keys of those that are in the table after all.
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

    /// Looks at every row once for all looks whose document is missing with a change.
    ///
    /// - Parameter locals: the local documents of the first looks, where they were read already.
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
