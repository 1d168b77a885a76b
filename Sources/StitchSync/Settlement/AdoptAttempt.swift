internal import BSONStore

/// The settlement of open and unresolved attempts by evidence: one that the remote applied becomes the
/// base, an open one without evidence becomes an unresolved one.
struct AdoptAttempt {
    let sync: SyncTransaction

    /// Carries out rule R3 for the open attempt: an applied one becomes the base; another change stays
    /// pending, and its attempt is kept as an unresolved one.
    func carryOut(
        _ decision: AttemptDecision, in record: inout SyncRecord, local: BSONDocument?
    ) throws {
        guard let attempt = record.attempt else { return }
        record.attempt = nil
        switch decision {
        case .none: break
        case .discard, .discardUncertain:
            let base = record.base.document(local: local)
            sync.note(
                .notFound(mayApplyLater: decision == .discardUncertain), of: record.documentID,
                operation: attempt.operation)
            record.addUnresolved([UnresolvedAttempt(attempt, base: base, local: local)])
        case .adopt:
            let before = record.base.document(local: local)
            sync.note(
                .recovered, of: record.documentID, operation: attempt.operation,
                from: record.version, to: attempt.version)
            record.adopt(attempt, local: local)
            let after = record.base.document(local: local)
            try sync.emitChange(
                .committed, record.documentID, from: before, to: after,
                uncommitted: record.isPending)
        }
        record.notePending(local: local)
    }

    /// Makes an unresolved attempt the base, not a foreign change, where the remote applied it.
    ///
    /// Where the document also has another client's change, nothing is adopted: it is a remote
    /// change like any other, and a conflict where a local change is pending.
    func adoptUnresolved(
        _ remote: RemoteEdition, _ fetched: FetchedDocument,
        of unresolved: [UnresolvedAttempt],
        into record: inout SyncRecord, local: BSONDocument?
    ) throws {
        guard record.attempt == nil else { return }
        if fetched.isAbsent { return try adoptDelete(of: unresolved, into: &record, local: local) }
        guard let name = remote.version.version?.operation else { return }
        var attempts = unresolved
        // The attempt may be one of an earlier record of the document.
        if record.base == .absent && local != nil {
            attempts += try sync.unresolvedAttempts.attempts(
                of: record.documentID, in: sync.collection.rowID)
        }
        guard let landed = attempts.last(where: { $0.operation.value == name }) else { return }
        let before = record.base.document(local: local)
        guard landed.explains(remote.document, over: before) else { return }
        sync.note(
            .recovered, of: record.documentID, operation: landed.operation, from: record.version,
            to: remote.version)
        record.base = StoredContent(remote.document, local: local)
        record.version = remote.version
        record.clearUnresolved()
        record.notePending(local: local)
        try sync.emitChange(
            .committed, record.documentID, from: before, to: remote.document,
            uncommitted: record.isPending)
    }

    /// Adopts an unresolved delete that the remote applied, or another client's delete of the
    /// document.
    ///
    /// The app then inserted the document again, which is a pending insert now.
    private func adoptDelete(
        of unresolved: [UnresolvedAttempt], into record: inout SyncRecord, local: BSONDocument?
    ) throws {
        guard local != nil, record.base != .absent,
            unresolved.contains(where: { $0.meaning == .nothing })
        else { return }
        let before = record.base.document(local: local)
        record.base = .absent
        record.version = .absent
        record.clearUnresolved()
        record.isPending = true
        try sync.emitChange(.committed, record.documentID, from: before, to: nil, uncommitted: true)
    }
}
