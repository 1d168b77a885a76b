internal import BSONStore

/// The storage of the next pending changes as attempts, before they are sent.
///
/// It also takes out what must not be sent: it pauses documents that are in quarantine or whose row is
/// missing, and refuses changes that no subscription matches, which may revert them.
struct PrepareUpload {
    let sync: SyncTransaction
    let limits: SyncLimits
    let policy: UploadPolicy
    /// Rows of documents whose conflict was resolved in this pass; the next pass uploads them.
    let heldBack: Set<Int64>
    /// The subscription set whose earlier writes are uploaded; `nil` uploads all.
    let set: Int64?
    /// The rows of the records whose changes are uploaded; `nil` uploads all.
    var only: Set<Int64>?

    /// Stores attempts for the next pending records (rule R3), and settles those that must not be sent.
    ///
    /// The order of the steps for each record: one that this upload does not include or whose row is
    /// missing is left out, a change out of the view is refused (``RefuseOutOfView``), then
    /// ``UploadDecision`` says how the rest is sent.
    ///
    /// - Returns: the attempts, which are stored now and not sent yet, and the changes left out.
    /// - Throws: `StoreError` of code `.corrupt` for a damaged document, which is not uploaded.
    func batch(after row: Int64) throws -> OutgoingBatch {
        try PauseQuarantined(sync: sync).run()
        let earlier = try set.map(sync.subscriptions.earlierRows)
        let pending = try sync.records.page(
            of: .toUpload, in: sync.collection.rowID, after: row, limit: limits.batchDocuments,
            bytesMax: limits.batchBytes)
        var batch = OutgoingBatch()
        guard !pending.isEmpty else { return batch }
        let operations = try sync.instance.nextOperations(pending.count)
        var bytes = 0
        let locals = try sync.transaction.getFirstChecked(
            sync.namespace, ids: pending.map(\.documentID), bytesMax: limits.batchBytes)
        let refusal = RefuseOutOfView(sync: sync, policy: policy)
        let overdue = try sync.subscriptions.overdueRows()
        var missing: [SyncRecord] = []
        batch.attempts.reserveCapacity(locals.count)
        for (index, operation) in operations.prefix(locals.count).enumerated() {
            let (record, local) = (pending[index], locals[index])
            // A replacement or delete contains the base as its condition.
            bytes += (local?.byteCount ?? 0) + (record.base.document(local: local)?.byteCount ?? 0)
            if bytes > limits.batchBytes && !batch.attempts.isEmpty { break }
            batch.lastRow = record.rowID
            if let earlier, let row = record.rowID, !earlier.contains(row) { continue }
            if let only, let row = record.rowID, !only.contains(row) { continue }
            if record.isRowMissing(local: local) {
                missing.append(record)
                continue
            }
            let isHeldBack = record.rowID.map(heldBack.contains) ?? false
            let isOverdue = record.rowID.map(overdue.contains) ?? false
            if !isHeldBack, !isOverdue,
                let refused = try refusal.refuseUnmatched(record, operation, local: local)
            {
                batch.refused.append(refused)
                continue
            }
            if let open = try begin(
                record, operation, local: local, isHeldBack: isHeldBack)
            {
                batch.attempts.append(open)
            }
        }
        batch.isFull = pending.count == limits.batchDocuments || bytes * 2 > limits.batchBytes
        batch.missing = try MissingRows(sync: sync).pause(missing)
        guard !batch.attempts.isEmpty else { return batch }
        let members = batch.attempts.compactMap { open in
            open.record.rowID.map {
                AttemptBatch.Member(row: $0, operation: open.write.operation, kind: open.kind)
            }
        }
        batch.place = try sync.attemptBatches.add(
            AttemptBatch(members: members, token: sync.collection.token), in: sync.collection.rowID)
        return batch
    }

    private func begin(
        _ old: SyncRecord, _ operation: OperationID, local: BSONDocument?,
        isHeldBack: Bool
    ) throws -> OutgoingAttempt? {
        var record = old
        let base = record.base.document(local: local)
        let paths = UpdateDescription.synced(from: base, to: local)
        let isForeign = if case .foreign = record.version { true } else { false }
        let facts = UploadFacts(
            pending: paths.map { $0.isEmpty ? .none : .update }
                ?? PendingChange(base: base, local: local),
            isPaused: record.pause != nil, hasOpenAttempt: record.attempt != nil,
            isStale: record.staleMark > 0,
            isHeldBack: isHeldBack, isForeign: isForeign,
            hasPaths: paths != nil)
        let decision = UploadDecision.decide(facts)
        switch decision {
        case .wait: return nil
        case .nothing:
            record.takeBase(StoredContent(base, local: local), record.version)
            try DeviceDocuments(sync: sync).markStaleIfUnkept(&record, local: local)
            try sync.save(record)
            return nil
        case .insert, .update, .replace, .delete: break
        }
        let kind: AttemptBatch.Kind =
            local == nil ? .delete : decision == .insert ? .insert : .update
        let version = UploadStatement.version(after: record.version, operation, kind)
        // The record is not saved: the row of the batch holds the attempt (`ExpandBatches`).
        record.attempt = Attempt(
            operation: operation, intended: local == nil ? .absent : .sameAsLocal,
            version: version.map(VersionField.version) ?? .absent, token: sync.collection.token)
        let write = RemoteWrite(
            documentID: record.documentID, operation: operation,
            action: UploadStatement.action(decision, local: local, paths: paths, version: version),
            condition: UploadStatement.condition(decision, record.version, base: base, paths: paths)
        )
        sync.note(
            .sent(kind.change, attempt: 0), of: record.documentID, operation: operation,
            from: old.version)
        return OutgoingAttempt(record: record, write: write, kind: kind, local: local)
    }
}
