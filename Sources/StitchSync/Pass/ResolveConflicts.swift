internal import BSONStore

/// The resolution of conflicts by the app.
struct ResolveConflicts {
    let context: PassContext

    /// The longest time that answers wait to be committed together.
    private static let answersWait: Duration = .milliseconds(100)

    /// Calls the handler outside any transaction, for one conflict after another, then commits the
    /// answers together, except where the app wrote meanwhile.
    func resolve(_ conflicts: [OpenConflict]) async throws {
        guard let handler = context.configuration.conflictHandler else {
            let errors = conflicts.map { conflict in
                context.engine.journal.note(conflict, in: context.namespace, .waits)
                return SyncError(
                    .notConfigured, "a conflict waits for a conflict handler",
                    namespace: context.namespace, documentID: conflict.record.documentID)
            }
            return context.findings.add(contentsOf: errors)
        }
        var answers: [ConflictAnswer] = []
        var bytes = 0
        var stopwatch = Stopwatch(context.engine.clock)
        for conflict in conflicts {
            let answer = try await answer(conflict, handler)
            answers.append(answer)
            bytes += answer.byteCount
            if bytes > context.limits.batchBytes || stopwatch.elapsed > Self.answersWait {
                try await commit(answers)
                answers = []
                bytes = 0
                stopwatch = Stopwatch(context.engine.clock)
            }
        }
        if !answers.isEmpty { try await commit(answers) }
    }

    private func answer(
        _ conflict: OpenConflict, _ handler: ConflictHandler<BSONDocument>
    ) async throws -> ConflictAnswer {
        do {
            let shown = shown(conflict)
            try await context.engine.conflictFound?(shown)
            // An immediate rule cannot wait, so it needs no time limit.
            if handler.rule.isImmediate {
                let answer = try await handler.resolve(shown)
                return ConflictAnswer(conflict: conflict, result: .success(answer))
            }
            let resolution = try await withTimeout(
                context.limits.handlerTimeout, clock: context.engine.clock
            ) {
                try await handler.resolve(shown)
            }
            return ConflictAnswer(conflict: conflict, result: .success(resolution))
        } catch {
            try Task.checkCancellation()
            return ConflictAnswer(
                conflict: conflict, result: .failure(failure(of: conflict, error)))
        }
    }

    private func shown(_ conflict: OpenConflict) -> Conflict<BSONDocument> {
        Conflict(
            namespace: context.namespace, documentID: conflict.record.documentID,
            base: conflict.base,
            local: conflict.local, remote: conflict.remote.document,
            mayHaveLanded: conflict.mayHaveLanded)
    }

    private func failure(of conflict: OpenConflict, _ cause: any Error) -> SyncError {
        let code: SyncError.Code
        var message = "the conflict handler failed: \(cause)"
        switch cause {
        case let failure as EditionDecodingFailure:
            (code, message) = (.decodingFailed, "\(failure)")
        case is TimeoutError: code = .handlerTimeout
        default: code = .handlerFailed
        }
        return SyncError(
            code, message, namespace: context.namespace, documentID: conflict.record.documentID,
            underlying: cause)
    }

    /// Commits answers in one transaction; an answer that cannot be stored pauses its document.
    private func commit(_ answers: [ConflictAnswer]) async throws {
        let sharing = sharing
        do {
            let outcomes = try await context.write { sync in
                try answers.map(SettleConflict(sync: sync, sharing: sharing).settle)
            }
            for (answer, outcome) in zip(answers, outcomes) { finish(answer, outcome) }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            for answer in answers { try await commitIndividually(answer) }
        }
    }

    private func commitIndividually(_ answer: ConflictAnswer) async throws {
        let sharing = sharing
        do {
            finish(
                answer,
                try await context.write { sync in
                    try SettleConflict(sync: sync, sharing: sharing).settle(answer)
                })
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            let failed = ConflictAnswer(
                conflict: answer.conflict, result: .failure(failure(of: answer.conflict, cause)))
            finish(
                failed,
                try await context.write { sync in
                    try SettleConflict(sync: sync, sharing: sharing).settle(failed)
                })
        }
    }

    /// The sharing of conflicts, where the remote takes any.
    private var sharing: ConflictSharing? {
        context.engine.remote is any ConflictCollector ? context.configuration.sharing : nil
    }

    private func finish(_ answer: ConflictAnswer, _ outcome: ResolutionOutcome) {
        if case .success(let resolution) = answer.result {
            context.findings.count { $0.conflicts += 1 }
            journal(answer.conflict, outcome, JournaledConflict.Answer(resolution))
        } else if case .paused(let error) = outcome {
            // A failed answer is never committed.
            context.engine.journal.note(
                answer.conflict, in: context.namespace, .failed(error.message))
        }
        finish(outcome, of: answer.conflict.record)
    }

    /// Journals the outcome of a conflict for tools, unless the conflict will be decided again.
    private func journal(
        _ conflict: OpenConflict, _ outcome: ResolutionOutcome,
        _ answer: JournaledConflict.Answer
    ) {
        switch outcome {
        case .committed: context.engine.journal.note(conflict, in: context.namespace, answer)
        case .overtaken: break
        case .paused(let error):
            context.engine.journal.note(conflict, in: context.namespace, .failed(error.message))
        }
    }

    /// Journals the outcome of a conflict that was resolved in the transaction that found it.
    func journal(
        _ conflict: OpenConflict, _ outcome: ResolutionOutcome,
        _ answer: ConflictSide?
    ) {
        switch answer {
        case .local: journal(conflict, outcome, JournaledConflict.Answer.useLocal)
        case .remote: journal(conflict, outcome, JournaledConflict.Answer.useRemote)
        case nil: break
        }
    }

    /// Reports the outcome of a record's conflict, and has a resolved document wait for the next pass,
    /// which uploads it.
    func finish(_ outcome: ResolutionOutcome, of record: SyncRecord) {
        switch outcome {
        case .committed:
            if let row = record.rowID { context.findings.holdBack(row) }
        case .overtaken: context.findings.count { $0.overtaken += 1 }
        case .paused(let error):
            context.findings.count { $0.paused += 1 }
            context.findings.add(error)
        }
    }

    /// Removes from the progress the documents whose conflicts no longer wait, or wait with another stale
    /// mark; `TransferProgress.noteSettled` added them.
    func removeFinishedWaits() throws {
        let own = context.engine.progress.waiting(in: context.namespace)
        guard !own.isEmpty else { return }
        let over = try context.read { records, collection in
            try own.filter { place, mark in
                try records.staleMark(ofKey: place.key, in: collection.rowID) != mark
            }
        }
        context.engine.progress.removeWaits(over.keys)
    }
}
