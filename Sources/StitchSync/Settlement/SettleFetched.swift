internal import BSONStore

/// What a pass brings to the settlement of its fetched documents.
struct FetchTerms {
    /// The app's policies; `nil` for staged documents, which have no pending change.
    var policy: FetchPolicy?
    /// The evidence about open attempts.
    var evidence: [OperationID: AttemptEvidence] = [:]
    /// Whether a document without a version may get one.
    var mayClaim = false
    /// The resolution of every conflict; `nil` where it depends on the conflict.
    var answer: ConflictSide?
    /// The reason in the events of newly downloaded documents.
    var insertReason = ChangeReason.remote
}

/// The settlement of one fetched document with its record and its local document.
///
/// It goes through the steps of ``settle()`` in order; the first one that has an outcome ends it.
struct SettleFetched {
    let sync: SyncTransaction
    let terms: FetchTerms
    let missingRows: MissingRows
    /// The record at the time of the request, with the remote's answer.
    let fetched: FetchedDocument
    /// The remote's edition.
    let edition: RemoteEdition
    /// The local document.
    let stored: StoredDocument?
    /// The attempt that was open before the settlement.
    let openAttempt: Attempt?
    /// What the evidence says about the open attempt.
    let attemptDecision: AttemptDecision
    /// The record, which each step changes.
    private(set) var record: SyncRecord

    /// Prepares the settlement of a document whose record is as current as the fetched one.
    ///
    /// - Parameter local: the local document, unless it is still to be read.
    /// - Throws: `StoreError` for a document whose version field or content cannot be read.
    init(
        _ fetched: FetchedDocument, _ record: SyncRecord, local: KnownDocument,
        _ terms: FetchTerms, _ missingRows: MissingRows, sync: SyncTransaction
    ) throws {
        self.sync = sync
        self.terms = terms
        self.missingRows = missingRows
        self.fetched = fetched
        self.record = record
        edition = try RemoteEdition(fetched.remote, of: record.documentID)
        openAttempt = record.attempt
        // An attempt about which the pass has no evidence counts as one whose history is lost.
        attemptDecision = AttemptDecision.decide(
            record.attempt.map { terms.evidence[$0.operation] ?? .historyLost } ?? .noAttempt)
        // If the document exists locally after all, its insert fails, and the settlement is repeated
        // without earlier reads (`ApplyRemote.commit`).
        let isAssumedAbsent =
            sync.usesEarlierReads && record.rowID == nil && edition.document != nil
        stored =
            try isAssumedAbsent ? nil : local.document { try sync.stored(record.documentID) }
    }

    private var local: BSONDocument? { stored?.document }
    private var documents: DeviceDocuments { DeviceDocuments(sync: sync) }

    /// Settles the document: its row, its attempts, whether it exists at all, whether it belongs on
    /// the device, whether the user may still see it, then its two editions.
    mutating func settle() throws -> FetchOutcome {
        if let outcome = try settleMissingRow() { return outcome }
        if let outcome = try settleAttempts() { return outcome }
        try removeStaged()
        if let outcome = try settleMembership() { return outcome }
        if let outcome = try refuseHidden() { return outcome }
        return try settleEditions()
    }

    // MARK: - Its row

    /// Settles a document whose local row is missing although no delete is recorded; returns `nil`
    /// for others.
    ///
    /// A lost change must count neither as a delete nor as no change; without a change the document
    /// is downloaded again.
    private mutating func settleMissingRow() throws -> FetchOutcome? {
        guard record.isRowMissing(local: local) else { return nil }
        if record.isPending || record.attempt != nil {
            let errors = try missingRows.pause([record])
            return errors.first.map { .failed($0) } ?? .nothing
        }
        let error = missingRows.error(of: record, isThere: edition.document != nil)
        (record.base, record.version) = (.absent, .absent)
        let outcome = try settle()
        return switch outcome {
        case .nothing, .taken, .removed, .evicted: .renewed(error)
        default: outcome
        }
    }

    // MARK: - Its attempts

    /// Adopts or discards the open and the unresolved attempts; ends a record whose document then
    /// exists nowhere.
    private mutating func settleAttempts() throws -> FetchOutcome? {
        let attempts = AdoptAttempt(sync: sync)
        let earlier = record.unresolved
        try attempts.carryOut(attemptDecision, in: &record, local: local)
        try attempts.adoptUnresolved(
            edition, fetched, of: earlier + record.unresolved, into: &record, local: local)
        // After a local delete since the request, the document is fetched again.
        let isGivenUp =
            openAttempt != nil || !earlier.isEmpty && record.staleMark == fetched.record.staleMark
        guard isGivenUp, record.base == .absent, local == nil, edition.document == nil else {
            return nil
        }
        try sync.end(record)
        if openAttempt != nil && attemptDecision != .adopt {
            try sync.emit(.delete, of: record.documentID, reason: .committed, uncommitted: false)
        }
        return .nothing
    }

    // MARK: - Its place on the device

    /// Removes a staged document, which is older than the fetched one.
    private func removeStaged() throws {
        if try sync.membership.isStaging {
            try sync.subscriptions.unstage(record.documentID, in: sync.collection.rowID)
        }
    }

    /// Evicts or ignores a document that does not belong on the device; returns `nil` for others.
    private func settleMembership() throws -> FetchOutcome? {
        let isAsked = sync.collection.isSubscribed && !record.isKeptByID
        guard isAsked || fetched.lookup == .hidden else { return nil }
        var record = record
        record.endStale(since: fetched.record)
        let isHeld = local != nil
        switch try documents.decide(of: record, isHeld: isHeld, fetched.lookup, edition) {
        case .arrive, .keep, .keepPending, .delete: return nil
        case .evict:
            try documents.removeFromView(record, isHeld: isHeld)
            return .evicted
        case .ignore:
            if record.isKeptByID { return nil }
            if record.rowID != nil {
                try sync.records.remove(record)
                try documents.keepStaleMark(after: record)
            }
            if let document = edition.document, case .found(let answer) = fetched.lookup,
                try sync.membership.expects(document)
            {
                try sync.subscriptions.stage(answer, in: sync.collection.rowID)
            }
            return .nothing
        }
    }

    /// Reverts the pending change of a document that the user may no longer see; returns `nil` where
    /// nothing is to revert.
    private mutating func refuseHidden() throws -> FetchOutcome? {
        guard fetched.lookup == .hidden, record.isPending, record.base != .absent else {
            return nil
        }
        guard fetched.isExplained else { return try fetchLater(.missing) }
        guard let policy = terms.policy else { return nil }
        let refused = try RefuseOutOfView(sync: sync, policy: policy.uploads).refuseHidden(
            record, openAttempt, local: local)
        return refused.map { .refused($0) }
    }

    /// Keeps the record stale, so that a later pass fetches the document again.
    private mutating func fetchLater(_ outcome: FetchOutcome) throws -> FetchOutcome {
        try sync.keepStale(&record)
        try sync.save(record)
        return outcome
    }

    // MARK: - Its editions

    /// Settles the remote's edition with the local one.
    private mutating func settleEditions() throws -> FetchOutcome {
        let isUncertain = attemptDecision == .discardUncertain
        let decision = FetchDecision.decide(facts(isCertain: !isUncertain))
        if !decision.isOpen { record.endStale(since: fetched.record) }
        // The attempt stays uncertain after a claim or another write.
        if isUncertain && (decision == .conflict || decision == .claim && record.isPending) {
            record.attempt = openAttempt
        }
        return try carryOut(decision, mayHaveLanded: isUncertain)
    }

    /// Collects the facts about the two editions.
    private func facts(isCertain: Bool) -> FetchFacts {
        let base = record.base.document(local: local)
        let isSame = contentEqual(local, edition.document)
        // An attempt that may still be applied is not a second change.
        let countsTwice =
            isSame && isCertain && record.unresolved.isEmpty
            && terms.policy?.counting?.countsTwice(from: base, to: local) ?? false
        let presence: FetchFacts.Remote =
            switch (edition.document, edition.version) {
            case (nil, _): .absent
            case (_, .absent): .unversioned
            case (_, .version): .versioned
            case (_, .foreign): .foreign
            }
        return FetchFacts(
            remote: presence, evidence: fetched.absenceEvidence,
            versionSame: record.version == edition.version,
            contentSame: contentEqual(base, edition.document),
            pending: PendingChange(base: base, local: local),
            outcomeSame: isSame && !countsTwice, mayClaim: terms.mayClaim)
    }

    private mutating func carryOut(
        _ decision: FetchDecision, mayHaveLanded: Bool
    ) throws -> FetchOutcome {
        let id = record.documentID
        switch decision {
        case .nothing:
            try sync.save(record)
            return .nothing
        case .recordVersion:
            record.version = edition.version
            try sync.save(record)
            return .nothing
        case .claim:
            try sync.keepStale(&record)
            return .claim(try sync.save(record))
        case .take:
            return try take() ? .taken : .nothing
        case .takeForeign:
            _ = try take()
            return .foreign
        case .listForeign:
            let isNews = record.version != edition.version
            record.version = edition.version
            try sync.save(record)
            return isNews ? .foreign : .nothing
        case .removeLocal:
            let own = try sync.removeLocal(id, as: .byRemote)
            sync.note(.received(.delete), of: id, from: record.version)
            try sync.end(record)
            if local != nil { try sync.emit(.delete, of: own, reason: .remote, uncommitted: false) }
            return .removed
        case .explain:
            return try fetchLater(.missing)
        case .complete:
            let base = record.base.document(local: local)
            let (wasOpen, before) = (record.isPending || record.pause != nil, record.version)
            record.takeBase(.sameAsLocal, edition.version)
            record = try sync.save(record)
            if wasOpen && attemptDecision != .adopt {
                sync.note(.foundEqual, of: id, from: before, to: edition.version)
            }
            try sync.emitChange(.committed, id, from: base, to: local, uncommitted: false)
            try documents.evictUnkept(record, local: local, .committed)
            return .nothing
        case .completeDelete:
            sync.note(.received(.delete), of: id, from: record.version)
            try sync.end(record)
            try sync.emit(.delete, of: id, reason: .committed, uncommitted: false)
            return .removed
        case .conflict:
            return try meetConflict(mayHaveLanded: mayHaveLanded)
        }
    }

    /// Makes the local document equal to the remote's; returns whether that changed its content.
    private mutating func take() throws -> Bool {
        let isNews = !contentEqual(local, edition.document)
        let before = record.version
        record.takeBase(.sameAsLocal, edition.version)
        if stored == nil, let document = edition.document {
            try sync.add(document, record)
        } else {
            if isNews, let document = edition.document {
                try sync.setLocal(to: document, from: KnownDocument(read: stored))
            }
            try sync.save(record)
        }
        guard isNews else { return false }
        let isArrival = stored == nil && !record.isKeptByID
        sync.note(
            isArrival ? .enteredView : .received(stored == nil ? .insert : .update),
            of: record.documentID, from: before, to: edition.version)
        try sync.emit(
            isArrival ? .insert : .replace, of: record.documentID,
            reason: isArrival ? terms.insertReason : .remote, document: edition.document,
            uncommitted: false)
        return true
    }

    /// Resolves a conflict whose answer is known, or keeps it for the app's handler.
    private mutating func meetConflict(mayHaveLanded: Bool) throws -> FetchOutcome {
        func conflict(_ record: SyncRecord) -> OpenConflict {
            OpenConflict(
                record: record, base: self.record.base.document(local: local), local: local,
                remote: edition, mayHaveLanded: mayHaveLanded)
        }
        if let answer = terms.answer, record.rowID != nil {
            // With the record of the request: the answer ends only a stale mark of that time. A
            // handler's answer needs the saved record instead, to notice a write during the call.
            let met = conflict(fetched.record)
            return .resolvedAtOnce(
                try SettleConflict(sync: sync).resolveAtOnce(
                    met, by: answer, of: record, local: stored), met)
        }
        if terms.policy?.hasHandler == false {
            sync.note(
                .conflictWaits, of: record.documentID, from: record.version, to: edition.version)
        }
        try sync.keepStale(&record)
        return .conflict(conflict(try sync.save(record)))
    }
}
