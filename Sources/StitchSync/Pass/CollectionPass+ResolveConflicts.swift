internal import BSONStore

/// The resolution of conflicts by the app.
extension CollectionPass {
    /// The longest time that answers wait to be committed together.
    private static let answersWait: Duration = .milliseconds(100)

    /// Calls the handler outside any transaction, for one conflict after another, then commits the
    /// answers together, except where the app wrote meanwhile.
    mutating func resolve(_ conflicts: [OpenConflict]) async throws {
        guard let handler = configuration.conflictHandler else {
            errors += conflicts.map { conflict in
                engine.journal.note(conflict, in: namespace, .waits)
                return SyncError(
                    .notConfigured, "a conflict waits for a conflict handler",
                    namespace: namespace, documentID: conflict.record.documentID)
            }
            return
        }
        var answers: [ConflictAnswer] = []
        var bytes = 0
        var stopwatch = Stopwatch(engine.clock)
        for conflict in conflicts {
            let answer = try await answer(conflict, handler)
            answers.append(answer)
            bytes += answer.byteCount
            if bytes > limits.batchBytes || stopwatch.elapsed > Self.answersWait {
                try await commit(answers)
                answers = []
                bytes = 0
                stopwatch = Stopwatch(engine.clock)
            }
        }
        if !answers.isEmpty { try await commit(answers) }
    }

    private func answer(
        _ conflict: OpenConflict, _ handler: ConflictHandler<BSONDocument>
    ) async throws -> ConflictAnswer {
        do {
            let shown = shown(conflict)
            try await engine.conflictFound?(shown)
            if let immediate = handler.immediate {
                return ConflictAnswer(conflict: conflict, result: .success(try immediate(shown)))
            }
            let resolution = try await withTimeout(limits.handlerTimeout, clock: engine.clock) {
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
            namespace: namespace, documentID: conflict.record.documentID, base: conflict.base,
            local: conflict.local, remote: conflict.remote.document,
            mayHaveLanded: conflict.mayHaveLanded)
    }

    private func failure(of conflict: OpenConflict, _ cause: any Error) -> SyncError {
        SyncError(
            cause is TimeoutError ? .handlerTimeout : .handlerFailed,
            "the conflict handler failed: \(cause)", namespace: namespace,
            documentID: conflict.record.documentID, underlying: cause)
    }

    /// Commits answers in one transaction; an answer that cannot be stored pauses its document.
    private mutating func commit(_ answers: [ConflictAnswer]) async throws {
        do {
            let outcomes = try await write { sync in try answers.map(sync.commit) }
            for (answer, outcome) in zip(answers, outcomes) { count(answer, outcome) }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            for answer in answers { try await commitIndividually(answer) }
        }
    }

    private mutating func commitIndividually(_ answer: ConflictAnswer) async throws {
        do {
            count(answer, try await write { sync in try sync.commit(answer) })
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            let failed = ConflictAnswer(
                conflict: answer.conflict, result: .failure(failure(of: answer.conflict, cause)))
            count(failed, try await write { sync in try sync.commit(failed) })
        }
    }

    private mutating func count(
        _ answer: ConflictAnswer, _ outcome: SyncTransaction.ResolutionOutcome
    ) {
        if case .success(let resolution) = answer.result {
            report.conflicts += 1
            note(answer.conflict, outcome, JournaledConflict.Answer(resolution))
        } else {
            note(answer.conflict, outcome, .waits)
        }
        count(outcome, answer.conflict.record)
    }

    /// Journals the outcome of a conflict for tools, unless the conflict will be decided again.
    private func note(
        _ conflict: OpenConflict, _ outcome: SyncTransaction.ResolutionOutcome,
        _ answer: JournaledConflict.Answer
    ) {
        switch outcome {
        case .committed: engine.journal.note(conflict, in: namespace, answer)
        case .overtaken: break
        case .paused(let error):
            engine.journal.note(conflict, in: namespace, .failed(error.message))
        }
    }

    /// Journals the outcome of a conflict that was resolved in the transaction that found it.
    func note(
        _ conflict: OpenConflict, _ outcome: SyncTransaction.ResolutionOutcome,
        _ answer: ConflictHandler<BSONDocument>.FixedResolution?
    ) {
        switch answer {
        case .local: note(conflict, outcome, JournaledConflict.Answer.useLocal)
        case .remote: note(conflict, outcome, JournaledConflict.Answer.useRemote)
        case nil: break
        }
    }

    /// Counts the outcome of the answer to a record's conflict.
    mutating func count(_ outcome: SyncTransaction.ResolutionOutcome, _ record: SyncRecord) {
        switch outcome {
        case .committed:
            if let row = record.rowID { resolved.insert(row) }
        case .overtaken: report.overtaken += 1
        case .paused(let error):
            report.paused += 1
            errors.append(error)
        }
    }
}
