internal import BSONStore

/// The settlement of changes that the remote refused permanently.
extension SyncTransaction {
    /// The facts about a refusal.
    struct Refusal {
        let operation: OperationID
        /// The uploaded document; `nil` for a delete.
        let intended: BSONDocument?
        /// The current local document.
        let local: BSONDocument?
        let error: RemoteError
    }

    /// Reverts a change or pauses its document; keeps the refused write in either case.
    ///
    /// - Parameter old: the record with the refused attempt.
    /// - Returns: the actual settlement: a document that cannot be reverted is paused.
    func settle(
        _ settlement: UploadSettlement, _ refusal: Refusal, of old: SyncRecord
    ) throws -> UploadSettlement {
        var record = old
        record.attempt = nil
        if settlement == .revertRejected {
            do {
                try transaction.savepoint {
                    try revert(record, refusal)
                }
                return .revertRejected
            } catch let cause where Self.concernsDocument(cause) {
                resetStaleMark()
            }
        }
        record.pause = PauseReason(.rejected, refusal.error.description)
        // The app may have reverted the change during the upload.
        let base = record.base.document(local: refusal.local)
        record.isPending = PendingChange(base: base, local: refusal.local) != .none
        record = try save(record)
        if settlement == .askRejected {
            try keep(refusal, of: record, as: .asking)
            return .askRejected
        }
        if refusal.error.compensatingWrite != nil { try keep(refusal, of: record, as: .paused) }
        return .pauseRejected
    }

    private func revert(_ record: SyncRecord, _ refusal: Refusal) throws {
        try keep(refusal, of: record, as: .reverted)
        try restore(record, local: refusal.local)
    }

    /// Reverts the document to the confirmed edition.
    func restore(_ old: SyncRecord, local: BSONDocument?) throws {
        var record = old
        let id = record.documentID
        let base = record.base.document(local: local)
        record.attempt = nil
        record.pause = nil
        try setLocal(id, to: base, orRemoveAs: .takenBack)
        if base == nil {
            try leave(old, local: local)
            try restoreRequestedID(old)
        } else {
            record.takeBase(.sameAsLocal, record.version)
            record.hint = try renewedStaleMark(of: record)
            try save(record)
        }
        try emitChange(.compensation, id, from: local, to: base, uncommitted: false)
    }

    /// Keeps the sync of an id that the app requested: only the insert is reverted.
    private func restoreRequestedID(_ old: SyncRecord) throws {
        guard old.isRequestedByApp else { return }
        // A query may match the document, too.
        if let left = try record(old.documentID) { return try claimByID(left) }
        var record = SyncRecord(documentID: old.documentID, byID: true)
        record.hint = try nextStaleMark()
        try save(record)
    }

    private func keep(
        _ refusal: Refusal, of record: SyncRecord, as state: RejectedWriteRecord.State
    ) throws {
        let id = record.documentID
        let base = record.base.document(local: refusal.local)
        let error = refusal.error
        let isEdited = !contentEqual(refusal.intended, refusal.local)
        let write = RejectedWrite(
            id: 0, namespace: namespace, operationID: refusal.operation,
            change: PendingChange(base: base, local: refusal.intended),
            document: refusal.intended, hasLaterEdits: isEdited,
            laterDocument: isEdited ? refusal.local : nil, base: base,
            compensatingWrite: error.compensatingWrite
                ?? CompensatingWrite(refused: error, of: id, in: namespace),
            code: error.code, time: .now)
        let rejection = RejectedWriteRecord(
            state: state, batch: try nextStaleMark(), revision: record.revision, write: write,
            serverVersion: collection.token?.number ?? 0)
        try records.add(rejection, in: collection.rowID)
        requestRejectionReport()
    }
}

extension ResumeToken {
    /// A number that grows with the remote's history, for log lines; 0 where the token has none.
    var number: Int64 {
        if let position = document["position"]?.int64Value { return position }
        // A MongoDB token begins with 82 and the 16 digits of its cluster time.
        guard let text = document["_data"]?.stringValue, text.hasPrefix("82") else { return 0 }
        return Int64(text.dropFirst(2).prefix(16), radix: 16) ?? 0
    }
}
