internal import BSONStore

/// The settlement of changes that the remote refused permanently.
struct SettleRejection {
    let sync: SyncTransaction

    /// A change that the remote refused for good.
    struct RejectedChange {
        let operation: OperationID
        /// The uploaded document; `nil` for a delete.
        let intended: BSONDocument?
        /// The current local document.
        let local: BSONDocument?
        let error: RemoteError
    }

    /// Reverts a change or pauses its document, and stores the refused write.
    ///
    /// A write that is refused for its content and only pauses is not stored: its change stays in the
    /// document.
    ///
    /// - Parameter old: the record with the refused attempt.
    /// - Returns: the decision that was carried out: a document that cannot be reverted is paused.
    func settle(
        _ decision: RejectionDecision, _ rejected: RejectedChange, of old: SyncRecord
    ) throws -> RejectionDecision {
        var record = old
        record.attempt = nil
        sync.note(
            .refused(HistoryRefusal(rejected.error)), of: record.documentID,
            operation: rejected.operation, from: old.version)
        if decision == .revert {
            let mark = sync.storyMark
            do {
                try sync.transaction.savepoint {
                    try revert(record, rejected)
                }
                return .revert
            } catch let cause where SyncTransaction.concernsDocument(cause) {
                sync.noteRollback(to: mark)
            }
        }
        record.pause = PauseReason(.rejected, rejected.error.description)
        // The app may have reverted the change during the upload.
        record.notePending(local: rejected.local)
        record = try sync.save(record)
        if decision == .ask {
            try storeRejection(rejected, of: record, as: .asking)
            return .ask
        }
        if rejected.error.compensatingWrite != nil {
            try storeRejection(rejected, of: record, as: .paused)
        }
        return .pause
    }

    private func revert(_ record: SyncRecord, _ rejected: RejectedChange) throws {
        try storeRejection(rejected, of: record, as: .reverted)
        try restore(record, local: rejected.local)
    }

    /// Reverts the document to the confirmed edition.
    func restore(_ old: SyncRecord, local: BSONDocument?) throws {
        var record = old
        let id = record.documentID
        let base = record.base.document(local: local)
        record.attempt = nil
        sync.note(.reverted, of: id, from: old.version)
        try sync.setLocal(id, to: base, orRemoveAs: .takenBack)
        if base == nil {
            try DeviceDocuments(sync: sync).removeRecord(old, local: local)
            try restoreRequestedID(old)
        } else {
            record.takeBase(.sameAsLocal, record.version)
            try sync.endPauseAndRefetch(of: &record)
            try sync.save(record)
        }
        try sync.emitChange(.compensation, id, from: local, to: base, uncommitted: false)
    }

    /// Keeps the sync of an id that the app requested: only the insert is reverted.
    private func restoreRequestedID(_ old: SyncRecord) throws {
        guard old.reason == .request else { return }
        // A query may match the document, too.
        if let left = try sync.record(old.documentID) {
            return try RequestedIDs(sync: sync).noteRequest(of: left)
        }
        var record = SyncRecord(documentID: old.documentID, byID: true)
        try sync.makeStale(&record)
        try sync.save(record)
    }

    private func storeRejection(
        _ rejected: RejectedChange, of record: SyncRecord, as state: RejectedWriteRecord.State
    ) throws {
        let id = record.documentID
        let base = record.base.document(local: rejected.local)
        let error = rejected.error
        let isEdited = !contentEqual(rejected.intended, rejected.local)
        let write = RejectedWrite(
            id: 0, namespace: sync.namespace, operationID: rejected.operation,
            change: PendingChange(base: base, local: rejected.intended),
            document: rejected.intended, hasLaterEdits: isEdited,
            laterDocument: isEdited ? rejected.local : nil, base: base,
            compensatingWrite: error.compensatingWrite
                ?? CompensatingWrite(refused: error, of: id, in: sync.namespace),
            code: error.code, time: .now)
        let rejection = RejectedWriteRecord(
            state: state, batch: try sync.transactionNumber(), revision: record.revision,
            write: write,
            serverVersion: sync.collection.token?.number ?? 0)
        try sync.rejectedWrites.add(rejection, in: sync.collection.rowID)
        sync.requestRejectionReport()
    }
}

extension ResumeToken {
    /// A number that grows with the remote's history, for log lines; 0 where the token has none.
    var number: Int64 {
        if let position = document["position"]?.int64Value { return position }
        // A MongoDB token begins with 82 and the 16 digits of its cluster time.
        guard let text = document["_data"]?.stringValue, text.hasBytePrefix("82") else { return 0 }
        return Int64(text.dropFirst(2).prefix(16), radix: 16) ?? 0
    }
}
