internal import BSONStore

/// Brings one record up to date with a look at the remote.
extension SyncTransaction {
    /// What a look led to.
    enum Settled: Sendable {
        case nothing
        case taken
        case removed
        case foreign
        case claim
        case conflict(OpenConflict)
    }

    /// Adopts or discards the open attempt, then decides about the remote's edition.
    func settle(
        _ look: CollectionPass.Look, evidence: [OperationID: AttemptEvidence], mayClaim: Bool
    ) throws -> Settled {
        guard var record = try record(look.record.documentID), record.pause == nil else {
            return .nothing
        }
        let local = try local(record.documentID)
        let attempt = AttemptDecision.decide(
            record.attempt.map { evidence[$0.operation] ?? .historyLost } ?? .noAttempt)
        try apply(attempt, to: &record, local: local)
        if attempt == .adopt && look.record.attempt?.isDelete == true && local == nil
            && look.remote == nil
        {
            try records.remove(record)
            return .nothing
        }
        let remote = look.remote?.withoutVersion
        let version = look.remote.map(VersionField.init) ?? .absent
        let facts = facts(record, local: local, remote: remote, version, mayClaim: mayClaim)
        let decision = RemoteEventDecision.decide(facts)
        if record.hint == look.record.hint && decision != .conflict && decision != .claim {
            record.hint = 0
        }
        let edition = RemoteEdition(document: remote, version: version)
        return try apply(
            decision, to: record, local: local, remote: edition,
            mayHaveLanded: attempt == .discardUncertain)
    }

    private func facts(
        _ record: SyncedDocument, local: BSONDocument?, remote: BSONDocument?,
        _ version: VersionField, mayClaim: Bool
    ) -> RemoteEventFacts {
        let base = record.base.document(local: local)
        let presence: RemoteEventFacts.Remote =
            switch (remote, version) {
            case (nil, _): .absent
            case (_, .absent): .unversioned
            case (_, .version): .versioned
            case (_, .foreign): .foreign
            }
        return RemoteEventFacts(
            remote: presence,
            versionSame: VersionRelation(base: record.version, remote: version) == .same,
            contentSame: contentEqual(base, remote),
            pending: PendingChange(base: base, local: local),
            outcomeSame: contentEqual(local, remote), mayClaim: mayClaim)
    }

    /// Rule R3: what landed is the base; what did not is still pending.
    private func apply(
        _ decision: AttemptDecision, to record: inout SyncedDocument, local: BSONDocument?
    ) throws {
        guard let attempt = record.attempt else { return }
        record.attempt = nil
        switch decision {
        case .none, .discard, .discardUncertain: break
        case .adopt:
            let before = record.base.document(local: local)
            record.adopt(attempt, local: local)
            let after = record.base.document(local: local)
            try emitChange(
                .committed, record.documentID, from: before, to: after,
                uncommitted: record.isPending)
        }
        record.isPending =
            PendingChange(base: record.base.document(local: local), local: local) != .none
    }

    private func apply(
        _ decision: RemoteEventDecision, to old: SyncedDocument, local: BSONDocument?,
        remote: RemoteEdition, mayHaveLanded: Bool
    ) throws -> Settled {
        var record = old
        let id = record.documentID
        switch decision {
        case .nothing:
            try save(record)
            return .nothing
        case .recordVersion:
            record.version = remote.version
            try save(record)
            return .nothing
        case .claim:
            try save(record)
            return .claim
        case .take, .takeForeign:
            return try take(remote, into: record, local: local, decision)
        case .listForeign:
            let isNews = record.version != remote.version
            record.version = remote.version
            try save(record)
            return isNews ? .foreign : .nothing
        case .removeLocal:
            try setLocal(id, to: nil)
            try records.remove(record)
            if local != nil { try emit(.delete, .remote, id, uncommitted: false) }
            return .removed
        case .complete:
            let base = record.base.document(local: local)
            record.takeBase(.sameAsLocal, remote.version)
            try save(record)
            try emitChange(.committed, id, from: base, to: local, uncommitted: false)
            return .nothing
        case .completeDelete:
            try records.remove(record)
            try emit(.delete, .committed, id, uncommitted: false)
            return .removed
        case .conflict:
            if record.hint == 0 { record.hint = try state.nextHint() }
            let stored = try save(record)
            return .conflict(
                OpenConflict(
                    record: stored, base: record.base.document(local: local), local: local,
                    remote: remote, mayHaveLanded: mayHaveLanded))
        }
    }

    private func take(
        _ remote: RemoteEdition, into old: SyncedDocument, local: BSONDocument?,
        _ decision: RemoteEventDecision
    ) throws -> Settled {
        var record = old
        let isNews = !contentEqual(local, remote.document)
        if isNews { try setLocal(record.documentID, to: remote.document) }
        record.takeBase(.sameAsLocal, remote.version)
        try save(record)
        if isNews {
            try emit(
                .replace, .remote, record.documentID, document: remote.document,
                uncommitted: false)
        }
        if decision == .takeForeign { return .foreign }
        return isNews ? .taken : .nothing
    }
}

/// A remote document without its version field, and the field.
struct RemoteEdition: Sendable {
    let document: BSONDocument?
    let version: VersionField
}

extension SyncedDocument {
    /// Makes what an attempt intended the base.
    mutating func adopt(_ attempt: Attempt, local: BSONDocument?) {
        base = StoredContent(attempt.intended.document(local: local), local: local)
        version = attempt.version
        self.attempt = nil
        failures = 0
        isPending = PendingChange(base: base.document(local: local), local: local) != .none
    }

    /// Takes a base with nothing pending on it.
    mutating func takeBase(_ base: StoredContent, _ version: VersionField) {
        self.base = base
        self.version = version
        isPending = false
        failures = 0
    }
}

extension PendingChange {
    /// Compares a base with the local document.
    init(base: BSONDocument?, local: BSONDocument?) {
        switch (base, local) {
        case (nil, nil): self = .none
        case (nil, _?): self = .insert
        case (_?, nil): self = .delete
        case (let base?, let local?): self = base.contentEquals(local) ? .none : .update
        }
    }
}
