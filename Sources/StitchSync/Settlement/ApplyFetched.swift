internal import BSONStore

/// The settlement of records with fetched documents.
struct ApplyFetched {
    let sync: SyncTransaction
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
    /// The keys of missing documents that a scan of all rows found; `nil` before a scan.
    private var scan: Set<[UInt8]>?
    private let documents: DeviceDocuments
    private let attempts: AdoptAttempt

    init(sync: SyncTransaction) {
        self.sync = sync
        documents = DeviceDocuments(sync: sync)
        attempts = AdoptAttempt(sync: sync)
    }

    /// Begins to settle fetched documents; returns `false` when another transaction did so before.
    func begin(_ extras: CommitExtras) throws -> Bool {
        switch extras {
        case .nothing, .markStale: true
        case .begin(let wanted, let rest): try sync.wantedIDs.replace(wanted, by: rest)
        }
    }

    /// Stores the additional data of a fetch.
    func end(_ extras: CommitExtras) throws {
        switch extras {
        case .nothing, .begin: return
        case .markStale(let batch): try MarkStale(sync: sync).mark(batch)
        }
    }

    /// Settles fetched documents together; throws at the first document that cannot be stored.
    func applyTogether(
        _ fetchedDocuments: [FetchedDocument], then extras: CommitExtras
    ) throws -> [FetchOutcome] {
        guard try begin(extras) else { return fetchedDocuments.map { _ in .nothing } }
        let locals = try localDocuments(fetchedDocuments)
        let scanned = try scanning(fetchedDocuments, locals)
        let settled = try sync.withBulkInsert {
            try fetchedDocuments.enumerated().map { index, fetched in
                try scanned.apply(fetched, local: index < locals.count ? .some(locals[index]) : nil)
            }
        }
        try end(extras)
        return settled
    }

    /// Returns the local documents of fetched ones, up to a size limit.
    ///
    /// The list is empty where they have to be read one by one. The settlement of one document does
    /// not change another.
    private func localDocuments(_ fetchedDocuments: [FetchedDocument]) throws
        -> [StoredDocument?]
    {
        guard fetchedDocuments.allSatisfy({ $0.record.rowID != nil }) else { return [] }
        return try sync.transaction.findInKeyOrder(
            sync.namespace, ids: fetchedDocuments.map(\.record.documentID),
            bytesMax: SyncTransaction.batchReadBytesMax) ?? []
    }

    /// Adopts or discards the open attempt, then settles the remote's edition.
    ///
    /// - Parameter local: the local document, where this transaction has read it already.
    func apply(
        _ fetched: FetchedDocument, local: StoredDocument?? = nil
    ) throws -> FetchOutcome {
        if try documents.hasRecordMeanwhile(fetched.record) { return .nothing }
        guard var record = try sync.current(fetched.record), record.pause == nil else {
            return .nothing
        }
        guard record.version == fetched.record.version,
            record.attempt?.operation == fetched.record.attempt?.operation
        else {
            // Another engine stored an edition since the request, so that this one is outdated.
            try sync.markStale(record)
            return .nothing
        }
        let edition = try RemoteEdition(fetched.remote, of: record.documentID)
        let attempt = AttemptDecision.decide(
            record.attempt.map { evidence[$0.operation] ?? .historyLost } ?? .noAttempt)
        // If the document exists locally after all, its insert fails, and the settlement is
        // repeated without trust.
        let isAbsent = sync.usesEarlierReads && record.rowID == nil && edition.document != nil
        let stored = try isAbsent ? nil : local ?? sync.stored(record.documentID)
        return record.isRowMissing(local: stored?.document)
            ? try applyMissingRow(fetched, &record, edition, attempt)
            : try applyPresent(fetched, &record, edition, attempt, stored)
    }

    /// Settles a document whose local row is missing although no delete is recorded.
    ///
    /// A lost change must count neither as a delete nor as no change; without a change the document
    /// is downloaded again.
    private func applyMissingRow(
        _ fetched: FetchedDocument, _ record: inout SyncRecord,
        _ edition: RemoteEdition, _ attempt: AttemptDecision
    ) throws -> FetchOutcome {
        if record.isPending || record.attempt != nil {
            let errors = try missingRows.pause([record])
            return errors.first.map { .failed($0) } ?? .nothing
        }
        let error = missingRows.error(of: record, isThere: edition.document != nil)
        (record.base, record.version) = (.absent, .absent)
        let settled = try applyPresent(fetched, &record, edition, attempt, nil)
        return switch settled {
        case .nothing, .taken, .removed, .evicted: .renewed(error)
        default: settled
        }
    }

    /// Settles a document whose local row is as its record says, in steps: its attempts, whether it
    /// belongs on the device, whether the user may still see it, then its two editions.
    private func applyPresent(
        _ fetched: FetchedDocument, _ record: inout SyncRecord,
        _ edition: RemoteEdition, _ attempt: AttemptDecision, _ stored: StoredDocument?
    ) throws -> FetchOutcome {
        let local = stored?.document
        let (open, earlier) = (record.attempt, record.unresolved)
        try attempts.apply(attempt, to: &record, local: local)
        try attempts.adoptUnresolved(
            edition, fetched, of: earlier + record.unresolved, into: &record, local: local)
        // After a local delete since the request, the document is fetched again.
        let isGivenUp =
            open != nil || !earlier.isEmpty && record.staleMark == fetched.record.staleMark
        if isGivenUp && record.base == .absent && local == nil && edition.document == nil {
            return try end(record, isDeleted: open != nil && attempt != .adopt)
        }
        try removeStaged(record)
        let isHidden = fetched.lookup == .hidden
        if sync.collection.isSubscribed && !record.isKeptByID || isHidden,
            let settled = try applyMembership(record, fetched, edition, isHeld: local != nil)
        {
            return settled
        }
        if isHidden, record.isPending, record.base != .absent,
            let settled = try applyHidden(&record, fetched, open, local: local)
        {
            return settled
        }
        return try applyEdition(fetched, &record, edition, attempt, open, stored)
    }

    /// Ends a record whose document exists nowhere.
    private func end(_ record: SyncRecord, isDeleted: Bool) throws -> FetchOutcome {
        try sync.end(record)
        if isDeleted {
            try sync.emit(.delete, of: record.documentID, reason: .committed, uncommitted: false)
        }
        return .nothing
    }

    /// Reverts the pending change of a document that the user may no longer see; returns `nil` where
    /// nothing is to revert.
    private func applyHidden(
        _ record: inout SyncRecord, _ fetched: FetchedDocument, _ open: Attempt?,
        local: BSONDocument?
    ) throws -> FetchOutcome? {
        guard fetched.isExplained else {
            if record.staleMark == 0 { record.staleMark = try sync.nextStaleMark() }
            try sync.save(record)
            return .missing
        }
        return try refuseHidden(record, open, local: local).map { .refused($0) }
    }

    /// Settles the remote's edition with the local one.
    private func applyEdition(
        _ fetched: FetchedDocument, _ record: inout SyncRecord, _ edition: RemoteEdition,
        _ attempt: AttemptDecision, _ open: Attempt?, _ stored: StoredDocument?
    ) throws -> FetchOutcome {
        let local = stored?.document
        let isUncertain = attempt == .discardUncertain
        let decision = RemoteEventDecision.decide(
            facts(
                record, local: local, remote: edition, evidence: fetched.absenceEvidence,
                isCertain: !isUncertain))
        if record.staleMark == fetched.record.staleMark && !decision.isOpen { record.staleMark = 0 }
        // The attempt stays uncertain after a claim or another write.
        if isUncertain && (decision == .conflict || decision == .claim && record.isPending) {
            record.attempt = open
        }
        if decision == .conflict, let answer, record.rowID != nil {
            let conflict = OpenConflict(
                record: fetched.record, base: record.base.document(local: local), local: local,
                remote: edition, mayHaveLanded: isUncertain)
            return try .resolvedAtOnce(
                SettleConflict(sync: sync).carryOut(answer, conflict, record, stored), conflict)
        }
        return try carryOut(
            decision, to: record, local: stored, remote: edition, mayHaveLanded: isUncertain)
    }

    /// Removes a staged document, which is older than the fetched one.
    private func removeStaged(_ record: SyncRecord) throws {
        if try sync.membership.isStaging {
            try sync.subscriptions.unstage(record.documentID, in: sync.collection.rowID)
        }
    }

    /// Evicts or ignores a document that does not belong on the device; returns `nil` for others.
    private func applyMembership(
        _ old: SyncRecord, _ fetched: FetchedDocument, _ edition: RemoteEdition,
        isHeld: Bool
    ) throws -> FetchOutcome? {
        var record = old
        // A newer stale mark stays.
        if record.staleMark == fetched.record.staleMark { record.staleMark = 0 }
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

    private func carryOut(
        _ decision: RemoteEventDecision, to old: SyncRecord, local stored: StoredDocument?,
        remote: RemoteEdition, mayHaveLanded: Bool
    ) throws -> FetchOutcome {
        var record = old
        let local = stored?.document
        let id = record.documentID
        switch decision {
        case .nothing:
            try sync.save(record)
            return .nothing
        case .recordVersion:
            record.version = remote.version
            try sync.save(record)
            return .nothing
        case .claim:
            if record.staleMark == 0 { record.staleMark = try sync.nextStaleMark() }
            return .claim(try sync.save(record))
        case .take, .takeForeign:
            return try take(remote, into: record, local: stored, decision)
        case .listForeign:
            let isNews = record.version != remote.version
            record.version = remote.version
            try sync.save(record)
            return isNews ? .foreign : .nothing
        case .removeLocal:
            let own = try sync.removeLocal(id, as: .byRemote)
            try sync.end(record)
            if local != nil { try sync.emit(.delete, of: own, reason: .remote, uncommitted: false) }
            return .removed
        case .explain:
            if record.staleMark == 0 { record.staleMark = try sync.nextStaleMark() }
            try sync.save(record)
            return .missing
        case .complete:
            let base = record.base.document(local: local)
            record.takeBase(.sameAsLocal, remote.version)
            record = try sync.save(record)
            try sync.emitChange(.committed, id, from: base, to: local, uncommitted: false)
            try documents.evictUnkept(record, local: local, .committed)
            return .nothing
        case .completeDelete:
            try sync.end(record)
            try sync.emit(.delete, of: id, reason: .committed, uncommitted: false)
            return .removed
        case .conflict:
            if record.staleMark == 0 { record.staleMark = try sync.nextStaleMark() }
            let stored = try sync.save(record)
            return .conflict(
                OpenConflict(
                    record: stored, base: record.base.document(local: local), local: local,
                    remote: remote, mayHaveLanded: mayHaveLanded))
        }
    }

    private func take(
        _ remote: RemoteEdition, into old: SyncRecord, local: StoredDocument?,
        _ decision: RemoteEventDecision
    ) throws -> FetchOutcome {
        var record = old
        let isNews = !contentEqual(local?.document, remote.document)
        record.takeBase(.sameAsLocal, remote.version)
        if local == nil, let document = remote.document {
            try sync.add(document, record)
        } else {
            if isNews, let document = remote.document {
                try sync.setLocal(to: document, from: local)
            }
            try sync.save(record)
        }
        if isNews {
            let isArrival = local == nil && !record.isKeptByID
            try sync.emit(
                isArrival ? .insert : .replace, of: record.documentID,
                reason: isArrival ? insertReason : .remote, document: remote.document,
                uncommitted: false)
        }
        if decision == .takeForeign { return .foreign }
        return isNews ? .taken : .nothing
    }

    /// Collects the facts about a fetched document.
    private func facts(
        _ record: SyncRecord, local: BSONDocument?, remote: RemoteEdition,
        evidence: RemoteEventFacts.Evidence, isCertain: Bool
    ) -> RemoteEventFacts {
        let base = record.base.document(local: local)
        let isSame = contentEqual(local, remote.document)
        // An attempt that may still be applied is not a second change.
        let countsTwice =
            isSame && isCertain && record.unresolved.isEmpty
            && policy?.counting?.countsTwice(from: base, to: local) ?? false
        let presence: RemoteEventFacts.Remote =
            switch (remote.document, remote.version) {
            case (nil, _): .absent
            case (_, .absent): .unversioned
            case (_, .version): .versioned
            case (_, .foreign): .foreign
            }
        return RemoteEventFacts(
            remote: presence, evidence: evidence,
            versionSame: record.version == remote.version,
            contentSame: contentEqual(base, remote.document),
            pending: PendingChange(base: base, local: local),
            outcomeSame: isSame && !countsTwice, mayClaim: mayClaim)
    }

    private var missingRows: MissingRows { MissingRows(sync: sync, scan: scan) }

    /// Scans all rows once where several fetched documents with a change are missing locally.
    private func scanning(
        _ fetchedDocuments: [FetchedDocument], _ locals: [StoredDocument?] = []
    ) throws -> ApplyFetched {
        var scanned = self
        scanned.scan = try missingRows.scan(for: fetchedDocuments, locals)
        return scanned
    }

    private func refuseHidden(
        _ record: SyncRecord, _ attempt: Attempt?, local: BSONDocument?
    ) throws -> OutOfViewChange? {
        guard let policy else { return nil }
        return try RefuseOutOfView(sync: sync, policy: policy.uploads).refuseHidden(
            record, attempt, local: local)
    }
}

/// The settlement in savepoints, after it failed for all documents together.
extension ApplyFetched {
    /// The documents that cannot keep the unique values that they took, by their keys.
    private struct Collided: Error {
        let causes: [[UInt8]: StoreError]
    }

    /// Settles fetched documents one by one; those of the batch may exchange unique values.
    ///
    /// A document that takes a value of another one which keeps it is refused, and so are those
    /// that took values of the refused one.
    ///
    /// - Parameter postpones: whether a refused document is marked as stale instead of paused,
    ///   since a later batch may release the value.
    /// - Returns: the outcomes, and the indexes of the postponed documents.
    func applyIndividually(
        _ fetchedDocuments: [FetchedDocument], then extras: CommitExtras, postpones: Bool
    ) throws -> (settled: [FetchOutcome], postponed: [Int]) {
        guard try begin(extras) else { return (fetchedDocuments.map { _ in .nothing }, []) }
        let scanned = try scanning(fetchedDocuments)
        let keys = fetchedDocuments.map { BSONKey.encode($0.record.documentID) }
        var refused: [[UInt8]: StoreError] = [:]
        while true {
            do {
                let settled = try sync.transaction.savepoint {
                    let (settled, collisions) = try sync.transaction.deferringUniqueKeys {
                        try zip(fetchedDocuments, keys).map { fetched, key in
                            if let cause = refused[key] {
                                return try refuse(fetched, cause, postpones: postpones)
                            }
                            return try scanned.applyInSavepoint(fetched)
                        }
                    }
                    let causes = collisions.map { cause in
                        (BSONKey.encode(cause.documentID ?? .null), cause)
                    }
                    guard causes.isEmpty else {
                        throw Collided(causes: Dictionary(causes, uniquingKeysWith: { $1 }))
                    }
                    return settled
                }
                try end(extras)
                let postponed =
                    postpones ? fetchedDocuments.indices.filter { refused[keys[$0]] != nil } : []
                return (settled, postponed)
            } catch let collided as Collided {
                sync.resetStaleMark()
                let known = refused.count
                for key in keys where refused[key] == nil { refused[key] = collided.causes[key] }
                // Each round refuses a further document, so that it ends.
                guard refused.count > known else {
                    throw collided.causes.values.first ?? StoreError(.internalError, "collision")
                }
            }
        }
    }

    /// Refuses a document whose unique value another one keeps.
    private func refuse(
        _ fetched: FetchedDocument, _ cause: StoreError, postpones: Bool
    ) throws -> FetchOutcome {
        guard postpones else { return try pause(fetched, cause) }
        guard var record = try sync.current(fetched.record), record.pause == nil else {
            return .nothing
        }
        if record.staleMark == 0 { record.staleMark = try sync.nextStaleMark() }
        try sync.save(record)
        return .nothing
    }

    /// Settles one fetched document in a savepoint: an error stops that document only (R8).
    func applyInSavepoint(_ fetched: FetchedDocument) throws -> FetchOutcome {
        do {
            return try sync.transaction.savepoint {
                try apply(fetched)
            }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            sync.resetStaleMark()
            return try pause(fetched, cause)
        }
    }

    /// Pauses a document that cannot be stored here.
    private func pause(
        _ fetched: FetchedDocument, _ cause: any Error
    ) throws -> FetchOutcome {
        let error = SyncError(
            .unusableDocument, "the remote's document cannot be stored here: \(cause)",
            namespace: sync.namespace, documentID: fetched.record.documentID, underlying: cause)
        // A write since the request must not be reverted.
        guard var record = try sync.current(fetched.record) else { return .nothing }
        guard record.revision == fetched.record.revision else {
            try sync.markStale(record)
            return .nothing
        }
        record.pause = PauseReason(error.code, error.message)
        try sync.save(record)
        return .failed(error)
    }
}
