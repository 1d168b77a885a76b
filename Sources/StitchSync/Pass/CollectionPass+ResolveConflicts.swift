internal import BSONStore

/// A conflict as it was found: what the handler is shown, and the record that it was found for.
struct OpenConflict: Sendable {
    let record: SyncRecord
    let base: BSONDocument?
    let local: BSONDocument?
    let remote: RemoteEdition
    let mayHaveLanded: Bool
}

/// Lets the app answer conflicts, and carries its answers out.
extension CollectionPass {
    /// Answers are kept back so long at most, to be committed together.
    private static let answersWait: Duration = .milliseconds(100)

    /// What the handler said, or why it said nothing.
    struct Answer: Sendable {
        let conflict: OpenConflict
        let result: Result<ConflictResolution<BSONDocument>, SyncError>

        /// The bytes of a document that the handler made.
        var byteCount: Int {
            if case .success(.use(let document)) = result { document.byteCount } else { 0 }
        }
    }

    /// Asks the handler outside of any transaction, one conflict after another, then commits the
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
        var answers: [Answer] = []
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
    ) async throws -> Answer {
        do {
            let shown = shown(conflict)
            try await engine.probe.conflictFound?(shown)
            if let immediate = handler.immediate {
                return Answer(conflict: conflict, result: .success(try immediate(shown)))
            }
            let resolution = try await withTimeout(limits.handlerTimeout, clock: engine.clock) {
                try await handler.resolve(shown)
            }
            return Answer(conflict: conflict, result: .success(resolution))
        } catch {
            try Task.checkCancellation()
            return Answer(conflict: conflict, result: .failure(failure(of: conflict, error)))
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

    /// Commits answers in one transaction; an answer that cannot be kept pauses its document.
    private mutating func commit(_ answers: [Answer]) async throws {
        do {
            let outcomes = try await write { sync in try answers.map(sync.commit) }
            for (answer, outcome) in zip(answers, outcomes) { count(answer, outcome) }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            for answer in answers { try await commitIndividually(answer) }
        }
    }

    private mutating func commitIndividually(_ answer: Answer) async throws {
        do {
            count(answer, try await write { sync in try sync.commit(answer) })
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            let failed = Answer(
                conflict: answer.conflict, result: .failure(failure(of: answer.conflict, cause)))
            count(failed, try await write { sync in try sync.commit(failed) })
        }
    }

    private mutating func count(_ answer: Answer, _ outcome: SyncTransaction.ResolutionOutcome) {
        if case .success(let resolution) = answer.result {
            report.conflicts += 1
            note(answer.conflict, outcome, JournaledConflict.Answer(resolution))
        } else {
            note(answer.conflict, outcome, .waits)
        }
        count(outcome, answer.conflict.record)
    }

    /// Notes for tools what became of a conflict; one that is decided anew is noted then.
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

    /// The same for a conflict that was answered in the transaction that found it.
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

    /// Notes what became of the answer to a record's conflict.
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

extension SyncTransaction {
    /// What became of an answer.
    enum ResolutionOutcome: Sendable {
        case committed
        /// The app wrote while the handler thought; the conflict is decided anew.
        case overtaken
        case paused(SyncError)
    }

    /// Carries an answer out, unless the app wrote meanwhile; pauses the document of one that failed.
    func commit(_ answer: CollectionPass.Answer) throws -> ResolutionOutcome {
        switch answer.result {
        case .success(let resolution): return try commit(resolution, to: answer.conflict)
        case .failure(let error):
            guard var record = try current(answer.conflict.record),
                record.isSame(as: answer.conflict.record)
            else { return .overtaken }
            record.pause = PauseReason(error.code, error.message)
            try save(record)
            return .paused(error)
        }
    }

    private func commit(
        _ answer: ConflictResolution<BSONDocument>, to conflict: OpenConflict
    ) throws -> ResolutionOutcome {
        #if ENGINE_VARIANTS
            let goesOn = EngineVariant.answerOverWrite.isOn
        #else
            let goesOn = false
        #endif
        guard let record = try current(conflict.record),
            goesOn || record.isSame(as: conflict.record)
        else { return .overtaken }
        return try carryOut(answer, conflict, record, nil)
    }

    /// Carries out the answer that is given always.
    func carryOut(
        _ answer: ConflictHandler<BSONDocument>.FixedResolution, _ conflict: OpenConflict,
        _ record: SyncRecord, _ local: StoredDocument?
    ) throws -> ResolutionOutcome {
        switch answer {
        case .remote: try carryOut(.useRemote, conflict, record, .some(local))
        case .local: try carryOut(.useLocal, conflict, record, .some(local))
        }
    }

    private func carryOut(
        _ answer: ConflictResolution<BSONDocument>, _ conflict: OpenConflict,
        _ record: SyncRecord, _ local: StoredDocument??
    ) throws -> ResolutionOutcome {
        // A remote document keeps the type of the number that its `_id` is.
        let id =
            (conflict.remote.document ?? conflict.local)?.documentID ?? record.documentID
        let answer = answer.document(local: conflict.local, remote: conflict.remote.document)?
            .withID(record.documentID).withSameID(as: id)
        let facts = ResolutionFacts(
            answerExists: answer != nil, remoteExists: conflict.remote.document != nil,
            answerEqualsRemote: contentEqual(answer, conflict.remote.document),
            idMatches: answer?.documentID.isSameID(as: record.documentID) ?? true,
            fits: contentEqual(answer, conflict.remote.document)
                || (answer?.byteCount ?? 0)
                    <= BSONLimits().documentBytesMax - Self.versionReserve
        )
        return try apply(
            ResolutionDecision.decide(facts), answer: answer, to: record, conflict, local)
    }

    private func apply(
        _ decision: ResolutionDecision, answer: BSONDocument?, to old: SyncRecord,
        _ conflict: OpenConflict, _ local: StoredDocument??
    ) throws -> ResolutionOutcome {
        var record = old
        let id = record.documentID
        let remote = conflict.remote
        if record.hint == conflict.record.hint { record.hint = 0 }
        record.attempt = nil
        switch decision {
        case .finishDelete:
            let own = try removeLocal(id, as: .byAnswer)
            try end(record)
            try emit(.delete, .resolution, own, uncommitted: false)
        case .deletePending:
            let own = try removeLocal(id, as: .byAnswer)
            try keep(&record, base: remote, local: nil)
            try emit(.delete, .resolution, own, uncommitted: true)
        case .takeRemote:
            if let document = remote.document { try setLocal(to: document, from: local) }
            record.takeBase(.sameAsLocal, remote.version)
            record = try save(record)
            try emit(.replace, .resolution, id, document: remote.document, uncommitted: false)
            try evictUnclaimed(record, local: remote.document, .remote)
        case .insertPending:
            if let answer { try setLocal(to: answer, from: local) }
            try keep(&record, base: remote, local: answer)
            try emit(.insert, .resolution, id, document: answer, uncommitted: true)
        case .updatePending:
            if let answer { try setLocal(to: answer, from: local) }
            try keep(&record, base: remote, local: answer)
            try emitChange(
                .resolution, id, from: conflict.local, to: answer, uncommitted: true)
        case .pauseOtherID:
            return try pause(
                record, .handlerChangedID,
                "the conflict handler answered with another _id, "
                    + "\((answer?.documentID ?? .null).extendedJSON(.relaxed)) for "
                    + id.extendedJSON(.relaxed))
        case .pauseTooLarge:
            return try pause(
                record, .documentTooLarge,
                "the conflict handler's answer of \(answer?.byteCount ?? 0) bytes is too large")
        }
        return .committed
    }

    /// Stores the remote's edition as base, with the local document pending on it.
    private func keep(
        _ record: inout SyncRecord, base: RemoteEdition, local: BSONDocument?
    ) throws {
        record.base = StoredContent(base.document, local: local)
        record.version = base.version
        record.isPending = true
        record.isDeletedHere = local == nil
        record.failures = 0
        try save(record)
    }

    private func pause(
        _ old: SyncRecord, _ code: SyncError.Code, _ message: String
    ) throws -> ResolutionOutcome {
        var record = old
        record.pause = PauseReason(code, message)
        try save(record)
        return .paused(
            SyncError(code, message, namespace: namespace, documentID: record.documentID))
    }
}

extension ConflictResolution<BSONDocument> {
    /// The document that the answer means, without a version field; `nil` for a delete.
    fileprivate func document(local: BSONDocument?, remote: BSONDocument?) -> BSONDocument? {
        switch self {
        case .useLocal: local
        case .useRemote: remote
        case .use(let document): document.withoutVersion
        case .delete: nil
        }
    }
}

extension BSONDocument {
    /// The document with an `_id`: its own, or this one in front where it has none.
    func withID(_ id: BSONValue) -> BSONDocument {
        guard self["_id"] == nil else { return self }
        var document: BSONDocument = ["_id": id]
        for (key, value) in self { document.append(key, value) }
        return document
    }
}

extension BSONDocument {
    /// The document under an `_id` as it is given, where its own is the same of another number type.
    fileprivate func withSameID(as id: BSONValue) -> BSONDocument {
        guard let own = self["_id"], own != id, own.isSameID(as: id) else { return self }
        var document = self
        document.set("_id", to: id)
        return document
    }
}

extension BSONValue {
    /// Whether it is the same `_id`, though it may be of another number type.
    func isSameID(as other: BSONValue) -> Bool {
        self == other || BSONKey.encode(self) == BSONKey.encode(other)
    }
}
