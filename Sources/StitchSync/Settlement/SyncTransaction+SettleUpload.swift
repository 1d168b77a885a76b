internal import BSONStore

/// The settlement of the remote's responses to attempts.
extension SyncTransaction {
    /// Settles the responses to a batch.
    func settle(
        _ batch: OutgoingBatch, _ outcomes: [RemoteWriteOutcome], _ terms: UploadPolicy
    ) throws -> [UploadSettlement] {
        guard try batch.row.map(records.removeAttempts) ?? false else {
            return try zip(batch.attempts, outcomes).map { attempt, outcome in
                try settle(attempt, outcome, terms)
            }
        }
        return try zip(batch.attempts, outcomes).map { attempt, outcome in
            try settleUnchanged(attempt, outcome, terms)
        }
    }

    /// Settles one response with the current record and document.
    func settle(
        _ open: OpenAttempt, _ outcome: RemoteWriteOutcome, _ terms: UploadPolicy
    ) throws -> UploadSettlement {
        guard let record = try current(open.record), let attempt = record.attempt,
            attempt.operation == open.write.operation
        else { return .lookAgain }
        return try settle(
            record, attempt, outcome, local: local(record.documentID), terms)
    }

    /// Settles one response where the collection has not changed since the attempt was stored.
    private func settleUnchanged(
        _ open: OpenAttempt, _ outcome: RemoteWriteOutcome, _ terms: UploadPolicy
    ) throws -> UploadSettlement {
        guard let attempt = open.record.attempt else { return .lookAgain }
        var record = open.record
        if open.leavesBase(after: outcome) { record.keptBase = nil }
        return try settle(record, attempt, outcome, local: open.local, terms)
    }

    private func settle(
        _ record: SyncRecord, _ attempt: Attempt, _ outcome: RemoteWriteOutcome,
        local: BSONDocument?, _ terms: UploadPolicy
    ) throws -> UploadSettlement {
        let intended = attempt.intended.document(local: local)
        let facts = UploadOutcomeFacts(
            outcome: Self.classify(outcome), wasDelete: attempt.isDelete,
            localExists: local != nil, localUnchanged: contentEqual(local, intended),
            triedOften: Self.isUnknown(outcome) && record.failures + 1 >= terms.failuresMax,
            onRejection: terms.onRejection(
                of: record, isCompensating: Self.isCompensating(outcome)))
        let settlement = UploadSettlement.decide(facts)
        if facts.outcome == .rejected, case .failed(let error) = outcome {
            let refusal = Refusal(
                operation: attempt.operation, intended: intended, local: local, error: error)
            return try settle(settlement, refusal, of: record)
        }
        try apply(settlement, attempt, outcome, to: record, local: local)
        return settlement
    }

    private static func isUnknown(_ outcome: RemoteWriteOutcome) -> Bool {
        if case .failed(let error) = outcome { error.errorClass == .unknown } else { false }
    }

    private static func isCompensating(_ outcome: RemoteWriteOutcome) -> Bool {
        if case .failed(let error) = outcome { error.compensatingWrite != nil } else { false }
    }

    private static func classify(_ outcome: RemoteWriteOutcome) -> UploadOutcomeFacts.Outcome {
        switch outcome {
        case .applied: .applied
        case .notMatched: .notMatched
        case .duplicateKey: .duplicateKey
        case .failed(let error):
            switch error.errorClass {
            case .rejected: .rejected
            case .retryable, .unauthenticated, .unknown, .historyLost, .collectionDropped:
                .retryable
            }
        }
    }

    private func apply(
        _ settlement: UploadSettlement, _ attempt: Attempt, _ outcome: RemoteWriteOutcome,
        to old: SyncRecord, local: BSONDocument?
    ) throws {
        var record = old
        let id = record.documentID
        switch settlement {
        case .confirm, .confirmAndKeepPending, .finishDeleteAndKeepInsert:
            let before = record.base.document(local: local)
            let after = attempt.intended.document(local: local)
            record.adopt(attempt, local: local)
            record = try save(record)
            try emitChange(
                .committed, id, from: before, to: after, uncommitted: record.isPending)
            try evictUnclaimed(record, local: local, .committed)
        case .finishDelete:
            try end(record)
            try emit(.delete, .committed, id, uncommitted: false)
        case .lookAgain:
            record.attempt = nil
            record.hint = try nextStaleMark()
            record.isPending =
                PendingChange(base: record.base.document(local: local), local: local) != .none
            try save(record)
        case .keepAttempt:
            if Self.isUnknown(outcome) { record.failures += 1 }
            try save(record)
        case .pauseRejected, .revertRejected, .askRejected: return
        case .pauseExhausted:
            try pause(record, settlement, outcome)
        }
    }

    private func pause(
        _ old: SyncRecord, _ settlement: UploadSettlement, _ outcome: RemoteWriteOutcome
    ) throws {
        guard case .failed(let cause) = outcome else { return }
        var record = old
        let error = Self.error(settlement, cause, namespace, record.documentID)
        record.pause = PauseReason(error.code, error.message)
        try save(record)
    }

    /// Returns the error for the app when a document is paused.
    static func error(
        _ settlement: UploadSettlement, _ cause: RemoteError, _ namespace: Namespace,
        _ id: BSONValue
    ) -> SyncError {
        SyncError(
            settlement == .pauseRejected ? .rejected : .retriesExhausted, cause.description,
            namespace: namespace, documentID: id, underlying: cause)
    }
}
