internal import BSONStore

/// The settlement of the remote's answers to attempts.
struct SettleUpload {
    let sync: SyncTransaction
    let policy: UploadPolicy
    /// Whether a change that a unique index refused is sent again in this pass.
    var sendsTakenAgain = false

    /// Settles the answers to a batch.
    func settle(
        _ batch: OutgoingBatch, _ outcomes: [RemoteWriteOutcome]
    ) throws -> [UploadSettlement] {
        // An app's write first removes the row of the batch (`SyncEngine.write`, `ExpandBatches`): while
        // it is there, no record of the batch has changed.
        guard try batch.place.map(sync.attemptBatches.remove) ?? false else {
            return try zip(batch.attempts, outcomes).map { attempt, outcome in
                try settleIfCurrent(attempt, outcome)
            }
        }
        return try zip(batch.attempts, outcomes).map { attempt, outcome in
            try settleUnchanged(attempt, outcome)
        }
    }

    /// Settles one answer with the current record and document.
    private func settleIfCurrent(
        _ outgoing: OutgoingAttempt, _ outcome: RemoteWriteOutcome
    ) throws -> UploadSettlement {
        // Where another step settled the attempt meanwhile, nothing is stored; as after a write that
        // did not match, the pass fetches the document.
        guard let record = try sync.current(outgoing.record), let attempt = record.attempt,
            attempt.operation == outgoing.write.operation
        else { return .fetchAgain }
        return try settle(
            record, attempt, outcome, local: sync.local(record.documentID))
    }

    /// Settles one answer where the collection has not changed since the attempt was stored.
    private func settleUnchanged(
        _ outgoing: OutgoingAttempt, _ outcome: RemoteWriteOutcome
    ) throws -> UploadSettlement {
        guard let attempt = outgoing.record.attempt else { return .fetchAgain }
        var record = outgoing.record
        if outgoing.leavesBase(after: outcome) { record.storedBase = nil }
        return try settle(record, attempt, outcome, local: outgoing.local)
    }

    private func settle(
        _ record: SyncRecord, _ attempt: Attempt, _ outcome: RemoteWriteOutcome,
        local: BSONDocument?
    ) throws -> UploadSettlement {
        let intended = attempt.intended.document(local: local)
        let facts = UploadOutcomeFacts(
            outcome: classify(outcome), wasDelete: attempt.isDelete,
            localExists: local != nil, localUnchanged: contentEqual(local, intended),
            triedOften: Self.isUnknown(outcome) && record.failures + 1 >= policy.failuresMax,
            onRejection: policy.onRejection(
                of: record, isDenied: outcome.isDenied))
        return try carryOut(
            UploadSettlement.decide(facts), attempt, outcome, of: record, local: local)
    }

    private static func isUnknown(_ outcome: RemoteWriteOutcome) -> Bool {
        if case .failed(let error) = outcome { error.errorClass == .unknown } else { false }
    }

    private func classify(_ outcome: RemoteWriteOutcome) -> UploadOutcomeFacts.Outcome {
        switch outcome {
        case .applied: .applied
        case .notMatched: .notMatched
        case .duplicateKey: .duplicateKey
        case .failed(let error):
            switch error.errorClass {
            case .rejected where sendsTakenAgain && error.isUniqueValueTaken: .valueTaken
            case .rejected: .rejected
            case .retryable, .unauthenticated, .unknown, .historyLost, .collectionDropped:
                .retryable
            }
        }
    }

    /// Stores what a settlement means for the record.
    ///
    /// - Returns: what was done: a document that cannot be reverted is paused.
    private func carryOut(
        _ settlement: UploadSettlement, _ attempt: Attempt, _ outcome: RemoteWriteOutcome,
        of old: SyncRecord, local: BSONDocument?
    ) throws -> UploadSettlement {
        var record = old
        let id = record.documentID
        switch settlement {
        case .confirm, .confirmAndKeepPending, .finishDeleteAndKeepInsert:
            let before = record.base.document(local: local)
            let after = attempt.intended.document(local: local)
            record.adopt(attempt, local: local)
            noteApplied(attempt, over: old)
            record = try sync.save(record)
            try sync.emitChange(
                .committed, id, from: before, to: after, uncommitted: record.isPending)
            try DeviceDocuments(sync: sync).evictUnkept(record, local: local, .committed)
        case .finishDelete:
            noteApplied(attempt, over: old)
            try sync.end(record)
            try sync.emit(.delete, of: id, reason: .committed, uncommitted: false)
        case .fetchAgain:
            sync.note(.notMatched, of: id, operation: attempt.operation, from: old.version)
            record.attempt = nil
            if attempt.isDelete {
                // An earlier copy of the request may have deleted the document.
                let base = record.base.document(local: local)
                record.addUnresolved([UnresolvedAttempt(attempt, base: base, local: local)])
            }
            try sync.makeStale(&record)
            record.notePending(local: local)
            try sync.save(record)
        case .sendTogether:
            record.attempt = nil
            record.notePending(local: local)
            try sync.save(record)
        case .keepAttempt:
            if Self.isUnknown(outcome) { record.failures += 1 }
            noteUnanswered(attempt, outcome, of: id)
            try sync.save(record)
        case .pauseRejected: return try reject(.pause, attempt, outcome, of: old, local: local)
        case .revertRejected: return try reject(.revert, attempt, outcome, of: old, local: local)
        case .askRejected: return try reject(.ask, attempt, outcome, of: old, local: local)
        case .pauseExhausted:
            noteUnanswered(attempt, outcome, of: id)
            try pause(record, settlement, outcome)
        }
        return settlement
    }

    /// Settles a change that the remote refused for good, as decided if that is possible.
    private func reject(
        _ decision: RejectionDecision, _ attempt: Attempt, _ outcome: RemoteWriteOutcome,
        of record: SyncRecord, local: BSONDocument?
    ) throws -> UploadSettlement {
        guard case .failed(let error) = outcome else { return UploadSettlement(decision) }
        let rejected = SettleRejection.RejectedChange(
            operation: attempt.operation, intended: attempt.intended.document(local: local),
            local: local, error: error)
        return UploadSettlement(
            try SettleRejection(sync: sync).settle(decision, rejected, of: record))
    }

    private func noteApplied(_ attempt: Attempt, over old: SyncRecord) {
        sync.note(
            .applied, of: old.documentID, operation: attempt.operation, from: old.version,
            to: attempt.version)
    }

    private func noteUnanswered(
        _ attempt: Attempt, _ outcome: RemoteWriteOutcome, of id: BSONValue
    ) {
        guard case .failed(let error) = outcome else { return }
        sync.note(.unanswered(error.description), of: id, operation: attempt.operation)
    }

    private func pause(
        _ old: SyncRecord, _ settlement: UploadSettlement, _ outcome: RemoteWriteOutcome
    ) throws {
        guard case .failed(let cause) = outcome else { return }
        var record = old
        let error = settlement.error(cause, sync.namespace, record.documentID)
        record.pause = PauseReason(error.code, error.message)
        try sync.save(record)
    }
}

extension UploadSettlement {
    /// Returns the error for the app when a document is paused.
    func error(
        _ cause: RemoteError, _ namespace: Namespace,
        _ id: BSONValue
    ) -> SyncError {
        SyncError(
            self == .pauseRejected ? .rejected : .retriesExhausted, cause.description,
            namespace: namespace, documentID: id, underlying: cause)
    }
}
