internal import BSONStore

/// The settlement of records with fetched documents.
extension SyncTransaction {
    /// The outcome of a fetched document's settlement.
    enum SettlementOutcome: Sendable {
        case nothing
        case taken
        case removed
        /// The local row was missing without a change: the document was downloaded again, and the
        /// error is reported once.
        case renewed(SyncError)
        /// The document is missing at the remote for a reason that is not known yet.
        case missing
        /// The document was evicted: no subscription matches it any more.
        case evicted
        case foreign
        case claim(SyncRecord)
        case conflict(OpenConflict)
        /// A conflict was resolved by a fixed resolution.
        case answered(ResolutionOutcome, OpenConflict)
        /// A change was refused, since the user may no longer read the document.
        case refused(OutOfViewChange)
        /// The document cannot be stored, or its record cannot be read; it is paused where that can
        /// be stored.
        case failed(SyncError)
    }

    /// Begins to settle fetched documents; returns `false` when another transaction did so before.
    func begin(_ sequel: FirstCommitExtras) throws -> Bool {
        switch sequel {
        case .nothing, .keep: true
        case .begin(let wanted, let rest): try records.keep(rest, of: wanted)
        }
    }

    /// Stores the additional data of a fetch.
    func end(_ sequel: FirstCommitExtras) throws {
        switch sequel {
        case .nothing, .begin: return
        case .keep(let batch): try keep(batch)
        }
    }

    /// Settles fetched documents together; throws at the first document that cannot be stored.
    func settle(
        _ looks: [FetchedDocument], evidence: [OperationID: AttemptEvidence],
        mayClaim: Bool, answer: ConflictHandler<BSONDocument>.FixedResolution?,
        then sequel: FirstCommitExtras
    ) throws -> [SettlementOutcome] {
        guard try begin(sequel) else { return looks.map { _ in .nothing } }
        let locals = try localDocuments(looks)
        let scanned = try scanningForMissingRows(looks, locals)
        let settled = try withBulkInsert {
            try looks.enumerated().map { index, look in
                try scanned.settle(
                    look, evidence: evidence, mayClaim: mayClaim, answer: answer,
                    local: index < locals.count ? .some(locals[index]) : nil)
            }
        }
        try end(sequel)
        return settled
    }

    /// Returns the local documents of fetched ones, up to a size limit.
    ///
    /// The list is empty where they have to be read one by one. The settlement of one document does
    /// not change another.
    private func localDocuments(_ looks: [FetchedDocument]) throws
        -> [StoredDocument?]
    {
        guard looks.allSatisfy({ $0.record.rowID != nil }) else { return [] }
        return try transaction.findInKeyOrder(
            namespace, ids: looks.map(\.record.documentID), bytesMax: Self.batchReadBytesMax) ?? []
    }

    /// Adopts or discards the open attempt, then settles the remote's edition.
    ///
    /// - Parameters:
    ///   - answer: the resolution of every conflict; `nil` where it depends on the conflict.
    ///   - local: the local document, where this transaction has read it already.
    func settle(
        _ look: FetchedDocument, evidence: [OperationID: AttemptEvidence],
        mayClaim: Bool,
        answer: ConflictHandler<BSONDocument>.FixedResolution? = nil, local: StoredDocument?? = nil
    ) throws -> SettlementOutcome {
        if try hasRecordMeanwhile(look.record) { return .nothing }
        guard var record = try current(look.record), record.pause == nil else { return .nothing }
        guard record.version == look.record.version,
            record.attempt?.operation == look.record.attempt?.operation
        else {
            // Another engine stored an edition since the request, so that this one is outdated.
            try hint(record)
            return .nothing
        }
        let edition = try RemoteEdition(look.remote, of: record.documentID)
        let attempt = AttemptDecision.decide(
            record.attempt.map { evidence[$0.operation] ?? .historyLost } ?? .noAttempt)
        // If the document exists locally after all, its insert fails, and the settlement is
        // repeated without trust.
        let isAbsent = trusts && record.rowID == nil && edition.document != nil
        return try settle(
            look, &record, edition, attempt,
            isAbsent ? nil : local ?? stored(record.documentID),
            mayClaim: mayClaim, answer: answer)
    }

    /// Settles a document whose local row may be missing.
    ///
    /// A lost change must count neither as a delete nor as no change; without a change the document
    /// is downloaded again.
    private func settle(
        _ look: FetchedDocument, _ record: inout SyncRecord,
        _ edition: RemoteEdition,
        _ attempt: AttemptDecision, _ stored: StoredDocument?, mayClaim: Bool,
        answer: ConflictHandler<BSONDocument>.FixedResolution?
    ) throws -> SettlementOutcome {
        guard record.isRowMissing(local: stored?.document) else {
            return try settleWhole(
                look, &record, edition, attempt, stored, mayClaim: mayClaim, answer: answer)
        }
        if record.isPending || record.attempt != nil {
            let errors = try pauseMissing([record], foundByScan: scan)
            return errors.first.map { .failed($0) } ?? .nothing
        }
        let error = missingError(record, isThere: edition.document != nil)
        (record.base, record.version) = (.absent, .absent)
        let settled = try settleWhole(
            look, &record, edition, attempt, stored, mayClaim: mayClaim, answer: answer)
        return switch settled {
        case .nothing, .taken, .removed, .evicted: .renewed(error)
        default: settled
        }
    }

    private func settleWhole(
        _ look: FetchedDocument, _ record: inout SyncRecord,
        _ edition: RemoteEdition,
        _ attempt: AttemptDecision, _ stored: StoredDocument?, mayClaim: Bool,
        answer: ConflictHandler<BSONDocument>.FixedResolution?
    ) throws -> SettlementOutcome {
        let local = stored?.document
        let (open, earlier) = (record.attempt, record.discarded)
        try apply(attempt, to: &record, local: local)
        try adoptUnresolved(
            edition, look, of: earlier + record.discarded, into: &record, local: local)
        // After a local delete since the request, the document is fetched again.
        let isGivenUp = open != nil || !earlier.isEmpty && record.hint == look.record.hint
        if isGivenUp && record.base == .absent && local == nil && edition.document == nil {
            try end(record)
            if open != nil && attempt != .adopt {
                try emit(.delete, .committed, record.documentID, uncommitted: false)
            }
            return .nothing
        }
        try removeStaged(record)
        let isHidden = look.lookup == .hidden
        if collection.isSubscribed && !record.isClaimedByID || isHidden,
            let settled = try settleMembership(record, look, edition, isHeld: local != nil)
        {
            return settled
        }
        if isHidden, let refused = try rejectHidden(record, open, local: local) {
            return .refused(refused)
        }
        let facts = facts(
            record, local: local, remote: edition, evidence: look.absenceEvidence,
            mayClaim: mayClaim, isCertain: attempt != .discardUncertain)
        let decision = RemoteEventDecision.decide(facts)
        if record.hint == look.record.hint && !decision.isOpen { record.hint = 0 }
        // The attempt stays uncertain after a claim or another write.
        if attempt == .discardUncertain
            && (decision == .conflict || decision == .claim && record.isPending)
        {
            record.attempt = open
        }
        if decision == .conflict, let answer, record.rowID != nil {
            let conflict = OpenConflict(
                record: look.record, base: record.base.document(local: local), local: local,
                remote: edition, mayHaveLanded: attempt == .discardUncertain)
            return try .answered(carryOut(answer, conflict, record, stored), conflict)
        }
        return try apply(
            decision, to: record, local: stored, remote: edition,
            mayHaveLanded: attempt == .discardUncertain)
    }

    /// Removes a staged document, which is older than the fetched one.
    private func removeStaged(_ record: SyncRecord) throws {
        if try membership.isStaging {
            try subscriptions.unstage(record.documentID, in: collection.rowID)
        }
    }

    /// Evicts or ignores a document that does not belong on the device; returns `nil` for others.
    private func settleMembership(
        _ old: SyncRecord, _ look: FetchedDocument, _ edition: RemoteEdition,
        isHeld: Bool
    ) throws -> SettlementOutcome? {
        var record = old
        // A newer stale mark stays.
        if record.hint == look.record.hint { record.hint = 0 }
        switch try membership(of: record, isHeld: isHeld, look.lookup, edition) {
        case .arrive, .keep, .keepPending, .delete: return nil
        case .evict:
            try removeFromView(record, isHeld: isHeld)
            return .evicted
        case .ignore:
            if record.isClaimedByID { return nil }
            if record.rowID != nil {
                try records.remove(record)
                try keepStaleMark(after: record)
            }
            if let document = edition.document, case .found(let answer) = look.lookup,
                try membership.expects(document)
            {
                try subscriptions.stage(answer, in: collection.rowID)
            }
            return .nothing
        }
    }

    /// Applies rule R3: an applied attempt becomes the base; another change stays pending.
    private func apply(
        _ decision: AttemptDecision, to record: inout SyncRecord, local: BSONDocument?
    ) throws {
        guard let attempt = record.attempt else { return }
        record.attempt = nil
        switch decision {
        case .none: break
        case .discard, .discardUncertain:
            let base = record.base.document(local: local)
            record.discard([UnresolvedAttempt(attempt, base: base, local: local)])
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
        _ decision: RemoteEventDecision, to old: SyncRecord, local stored: StoredDocument?,
        remote: RemoteEdition, mayHaveLanded: Bool
    ) throws -> SettlementOutcome {
        var record = old
        let local = stored?.document
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
            if record.hint == 0 { record.hint = try nextStaleMark() }
            return .claim(try save(record))
        case .take, .takeForeign:
            return try take(remote, into: record, local: stored, decision)
        case .listForeign:
            let isNews = record.version != remote.version
            record.version = remote.version
            try save(record)
            return isNews ? .foreign : .nothing
        case .removeLocal:
            let own = try removeLocal(id, as: .byRemote)
            try end(record)
            if local != nil { try emit(.delete, .remote, own, uncommitted: false) }
            return .removed
        case .explain:
            if record.hint == 0 { record.hint = try nextStaleMark() }
            try save(record)
            return .missing
        case .complete:
            let base = record.base.document(local: local)
            record.takeBase(.sameAsLocal, remote.version)
            record = try save(record)
            try emitChange(.committed, id, from: base, to: local, uncommitted: false)
            try evictUnclaimed(record, local: local, .committed)
            return .nothing
        case .completeDelete:
            try end(record)
            try emit(.delete, .committed, id, uncommitted: false)
            return .removed
        case .conflict:
            if record.hint == 0 { record.hint = try nextStaleMark() }
            let stored = try save(record)
            return .conflict(
                OpenConflict(
                    record: stored, base: record.base.document(local: local), local: local,
                    remote: remote, mayHaveLanded: mayHaveLanded))
        }
    }

    private func take(
        _ remote: RemoteEdition, into old: SyncRecord, local: StoredDocument?,
        _ decision: RemoteEventDecision
    ) throws -> SettlementOutcome {
        var record = old
        let isNews = !contentEqual(local?.document, remote.document)
        record.takeBase(.sameAsLocal, remote.version)
        if local == nil, let document = remote.document {
            try add(document, record)
        } else {
            if isNews, let document = remote.document { try setLocal(to: document, from: local) }
            try save(record)
        }
        if isNews {
            let isArrival = local == nil && !record.isClaimedByID
            try emit(
                isArrival ? .insert : .replace, isArrival ? insertReason : .remote,
                record.documentID, document: remote.document, uncommitted: false)
        }
        if decision == .takeForeign { return .foreign }
        return isNews ? .taken : .nothing
    }
}

extension StoreError {
    /// Whether the file or the transaction failed, not the single write.
    var concernsFile: Bool {
        switch code {
        case .busy, .diskFull, .ioError, .corrupt, .closed, .readOnly, .cannotOpen, .internalError,
            .exceededMemoryLimit:
            true
        default: false
        }
    }
}

extension SyncRecord {
    /// Makes an attempt's document the base.
    mutating func adopt(_ attempt: Attempt, local: BSONDocument?) {
        base = StoredContent(attempt.intended.document(local: local), local: local)
        version = attempt.version
        self.attempt = nil
        clearUnresolved()
        failures = 0
        isPending = PendingChange(base: base.document(local: local), local: local) != .none
    }

    /// Stores a base without a pending change.
    ///
    /// An abandoned attempt may still be applied as long as the remote keeps the version in its
    /// condition.
    mutating func takeBase(_ base: StoredContent, _ version: VersionField) {
        self.base = base
        if version != self.version { clearUnresolved() }
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
