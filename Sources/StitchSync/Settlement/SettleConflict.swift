internal import BSONStore

/// The outcome of a conflict handler's answer.
enum ResolutionOutcome: Sendable {
    case committed
    /// The app wrote during the handler's call; the conflict is decided again.
    case overtaken
    case paused(SyncError)
}

/// The storage of a conflict's resolution.
///
/// A handler answers with a `ConflictResolution`. ``ConflictAnswer`` holds it with its conflict, or the
/// handler's failure. ``ResolutionDecision`` says what it means for the record, ``ResolutionOutcome``
/// what became of it, and ``HistoryResolution`` is its kind in the document's story.
struct SettleConflict {
    let sync: SyncTransaction
    /// The sharing of the conflict with the server; `nil` for none.
    var sharing: ConflictSharing?

    /// Settles an answer, unless the app wrote meanwhile; pauses the document after a failure.
    ///
    /// It also stores the conflict that is shared with the server.
    func settle(_ answer: ConflictAnswer) throws -> ResolutionOutcome {
        let outcome = try resolveOrPause(answer)
        if let sharing, let shared = SharedConflict(answer, outcome, sharing) {
            try sync.sharedConflicts.add(
                shared.document, of: answer.conflict.record.documentID, in: sync.collection.rowID)
        }
        return outcome
    }

    private func resolveOrPause(_ answer: ConflictAnswer) throws -> ResolutionOutcome {
        switch answer.result {
        case .success(let resolution): return try resolve(answer.conflict, by: resolution)
        case .failure(let error):
            guard var record = try sync.current(answer.conflict.record),
                record.isSame(as: answer.conflict.record)
            else { return .overtaken }
            record.pause = PauseReason(error.code, error.message)
            try sync.save(record)
            return .paused(error)
        }
    }

    private func resolve(
        _ conflict: OpenConflict, by resolution: ConflictResolution<BSONDocument>
    ) throws -> ResolutionOutcome {
        guard let record = try sync.current(conflict.record), record.isSame(as: conflict.record)
        else { return .overtaken }
        return try store(resolution, conflict, record, local: .unread)
    }

    /// Resolves a conflict in the transaction that found it, by a fixed side.
    ///
    /// - Parameter local: the local document; `nil` where none exists.
    func resolveAtOnce(
        _ conflict: OpenConflict, by side: ConflictSide, of record: SyncRecord,
        local: StoredDocument?
    ) throws -> ResolutionOutcome {
        switch side {
        case .remote: try store(.useRemote, conflict, record, local: KnownDocument(read: local))
        case .local: try store(.useLocal, conflict, record, local: KnownDocument(read: local))
        }
    }

    /// Stores what a resolution means for the record.
    ///
    /// - Parameter local: the local document, unless it is still to be read.
    private func store(
        _ resolution: ConflictResolution<BSONDocument>, _ conflict: OpenConflict,
        _ record: SyncRecord, local: KnownDocument
    ) throws -> ResolutionOutcome {
        // A remote document keeps the number type of its `_id`.
        let id =
            (conflict.remote.document ?? conflict.local)?.documentID ?? record.documentID
        let answer = resolution.document(local: conflict.local, remote: conflict.remote.document)?
            .withID(record.documentID).withSameID(as: id)
        let facts = ResolutionFacts(
            answerExists: answer != nil, remoteExists: conflict.remote.document != nil,
            answerEqualsRemote: contentEqual(answer, conflict.remote.document),
            idMatches: answer?.documentID.isSameID(as: record.documentID) ?? true,
            fits: contentEqual(answer, conflict.remote.document)
                || (answer?.byteCount ?? 0)
                    <= BSONLimits().documentBytesMax - SyncTransaction.versionReserve
        )
        return try carryOut(
            ResolutionDecision.decide(facts), HistoryResolution(resolution), answer: answer,
            to: record, conflict, local)
    }

    private func carryOut(
        _ decision: ResolutionDecision, _ kind: HistoryResolution, answer: BSONDocument?,
        to old: SyncRecord,
        _ conflict: OpenConflict, _ local: KnownDocument
    ) throws -> ResolutionOutcome {
        var record = old
        let id = record.documentID
        let remote = conflict.remote
        if decision != .pauseOtherID, decision != .pauseTooLarge {
            sync.note(
                .resolved(
                    kind,
                    sync.takesConflictFields
                        ? HistoryField.differing(
                            base: conflict.base, local: conflict.local, remote: remote.document,
                            result: answer) : []),
                of: id, from: old.version, to: remote.version)
        }
        record.endStale(since: conflict.record)
        record.attempt = nil
        switch decision {
        case .finishDelete:
            let own = try sync.removeLocal(id, as: .byAnswer)
            try sync.end(record)
            try sync.emit(.delete, of: own, reason: .resolution, uncommitted: false)
        case .deletePending:
            let own = try sync.removeLocal(id, as: .byAnswer)
            try saveAsPending(&record, base: remote, local: nil)
            try sync.emit(.delete, of: own, reason: .resolution, uncommitted: true)
        case .takeRemote:
            if let document = remote.document { try sync.setLocal(to: document, from: local) }
            record.takeBase(.sameAsLocal, remote.version)
            record = try sync.save(record)
            // A replacement even where the document was deleted here.
            try sync.emit(
                .replace, of: id, reason: .resolution, document: remote.document,
                uncommitted: false)
            try DeviceDocuments(sync: sync).evictUnkept(record, local: remote.document, .remote)
        case .insertPending:
            if let answer { try sync.setLocal(to: answer, from: local) }
            try saveAsPending(&record, base: remote, local: answer)
            // An insert even where the document exists here: the remote has none.
            try sync.emit(.insert, of: id, reason: .resolution, document: answer, uncommitted: true)
        case .updatePending:
            if let answer { try sync.setLocal(to: answer, from: local) }
            try saveAsPending(&record, base: remote, local: answer)
            try sync.emitChange(
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

    /// Stores the remote's edition as the base, with a pending local document.
    private func saveAsPending(
        _ record: inout SyncRecord, base: RemoteEdition, local: BSONDocument?
    ) throws {
        record.base = StoredContent(base.document, local: local)
        // An operation that was given up cannot land on top of another version any more.
        if record.version != base.version { record.clearUnresolved() }
        record.version = base.version
        record.isPending = true
        record.isDeletedHere = local == nil
        record.failures = 0
        try sync.save(record)
    }

    private func pause(
        _ old: SyncRecord, _ code: SyncError.Code, _ message: String
    ) throws -> ResolutionOutcome {
        var record = old
        record.pause = PauseReason(code, message)
        try sync.save(record)
        return .paused(
            SyncError(code, message, namespace: sync.namespace, documentID: record.documentID))
    }
}

extension HistoryResolution {
    fileprivate init(_ answer: ConflictResolution<BSONDocument>) {
        switch answer {
        case .useLocal: self = .local
        case .useRemote: self = .remote
        case .use: self = .merged
        case .delete: self = .deleted
        }
    }
}

extension ConflictResolution<BSONDocument> {
    /// Returns the resolved document without a version field; `nil` for a delete.
    func document(local: BSONDocument?, remote: BSONDocument?) -> BSONDocument? {
        switch self {
        case .useLocal: local
        case .useRemote: remote
        case .use(let document): document.withoutVersion
        case .delete: nil
        }
    }
}
