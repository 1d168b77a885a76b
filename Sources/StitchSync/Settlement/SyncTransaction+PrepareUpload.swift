internal import BSONStore

extension SyncTransaction {
    /// The attempts of one batch, and the last record that was considered.
    struct OutgoingBatch: Sendable {
        var attempts: [OpenAttempt] = []
        /// Changes that are not uploaded, since no subscription matches them.
        var refused: [OutOfViewChange] = []
        /// Errors of documents that are not uploaded, since they are missing without a delete.
        var missing: [SyncError] = []
        var row: Int64?
        var lastRow: Int64?
    }

    /// Stores attempts for the next pending records (rule R3).
    ///
    /// - Throws: `StoreError` of code `.corrupt` for a damaged document, which is not uploaded.
    func beginAttempts(
        after row: Int64, limits: SyncLimits, _ terms: UploadPolicy, resolved: Set<Int64>,
        before set: Int64? = nil
    ) throws -> OutgoingBatch {
        try pauseQuarantined()
        let earlier = try set.map(subscriptions.earlierRows)
        let pending = try records.records(
            .toSend, in: collection.rowID, after: row, limit: limits.batchDocuments,
            bytesMax: limits.batchBytes)
        var batch = OutgoingBatch()
        guard !pending.isEmpty else { return batch }
        let operations = try state.nextOperations(pending.count)
        var bytes = 0
        let locals = try transaction.getFirstChecked(
            namespace, ids: pending.map(\.documentID), bytesMax: limits.batchBytes)
        var missing: [SyncRecord] = []
        batch.attempts.reserveCapacity(locals.count)
        for (index, operation) in operations.prefix(locals.count).enumerated() {
            let (record, local) = (pending[index], locals[index])
            // A replacement or delete contains the base as its condition.
            bytes += (local?.byteCount ?? 0) + (record.base.document(local: local)?.byteCount ?? 0)
            if bytes > limits.batchBytes && !batch.attempts.isEmpty { break }
            batch.lastRow = record.rowID
            if let earlier, let row = record.rowID, !earlier.contains(row) { continue }
            if record.isRowMissing(local: local) {
                missing.append(record)
                continue
            }
            let isResolved = record.rowID.map(resolved.contains) ?? false
            if !isResolved,
                let refused = try rejectOutOfView(record, operation, local: local, terms)
            {
                batch.refused.append(refused)
                continue
            }
            if let open = try begin(
                record, operation, local: local, resolvedInThisPass: isResolved)
            {
                batch.attempts.append(open)
            }
        }
        batch.missing = try pauseMissing(missing)
        guard !batch.attempts.isEmpty else { return batch }
        let members = batch.attempts.compactMap { open in
            open.record.rowID.map {
                AttemptBatch.Member(row: $0, operation: open.write.operation, kind: open.kind)
            }
        }
        batch.row = try records.add(
            AttemptBatch(members: members, token: collection.token), in: collection.rowID)
        return batch
    }

    private func begin(
        _ old: SyncRecord, _ operation: OperationID, local: BSONDocument?,
        resolvedInThisPass: Bool
    ) throws -> OpenAttempt? {
        var record = old
        let base = record.base.document(local: local)
        let paths = UpdateDescription.synced(from: base, to: local)
        let isForeign = if case .foreign = record.version { true } else { false }
        let facts = UploadFacts(
            pending: PendingChange(base: base, local: local), isPaused: record.pause != nil,
            hasOpenAttempt: record.attempt != nil, isStale: record.hint > 0,
            resolvedInThisPass: resolvedInThisPass, isForeign: isForeign,
            hasPaths: paths != nil)
        let decision = UploadDecision.decide(facts)
        switch decision {
        case .wait: return nil
        case .nothing:
            record.takeBase(StoredContent(base, local: local), record.version)
            try markStaleIfUnclaimed(&record, local: local)
            try save(record)
            return nil
        case .insert, .update, .replace, .delete: break
        }
        let kind: AttemptBatch.Kind =
            local == nil ? .delete : decision == .insert ? .insert : .update
        let version = Self.version(after: record.version, operation, kind)
        record.attempt = Attempt(
            operation: operation, intended: local == nil ? .absent : .sameAsLocal,
            version: version.map(VersionField.version) ?? .absent, token: collection.token)
        let write = RemoteWrite(
            documentID: record.documentID, operation: operation,
            action: Self.action(decision, local: local, paths: paths, version: version),
            condition: Self.condition(decision, record.version, base: base, paths: paths))
        return OpenAttempt(record: record, write: write, kind: kind, local: local)
    }

    private static func action(
        _ decision: UploadDecision, local: BSONDocument?, paths: UpdateDescription?,
        version: DocumentVersion?
    ) -> RemoteWrite.Action {
        guard var document = local, let version else { return .delete }
        let field = BSONValue.document(version.document)
        if decision == .update, let paths {
            var set = paths.updatedFields
            set.append(DocumentVersion.fieldName, field)
            return .update(set: set, unset: paths.removedFields)
        }
        document.append(DocumentVersion.fieldName, field)
        return decision == .insert ? .insert(document) : .replace(document)
    }

    /// Returns the condition of a write: the version and the old values of the touched paths, so
    /// that a foreign edit that kept the version is not overwritten unseen (rule R6).
    private static func condition(
        _ decision: UploadDecision, _ version: VersionField, base: BSONDocument?,
        paths: UpdateDescription?
    ) -> RemoteWrite.Condition {
        guard decision == .update, let paths, let base else {
            return RemoteWrite.Condition(version: version, content: base)
        }
        var values = BSONDocument()
        var missing: [String] = []
        for path in paths.paths {
            if let value = base[path: path] {
                values.append(path, value)
            } else {
                missing.append(path)
            }
        }
        return RemoteWrite.Condition(version: version, values: values, missing: missing)
    }
}
