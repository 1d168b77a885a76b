internal import BSONStore

/// The upload of pending changes: store attempts on disk, send a batch, settle each response.
extension CollectionPass {
    /// Uploads all pending changes in batches, then fetches documents that other clients changed
    /// first.
    ///
    /// - Parameter set: the subscription set whose earlier writes are uploaded; `nil` uploads all.
    mutating func sendPending(before set: Int64? = nil) async throws {
        var overtaken: [BSONValue] = []
        var failure: RemoteError?
        var batch = try await write(beginning(after: 0, before: set))
        while true {
            errors += batch.missing
            report.paused += batch.missing.count
            for refused in batch.refused {
                count(refused.settlement, refused.documentID, .failed(refused.error))
                if refused.settlement == .revertRejected { reverted.append(refused.documentID) }
            }
            guard let row = batch.lastRow else { break }
            let begin = beginning(after: row, before: set)
            guard !batch.attempts.isEmpty else {
                batch = try await write(begin)
                continue
            }
            let sent = try await send(batch, then: begin)
            overtaken += sent.overtaken
            failure = failure ?? sent.failure
            batch = sent.next
        }
        try await removeStaleBases()
        report.overtaken += overtaken.count
        // A reverted document may be older than the remote's edition.
        try await look(atOvertaken: overtaken + reverted)
        if let failure { throw failure }
    }

    /// Removes the stale bases that no later commit removed.
    private mutating func removeStaleBases() async throws {
        guard !staleBases.isEmpty else { return }
        let stale = staleBases
        staleBases = []
        try await write { sync in try sync.records.removeStaleBases(of: stale) }
    }

    /// Returns the closure that stores the attempts of the next batch.
    private func beginning(
        after row: Int64, before set: Int64?
    ) -> @Sendable (SyncTransaction) throws -> SyncTransaction.OutgoingBatch {
        let (limits, resolved, terms) = (limits, resolved, terms)
        return { sync in
            try sync.beginAttempts(
                after: row, limits: limits, terms, resolved: resolved, before: set)
        }
    }

    private mutating func look(atOvertaken ids: [BSONValue]) async throws {
        for start in stride(from: 0, to: ids.count, by: limits.batchDocuments) {
            let chunk = ids[start..<min(start + limits.batchDocuments, ids.count)]
            try await look(at: try await write { sync in try chunk.compactMap(sync.record) })
        }
    }

    /// Sends a batch and settles the responses; the same commit stores the attempts of the next
    /// batch.
    private mutating func send(
        _ batch: SyncTransaction.OutgoingBatch,
        then begin: @escaping @Sendable (SyncTransaction) throws -> SyncTransaction.OutgoingBatch
    ) async throws -> Sent {
        let attempts = batch.attempts
        let writes = attempts.map(\.write)
        let outcomes = try await outcomes(of: writes)
        noteReceived(outcomes)
        staleBases += zip(attempts, outcomes).compactMap {
            $0.leavesBase(after: $1) ? $0.record.rowID : nil
        }
        let (terms, stale) = (terms, staleBases)
        let (settlements, next) = try await write { sync in
            let settlements = try sync.settle(batch, outcomes, terms)
            let next = try begin(sync)
            if next.lastRow == nil { try sync.records.removeStaleBases(of: stale) }
            return (settlements, next)
        }
        if next.lastRow == nil { staleBases = [] }
        engine.progress.count { progress in
            progress.uploadedDocuments += outcomes.count { $0 == .applied }
            progress.uploadedBytes += writes.reduce(0) { $0 + $1.action.byteCount }
        }
        var sent = Sent(next: next)
        for ((attempt, outcome), settlement) in zip(zip(attempts, outcomes), settlements) {
            switch settlement {
            case .lookAgain: sent.overtaken.append(attempt.record.documentID)
            case .keepAttempt:
                if case .failed(let error) = outcome { sent.failure = error }
            case .revertRejected: reverted.append(attempt.record.documentID)
            case .confirm, .confirmAndKeepPending, .finishDelete, .finishDeleteAndKeepInsert,
                .askRejected, .pauseRejected, .pauseExhausted:
                break
            }
            count(settlement, attempt.record.documentID, outcome)
        }
        return sent
    }

    /// Sends writes.
    ///
    /// Writes refused by a unique index are sent again as long as others succeed, since one of
    /// those may have released the value.
    private mutating func outcomes(
        of writes: [RemoteWrite]
    ) async throws -> [RemoteWriteOutcome] {
        var outcomes = try await answers(to: writes)
        var last = outcomes
        while last.contains(.applied) {
            let taken = outcomes.indices.filter { outcomes[$0].isUniqueValueTaken }
            guard !taken.isEmpty else { break }
            last = try await answers(to: taken.map { writes[$0] })
            for (index, outcome) in zip(taken, last) { outcomes[index] = outcome }
        }
        return outcomes
    }

    private mutating func answers(to writes: [RemoteWrite]) async throws -> [RemoteWriteOutcome] {
        let outcomes = try await request { remote in
            try await remote.write(writes)
        }
        guard outcomes.count == writes.count else {
            throw RemoteError(
                .retryable, "sent \(writes.count) writes, got \(outcomes.count) outcomes")
        }
        return outcomes
    }

    /// The results of a batch that are not counted.
    private struct Sent {
        /// The next batch, which is stored already.
        let next: SyncTransaction.OutgoingBatch
        /// Documents that another client changed first.
        var overtaken: [BSONValue] = []
        /// A temporary error.
        var failure: RemoteError?
    }

    var terms: UploadPolicy {
        UploadPolicy(failuresMax: limits.failuresMax, rejection: configuration.rejection.rule)
    }

    mutating func count(
        _ settlement: UploadSettlement, _ documentID: BSONValue, _ outcome: RemoteWriteOutcome
    ) {
        switch settlement {
        case .confirm, .confirmAndKeepPending, .finishDelete, .finishDeleteAndKeepInsert:
            report.uploaded += 1
        case .lookAgain, .keepAttempt: break
        case .revertRejected:
            report.reverted += 1
            persistedErrors.append(.compensatingWrite)
        case .askRejected: report.paused += 1
        case .pauseRejected, .pauseExhausted:
            report.paused += 1
            guard case .failed(let error) = outcome else { return }
            if settlement == .pauseRejected, error.compensatingWrite != nil {
                persistedErrors.append(.rejected)
                return
            }
            errors.append(
                SyncTransaction.error(
                    settlement, error, namespace, documentID))
        }
    }

    /// Logs a line about forbidden writes, as Device Sync does.
    private func noteReceived(_ outcomes: [RemoteWriteOutcome]) {
        let isRefused = outcomes.contains {
            if case .failed(let error) = $0 { error.compensatingWrite != nil } else { false }
        }
        guard isRefused else { return }
        engine.log.note(
            .warning, namespace, CompensatingWrite.receivedLine(session: sessionNumber))
    }
}

extension RemoteWriteOutcome {
    /// Whether a unique index of the remote refused the content.
    fileprivate var isUniqueValueTaken: Bool {
        if case .failed(let error) = self {
            error.errorClass == .rejected && [11_000, 11_001].contains(error.code)
        } else {
            false
        }
    }
}

extension RemoteWrite.Action {
    /// The size of the written data, in bytes.
    fileprivate var byteCount: Int {
        switch self {
        case .insert(let document), .replace(let document): document.byteCount
        case .update(set: let set, unset: let unset):
            set.byteCount + unset.reduce(0) { $0 + $1.utf8.count }
        case .delete: 0
        }
    }
}
