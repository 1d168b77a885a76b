internal import BSONStore

/// Brings one record up to date with a look at the remote.
extension SyncTransaction {
    /// What a look led to.
    enum SettlementOutcome: Sendable {
        case nothing
        case taken
        case removed
        /// Its row was missing without a change: it comes again, and the app is told once.
        case renewed(SyncError)
        /// It is missing at the remote, and why is to be found out.
        case missing
        /// No subscription asks for it any more.
        case evicted
        case foreign
        case claim(SyncRecord)
        case conflict(OpenConflict)
        /// A conflict that the same answer is given to always.
        case answered(ResolutionOutcome, OpenConflict)
        /// A change waits of a document that the user may no longer see.
        case refused(OutOfViewChange)
        /// The document cannot be kept, or its record not be read; it is paused where that can be
        /// stored.
        case failed(SyncError)
    }

    /// Begins to settle looks; `false` when others were here first.
    func begin(_ sequel: FirstCommitExtras) throws -> Bool {
        switch sequel {
        case .nothing, .keep: true
        case .begin(let wanted, let rest): try records.keep(rest, of: wanted)
        }
    }

    /// Stores what comes with the looks.
    func end(_ sequel: FirstCommitExtras) throws {
        switch sequel {
        case .nothing, .begin: return
        case .keep(let batch): try keep(batch)
        }
    }

    /// Settles looks together; the first that cannot be kept ends it.
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

    /// The local documents of looks, of the first where they are many bytes.
    ///
    /// Empty where they are to be looked up one by one. No look changes the document of another.
    private func localDocuments(_ looks: [FetchedDocument]) throws
        -> [StoredDocument?]
    {
        guard looks.allSatisfy({ $0.record.rowID != nil }) else { return [] }
        return try transaction.findInKeyOrder(
            namespace, ids: looks.map(\.record.documentID), bytesMax: Self.batchReadBytesMax) ?? []
    }

    /// Adopts or discards the open attempt, then decides about the remote's edition.
    ///
    /// - Parameters:
    ///   - answer: what every conflict is answered with, if so.
    ///   - local: the local document, where this transaction has looked already.
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
            // Another engine took an edition in since the remote was asked: the look is too old.
            try hint(record)
            return .nothing
        }
        let edition = try RemoteEdition(look.remote, of: record.documentID)
        #if ENGINE_VARIANTS
            if EngineVariant.noAttemptRecord.isOn {
                record.attempt = nil
                record.clearUnresolved()
            }
            if EngineVariant.orderInsteadOfEquality.isOn, let mine = record.version.version,
                let theirs = edition.version.version, mine.lineage == theirs.lineage,
                mine.counter > theirs.counter
            {
                record.hint = 0
                record.attempt = nil
                try save(record)
                return .nothing
            }
        #endif
        let attempt = AttemptDecision.decide(
            record.attempt.map { evidence[$0.operation] ?? .historyLost } ?? .noAttempt)
        // Where a wanted document is here after all, inserting it fails, and nobody is trusted then.
        let isAbsent = trusts && record.rowID == nil && edition.document != nil
        return try settle(
            look, &record, edition, attempt,
            isAbsent ? nil : local ?? stored(record.documentID),
            mayClaim: mayClaim, answer: answer)
    }

    /// Settles also where the local row is missing: its change is lost, and no look may count that as a
    /// delete, or as nothing; without a change the document comes again.
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
        // A delete since the look has the remote looked at again.
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
        // What comes of it later, after a claim or another write, is still not certain.
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

    /// Forgets what was kept aside of a document, which is older than this look.
    private func removeStaged(_ record: SyncRecord) throws {
        #if ENGINE_VARIANTS
            if EngineVariant.asideKept.isOn { return }
        #endif
        if try membership.isStaging {
            try subscriptions.unstage(record.documentID, in: collection.rowID)
        }
    }

    /// Evicts, or passes over, what does not belong here; `nil` for what does.
    private func settleMembership(
        _ old: SyncRecord, _ look: FetchedDocument, _ edition: RemoteEdition,
        isHeld: Bool
    ) throws -> SettlementOutcome? {
        var record = old
        // What was told since the look is still to be looked at.
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

    /// Rule R3: what landed is the base; what did not is still pending.
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
            #if ENGINE_VARIANTS
                if EngineVariant.noEventOfRemoval.isOn { return .removed }
            #endif
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
    /// The file or the transaction failed, not what was to be written.
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
    /// Makes what an attempt intended the base.
    mutating func adopt(_ attempt: Attempt, local: BSONDocument?) {
        base = StoredContent(attempt.intended.document(local: local), local: local)
        version = attempt.version
        self.attempt = nil
        clearUnresolved()
        failures = 0
        isPending = PendingChange(base: base.document(local: local), local: local) != .none
    }

    /// Takes a base with nothing pending on it.
    ///
    /// What was given up may land even then as long as the remote keeps the version that it asks for.
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
