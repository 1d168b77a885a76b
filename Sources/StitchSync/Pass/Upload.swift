internal import BSONStore

/// The upload of pending changes: store attempts on disk, send a batch, settle each response.
struct Upload {
    let context: PassContext
    let applyRemote: ApplyRemote

    /// Uploads all pending changes in batches, then fetches documents that other clients changed
    /// first.
    ///
    /// - Parameter set: the subscription set whose earlier writes are uploaded; `nil` uploads all.
    func run(before set: Int64?) async throws {
        var overtaken: [BSONValue] = []
        var failure: RemoteError?
        // Rows of records whose stored bases are no longer needed.
        var staleBases: [Int64] = []
        // Rows of records whose unique value another document had.
        var taken: Set<Int64> = []
        var isLast = false
        var batch = try await context.write(beginning(after: 0, before: set))
        while true {
            context.findings.add(contentsOf: batch.missing)
            context.findings.count { $0.paused += batch.missing.count }
            for refused in batch.refused {
                context.findings.count(
                    refused.settlement, of: refused.documentID, in: context.namespace,
                    .failed(refused.error))
                if refused.settlement == .revertRejected {
                    context.findings.noteReverted(refused.documentID)
                }
            }
            guard let row = batch.lastRow else {
                guard !isLast, !taken.isEmpty else { break }
                isLast = true
                batch = try await context.write(beginning(after: 0, before: set, only: taken))
                continue
            }
            let begin = beginning(after: row, before: set, only: isLast ? taken : nil)
            guard !batch.attempts.isEmpty else {
                batch = try await context.write(begin)
                continue
            }
            let sent = try await send(batch, &staleBases, isLast: isLast, then: begin)
            overtaken += sent.overtaken
            taken.formUnion(sent.taken)
            failure = failure ?? sent.failure
            batch = sent.next
        }
        try await remove(staleBases)
        context.findings.count { $0.overtaken += overtaken.count }
        // A reverted document may be older than the remote's edition.
        try await apply(overtaken + context.findings.reverted)
        if let failure { throw failure }
    }

    /// Removes the stale bases that no later commit removed.
    private func remove(_ staleBases: [Int64]) async throws {
        guard !staleBases.isEmpty else { return }
        try await context.write { sync in try sync.records.removeStaleBases(of: staleBases) }
    }

    /// Returns the closure that stores the attempts of the next batch.
    private func beginning(
        after row: Int64, before set: Int64?, only: Set<Int64>? = nil
    ) -> @Sendable (SyncTransaction) throws -> OutgoingBatch {
        var limits = context.limits
        if only != nil { limits.batchDocuments = limits.exchangedDocuments }
        let policy = context.uploadPolicy
        let resolved = context.findings.resolved
        return { [limits] sync in
            try PrepareUpload(
                sync: sync, limits: limits, policy: policy, resolved: resolved, set: set,
                only: only
            ).batch(after: row)
        }
    }

    private func apply(_ ids: [BSONValue]) async throws {
        for start in stride(from: 0, to: ids.count, by: context.limits.batchDocuments) {
            let chunk = ids[start..<min(start + context.limits.batchDocuments, ids.count)]
            try await applyRemote.apply(
                try await context.write { sync in try chunk.compactMap(sync.record) })
        }
    }

    /// Sends a batch and settles the responses; the same commit stores the attempts of the next
    /// batch.
    ///
    /// - Parameter isLast: whether changes that a unique index refuses are sent together with those
    ///   that give up their values, and no more after that.
    private func send(
        _ batch: OutgoingBatch, _ staleBases: inout [Int64], isLast: Bool,
        then begin: @escaping @Sendable (SyncTransaction) throws -> OutgoingBatch
    ) async throws -> Sent {
        let attempts = batch.attempts
        let writes = attempts.map(\.write)
        var outcomes = try await outcomes(of: writes)
        if isLast { try await exchange(attempts, &outcomes) }
        noteReceived(outcomes)
        staleBases += zip(attempts, outcomes).compactMap {
            $0.leavesBase(after: $1) ? $0.record.rowID : nil
        }
        let (policy, stale, answers) = (context.uploadPolicy, staleBases, outcomes)
        let (settlements, next) = try await context.write { sync in
            let settlements = try SettleUpload(
                sync: sync, policy: policy, sendsTakenAgain: !isLast
            ).settle(batch, answers)
            let next = try begin(sync)
            if next.lastRow == nil { try sync.records.removeStaleBases(of: stale) }
            return (settlements, next)
        }
        if next.lastRow == nil { staleBases = [] }
        context.engine.progress.count { progress in
            progress.uploadedDocuments += outcomes.count { $0 == .applied }
            progress.uploadedBytes += writes.reduce(0) { $0 + $1.action.byteCount }
        }
        var sent = Sent(next: next)
        for ((attempt, outcome), settlement) in zip(zip(attempts, outcomes), settlements) {
            switch settlement {
            case .lookAgain: sent.overtaken.append(attempt.record.documentID)
            case .sendTogether: if let row = attempt.record.rowID { sent.taken.insert(row) }
            case .keepAttempt:
                if case .failed(let error) = outcome { sent.failure = error }
            case .revertRejected: context.findings.noteReverted(attempt.record.documentID)
            case .confirm, .confirmAndKeepPending, .finishDelete, .finishDeleteAndKeepInsert,
                .askRejected, .pauseRejected, .pauseExhausted:
                break
            }
            context.findings.count(
                settlement, of: attempt.record.documentID, in: context.namespace, outcome)
        }
        return sent
    }

    /// Sends writes.
    ///
    /// Writes refused by a unique index are sent again as long as others succeed, since one of
    /// those may have released the value.
    private func outcomes(
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

    /// Sends the writes together that want each other's unique values, group by group.
    ///
    /// A write that wants a value of an overtaken one counts as overtaken, too. A write keeps its
    /// refusal where it belongs to no group, or where the remote cannot apply them together.
    private func exchange(
        _ attempts: [OpenAttempt], _ outcomes: inout [RemoteWriteOutcome]
    ) async throws {
        guard outcomes.contains(where: \.isUniqueValueTaken) else { return }
        let taken = outcomes.indices.filter {
            outcomes[$0].isUniqueValueTaken || outcomes[$0] == .notMatched
        }
        let changes = taken.map { index in
            RefusedChange(
                paths: outcomes[index].uniquePaths,
                base: attempts[index].record.base.document(local: attempts[index].local),
                intended: attempts[index].local, isOvertaken: outcomes[index] == .notMatched)
        }
        let exchange = UniqueExchange.decide(changes)
        for index in exchange.waiting { outcomes[taken[index]] = .notMatched }
        for group in exchange.groups {
            let members = group.map { taken[$0] }
            let paths = Set(group.flatMap { changes[$0].paths }).sorted()
            let writes = members.map { attempts[$0].write }
            do {
                let answers = try await context.request { remote in
                    try await remote.write(writes, exchanging: paths)
                }
                guard let answers, answers.count == writes.count else { continue }
                for (index, answer) in zip(members, answers) { outcomes[index] = answer }
            } catch let error as RemoteError {
                // The remote may have applied them: evidence settles their attempts.
                for index in members { outcomes[index] = .failed(error) }
            }
        }
    }

    private func answers(to writes: [RemoteWrite]) async throws -> [RemoteWriteOutcome] {
        let outcomes = try await context.request { remote in
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
        let next: OutgoingBatch
        /// Documents that another client changed first.
        var overtaken: [BSONValue] = []
        /// Rows of records whose unique value another document had.
        var taken: Set<Int64> = []
        /// A temporary error.
        var failure: RemoteError?
    }

    /// Logs a line about forbidden writes, as Device Sync does.
    private func noteReceived(_ outcomes: [RemoteWriteOutcome]) {
        let isRefused = outcomes.contains {
            if case .failed(let error) = $0 { error.compensatingWrite != nil } else { false }
        }
        guard isRefused else { return }
        context.engine.log.note(
            .warning, context.namespace,
            CompensatingWrite.receivedLine(session: context.sessionNumber))
    }
}

extension RemoteWriteOutcome {
    /// Whether a unique index of the remote refused the content.
    fileprivate var isUniqueValueTaken: Bool {
        if case .failed(let error) = self { error.isUniqueValueTaken } else { false }
    }

    /// The paths of the unique index that refused the content, where the remote names them.
    fileprivate var uniquePaths: [String] {
        if case .failed(let error) = self { error.uniquePaths } else { [] }
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
