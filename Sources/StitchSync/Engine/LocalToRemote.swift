internal import BSONStore

/// Sends what is pending: names each attempt on disk, sends a batch, settles each answer.
extension CollectionPass {
    /// Sends all pending changes in batches, then looks at what others changed first.
    ///
    /// - Parameter set: sends only what was written before that set of subscriptions.
    mutating func sendPending(before set: Int64? = nil) async throws {
        var last: Int64 = 0
        var overtaken: [BSONValue] = []
        var failure: RemoteError?
        while true {
            let after = last
            let limits = limits
            let resolved = resolved
            let terms = terms
            let batch = try await write { sync in
                try sync.beginAttempts(
                    after: after, limits: limits, terms, resolved: resolved, before: set)
            }
            for refused in batch.refused {
                count(refused.settlement, refused.documentID, .failed(refused.error))
                if refused.settlement == .revertRejected { reverted.append(refused.documentID) }
            }
            guard let row = batch.lastRow else { break }
            last = row
            guard !batch.attempts.isEmpty else { continue }
            let sent = try await send(batch.attempts, batch.row)
            overtaken += sent.overtaken
            failure = failure ?? sent.failure
        }
        report.overtaken += overtaken.count
        // What was taken back may be older than what the remote holds by now.
        try await look(atOvertaken: overtaken + reverted)
        if let failure { throw failure }
    }

    private mutating func look(atOvertaken ids: [BSONValue]) async throws {
        for start in stride(from: 0, to: ids.count, by: limits.batchDocuments) {
            let chunk = ids[start..<min(start + limits.batchDocuments, ids.count)]
            try await look(at: try await write { sync in try chunk.compactMap(sync.record) })
        }
    }

    /// Sends a batch; tells which documents somebody else was at first, and of a write whose failure
    /// may pass.
    private mutating func send(
        _ attempts: [OpenAttempt], _ batch: Int64?
    ) async throws -> (overtaken: [BSONValue], failure: RemoteError?) {
        let writes = attempts.map(\.write)
        let outcomes = try await request { remote in
            try await remote.write(writes)
        }
        guard outcomes.count == writes.count else {
            throw RemoteError(
                .retryable, "sent \(writes.count) writes, got \(outcomes.count) outcomes")
        }
        noteReceived(outcomes)
        let terms = terms
        let settlements = try await write { sync in
            guard try batch.map(sync.records.removeAttempts) ?? false else {
                return try zip(attempts, outcomes).map { attempt, outcome in
                    try sync.settle(attempt, outcome, terms)
                }
            }
            var own = attempts
            if outcomes.allSatisfy({ $0 == .applied }) { try sync.records.dropBases(of: &own) }
            return try zip(own, outcomes).map { attempt, outcome in
                try sync.settleOwn(attempt, outcome, terms)
            }
        }
        var mayPass: RemoteError?
        progress { progress in
            progress.uploadedDocuments += outcomes.count { $0 == .applied }
            progress.uploadedBytes += writes.reduce(0) { $0 + $1.action.byteCount }
        }
        for ((attempt, outcome), settlement) in zip(zip(attempts, outcomes), settlements) {
            count(settlement, attempt.record.documentID, outcome)
            if settlement == .keepAttempt, case .failed(let error) = outcome { mayPass = error }
        }
        func ids(_ settlement: UploadSettlement) -> [BSONValue] {
            zip(attempts, settlements).filter { $1 == settlement }.map { $0.0.record.documentID }
        }
        reverted += ids(.revertRejected)
        return (ids(.lookAgain), mayPass)
    }

    private var terms: UploadTerms {
        UploadTerms(failuresMax: limits.failuresMax, rejection: configuration.rejection.rule)
    }

    private mutating func count(
        _ settlement: UploadSettlement, _ documentID: BSONValue, _ outcome: RemoteWriteOutcome
    ) {
        switch settlement {
        case .confirm, .confirmAndKeepPending, .finishDelete, .finishDeleteAndKeepInsert:
            report.uploaded += 1
        case .lookAgain, .keepAttempt: break
        case .revertRejected:
            report.reverted += 1
            toldLater.append(.compensatingWrite)
        case .askRejected: report.paused += 1
        case .pauseRejected, .pauseExhausted:
            report.paused += 1
            guard case .failed(let error) = outcome else { return }
            if settlement == .pauseRejected, error.compensatingWrite != nil {
                toldLater.append(.rejected)
                return
            }
            errors.append(
                SyncTransaction.error(
                    settlement, error, namespace, documentID))
        }
    }

    /// Writes a line about writes that were not allowed, as Device Sync does.
    private func noteReceived(_ outcomes: [RemoteWriteOutcome]) {
        let isRefused = outcomes.contains {
            if case .failed(let error) = $0 { error.compensatingWrite != nil } else { false }
        }
        guard isRefused else { return }
        engine.log.note(
            .warning, namespace, CompensatingWrite.receivedLine(session: sessionNumber))
    }
}

/// An attempt that is stored and may be sent.
struct OpenAttempt: Sendable {
    /// The record, with the attempt in it.
    fileprivate(set) var record: SyncedDocument
    let write: RemoteWrite
    let kind: AttemptBatch.Kind
    /// The document that was to be sent.
    let local: BSONDocument?
}

extension SyncRecords {
    /// Removes the stored bases of records whose attempts have all landed, at once where their rows
    /// are a run that holds no others.
    fileprivate func dropBases(of attempts: inout [OpenAttempt]) throws {
        let rows = attempts.compactMap(\.record.rowID)
        guard let first = rows.min(), let last = rows.max(), rows.count == attempts.count,
            last - first == Int64(rows.count - 1)
        else { return }
        try removeBases(from: first, through: last)
        for index in attempts.indices { attempts[index].record.keptBase = nil }
    }
}

extension SyncTransaction {
    /// Attempts that are stored in a row, and the record up to which records were considered.
    struct Outgoing: Sendable {
        var attempts: [OpenAttempt] = []
        /// What is not sent, since no subscription asks for it.
        var refused: [ViewRefusal] = []
        var row: Int64?
        var lastRow: Int64?
    }

    /// Stores attempts for the next pending records (rule R3).
    func beginAttempts(
        after row: Int64, limits: SyncLimits, _ terms: UploadTerms, resolved: Set<Int64>,
        before set: Int64? = nil
    ) throws -> Outgoing {
        let earlier = try set.map(subscriptions.earlierRows)
        let pending = try records.records(
            .toSend, in: collection.rowID, after: row, limit: limits.batchDocuments)
        let operations = try state.nextOperations(pending.count)
        var batch = Outgoing()
        var bytes = 0
        let locals = try transaction.getFirst(
            namespace, ids: pending.map(\.documentID), bytesMax: limits.batchBytes)
        for ((record, local), operation) in zip(zip(pending, locals), operations) {
            // A replacement or delete carries the base as its condition.
            bytes += (local?.byteCount ?? 0) + (record.base.document(local: local)?.byteCount ?? 0)
            if bytes > limits.batchBytes && !batch.attempts.isEmpty { break }
            batch.lastRow = record.rowID
            if let earlier, let row = record.rowID, !earlier.contains(row) { continue }
            let isResolved = record.rowID.map(resolved.contains) ?? false
            if !isResolved,
                let refused = try refuseOutOfView(record, operation, local: local, terms)
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
        _ old: SyncedDocument, _ operation: OperationID, local: BSONDocument?,
        resolvedInThisPass: Bool
    ) throws -> OpenAttempt? {
        var record = old
        let base = record.base.document(local: local)
        let paths = Self.paths(from: base, to: local)
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
            try hintUnclaimed(&record, local: local)
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

    private static func paths(
        from base: BSONDocument?, to local: BSONDocument?
    ) -> UpdateDescription? {
        guard let base, let local,
            let paths = UpdateDescription.difference(
                from: base, to: local, excluding: DocumentVersion.fieldName)
        else { return nil }
        // Keys that stand twice in a document have no path of their own.
        do throws(BSONError) {
            return try paths.apply(to: base).contentEquals(local) ? paths : nil
        } catch {
            return nil
        }
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

    /// The version, and the old values of what is touched: a foreign edit that left the version as
    /// it was is not overwritten unseen (rule R6).
    private static func condition(
        _ decision: UploadDecision, _ version: VersionField, base: BSONDocument?,
        paths: UpdateDescription?
    ) -> RemoteWrite.Condition {
        #if ENGINE_VARIANTS
            if EngineVariant.noOldValues.isOn { return RemoteWrite.Condition(version: version) }
        #endif
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

extension RemoteWrite.Action {
    /// The bytes of what is written.
    fileprivate var byteCount: Int {
        switch self {
        case .insert(let document), .replace(let document): document.byteCount
        case .update(set: let set, unset: let unset):
            set.byteCount + unset.reduce(0) { $0 + $1.utf8.count }
        case .delete: 0
        }
    }
}
