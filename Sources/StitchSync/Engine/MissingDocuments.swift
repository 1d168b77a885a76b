internal import BSONStore

extension SyncedDocument {
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
    func missingError(_ record: SyncedDocument, isThere: Bool) -> SyncError {
        SyncError(
            .localDocumentMissing,
            "the local document \(record.documentID.extendedJSON(.relaxed)) was missing though "
                + "nobody deleted it; it had no change, and "
                + (isThere
                    ? "comes again from the remote" : "the remote does not have it either")
                + ": check the file with verify()",
            namespace: namespace, documentID: record.documentID)
    }

    /// Pauses a document whose row is missing, so that nothing of it is sent; resumed, it comes again
    /// from the remote.
    ///
    /// - Returns: what the app is told.
    func pauseMissing(_ old: SyncedDocument) throws -> SyncError {
        var record = old
        let isDamaged = try isFoundByScan(old.documentID)
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
        record.forgetDiscarded()
        (record.base, record.version, record.isPending) = (.absent, .absent, false)
        record.hint = try nextHint()
        try save(record)
        return error
    }

    /// The second way to a document that its key does not find: a look at every row.
    private func isFoundByScan(_ id: BSONValue) throws -> Bool {
        let key = BSONKey.encode(id)
        var isFound = false
        try transaction.forEach(namespace) { document in
            if !isFound, BSONKey.encode(document.documentID) == key { isFound = true }
        }
        return isFound
    }
}
