internal import BSONStore

/// The fetch of remote editions and the storage of new ones.
///
/// The way of a document, from the outside to the inside:
///
/// 1. `applyStale`, `applyWanted`, `apply` and `applyPostponed` fetch documents in batches;
///    `settleTold` has them from the history.
/// 2. `settleAndClaim` settles a batch, gives versions to documents without one and settles these again.
/// 3. `settle` looks for evidence of the open attempts, commits, and has the app resolve conflicts.
/// 4. `commit` runs the transaction: for the whole batch, or after an error with a savepoint for each
///    document.
/// 5. `SettleFetchedBatch` goes through the batch inside the transaction.
/// 6. `SettleFetched` settles one document: `FetchDecision` decides, `carryOut` does what it says.
/// 7. `report` reports the outcomes, and returns the conflicts and the documents without a version.
/// 8. `ResolveConflicts` asks the app, and commits each answer by `SettleConflict`.
///
/// The verbs keep their meaning in all steps: to *apply* is to fetch and settle, to *settle* is to store
/// what an answer means, to *commit* is to run one transaction, to *carry out* is to do what was decided,
/// and to *take* an edition is to make the local document equal to it.
struct ApplyRemote {
    let context: PassContext
    /// Whether the remote reported its identity in this pass.
    let isIdentityKnown: Bool
    /// Whether this pass stages documents of a subscription set.
    let isStaging: Bool
    /// Whether a document whose unique value another one has is paused; otherwise it is fetched
    /// again by ``applyPostponed()``.
    private var pausesDuplicates = false

    init(context: PassContext, isIdentityKnown: Bool, isStaging: Bool) {
        self.context = context
        self.isIdentityKnown = isIdentityKnown
        self.isStaging = isStaging
    }

    private var fetch: Fetch { Fetch(context: context) }

    /// Fetches every document that is stale or has an open attempt, in batches.
    func applyStale() async throws {
        var last: Int64 = 0
        try await applyBatches {
            let after = last
            let records = try context.read { records, collection in
                try records.page(
                    of: .toFetch, in: collection.rowID, after: after,
                    limit: context.limits.batchDocuments,
                    bytesMax: context.limits.batchBytes)
            }
            guard let row = records.last?.rowID else { return nil }
            last = row
            return Fetch.Batch(records: records)
        }
    }

    /// Fetches wanted ids that have no record yet, in batches.
    ///
    /// Ids that did not fit into one answer stay in their row and are fetched after all others.
    func applyWanted() async throws {
        let fetch = fetch
        var asked: [WantedIDs] = []
        while true {
            let before = asked
            asked = []
            var mayGoOn = true
            try await RequestsAhead(context: context).run {
                let last = asked.last?.row ?? 0
                let next = try context.snapshot { snapshot in
                    let collection = snapshot.collection
                    guard collection.hasWantedIDs else { return WantedIDs?.none }
                    return try snapshot.wantedIDs
                        .rows(in: collection.rowID, after: last, limit: 1).first
                }
                guard let next else { return nil }
                // The ids may have been stored under another limit.
                mayGoOn = next.ids.count <= context.limits.batchDocuments
                if mayGoOn { asked.append(next) }
                return mayGoOn ? next : nil
            } request: { wanted in
                try await fetch.documents(for: wanted.records)
            } take: { wanted, answer in
                try await settleAndClaim(
                    answer.fetched, then: .begin(wanted, rest: answer.rest.map(\.documentID)))
            }
            guard mayGoOn else { return try await context.write(expanding: true) { _ in } }
            if asked.isEmpty
                || asked.elementsEqual(before, by: { $0.row == $1.row && $0.ids == $1.ids })
            {
                return
            }
        }
    }

    /// Fetches documents, decides and commits, then lets the app resolve conflicts.
    ///
    /// - Parameters:
    ///   - extras: the data that the last commit stores in addition.
    ///   - absenceCauses: the causes of absence that the history just reported, by document key.
    func apply(
        _ records: [SyncRecord], then extras: CommitExtras = .nothing,
        absenceCauses: [[UInt8]: AbsenceCause] = [:]
    ) async throws {
        var rest = records[...]
        try await applyBatches(absenceCauses: absenceCauses) {
            guard let next = rest.takeFirst(context.limits.batchDocuments) else { return nil }
            return Fetch.Batch(records: Array(next), extras: rest.isEmpty ? extras : .nothing)
        }
    }

    /// Fetches and settles the documents that still have records, as ``apply(_:then:absenceCauses:)``.
    func apply(_ ids: [BSONValue]) async throws {
        var rest = ids[...]
        try await applyBatches {
            guard let next = rest.takeFirst(context.limits.batchDocuments) else { return nil }
            return Fetch.Batch(
                records: try await context.write { sync in try next.compactMap(sync.record) })
        }
    }

    /// Fetches and settles batches of documents.
    ///
    /// - Parameter next: returns the next batch; `nil` at the end.
    private func applyBatches(
        absenceCauses: [[UInt8]: AbsenceCause] = [:], next: () async throws -> Fetch.Batch?
    ) async throws {
        try await fetch.batches(absenceCauses: absenceCauses, next: next) { fetched, extras in
            try await settleAndClaim(fetched, then: extras, absenceCauses: absenceCauses)
        }
    }

    /// Settles documents that the history reported whole, in batches; nothing is fetched.
    ///
    /// - Parameter extras: the data that the last commit stores in addition.
    func settleTold(_ reported: [FetchedDocument], then extras: CommitExtras) async throws {
        let size = context.limits.batchDocuments
        for start in stride(from: 0, to: reported.count, by: size) {
            let end = min(start + size, reported.count)
            let batch = Array(reported[start..<end])
            context.engine.progress.count { progress in
                progress.downloadedBytes += batch.reduce(0) { $0 + ($1.remote?.byteCount ?? 0) }
            }
            try await settleAndClaim(batch, then: end == reported.count ? extras : .nothing)
        }
    }

    /// Fetches the documents again whose unique values other documents had, now that these have
    /// changed, too: together, so that they can exchange values.
    ///
    /// Those that still collide are paused.
    func applyPostponed() async throws {
        var ids = context.findings.takePostponed()
        var isLast = false
        while !ids.isEmpty {
            var step = self
            let size = context.limits.exchangedDocuments
            step.pausesDuplicates = isLast || ids.count <= size
            for start in stride(from: 0, to: ids.count, by: size) {
                let chunk = ids[start..<min(start + size, ids.count)]
                try await step.apply(
                    try context.read { records, collection in
                        try chunk.compactMap { try records.record(of: $0, in: collection.rowID) }
                    })
            }
            let left = context.findings.takePostponed()
            isLast = left.count == ids.count
            ids = left
        }
    }

    /// Settles fetched documents, and those without a version again after they got one.
    private func settleAndClaim(
        _ fetchedDocuments: [FetchedDocument], then extras: CommitExtras,
        absenceCauses: [[UInt8]: AbsenceCause] = [:]
    ) async throws {
        var claims = try await settle(fetchedDocuments, mayClaim: true, then: extras)
        try await ClaimVersions(context: context).claim(claims)
        while !claims.isEmpty {
            let (fetchedDocuments, rest) = try await fetch.documents(
                for: claims, absenceCauses: absenceCauses)
            _ = try await settle(fetchedDocuments, mayClaim: false)
            claims = rest
        }
    }

    /// Renews the editions of documents whose attempt the history contains: the remote may have applied
    /// the attempt after the first fetch, which then shows an edition older than the new base.
    private func renewEditions(
        _ fetchedDocuments: inout [FetchedDocument], by evidence: [OperationID: AttemptEvidence]
    ) async throws {
        let late = fetchedDocuments.indices.filter { index in
            fetchedDocuments[index].record.attempt.map { evidence[$0.operation] == .inHistory }
                ?? false
        }
        guard !late.isEmpty else { return }
        let lookups = try await fetch.find(late.map { fetchedDocuments[$0].record.documentID })
        for (index, lookup) in zip(late, lookups) { fetchedDocuments[index].read(lookup) }
    }

    /// Settles fetched documents, then lets the app resolve the conflicts.
    ///
    /// - Returns: the documents to give a version and fetch again.
    private func settle(
        _ fetchedDocuments: [FetchedDocument], mayClaim: Bool,
        then extras: CommitExtras = .nothing
    ) async throws -> [SyncRecord] {
        var fetchedDocuments = fetchedDocuments
        let evidence = try await FindAttempts(context: context, isIdentityKnown: isIdentityKnown)
            .evidence(for: fetchedDocuments)
        try await renewEditions(&fetchedDocuments, by: evidence)
        let staged = isStaging ? try stagedIndexes(of: fetchedDocuments) : []
        let (settled, postponed) = try await commit(
            fetchedDocuments, evidence: evidence, mayClaim: mayClaim, then: extras)
        if postponed.isEmpty {
            context.engine.progress.noteSettled(
                fetchedDocuments, settled, evidence, staged: staged, in: context.namespace)
        } else {
            for index in postponed {
                context.findings.notePostponed(fetchedDocuments[index].record.documentID)
            }
            let counted = fetchedDocuments.indices.filter { !postponed.contains($0) }
            context.engine.progress.noteSettled(
                counted.map { fetchedDocuments[$0] }, counted.map { settled[$0] }, evidence,
                staged: Set(counted.indices.filter { staged.contains(counted[$0]) }),
                in: context.namespace)
        }
        let (conflicts, claims) = report(settled, of: fetchedDocuments)
        let conflictStep = ResolveConflicts(context: context)
        try await conflictStep.resolve(conflicts)
        if !conflicts.isEmpty { try conflictStep.removeFinishedWaits() }
        return claims
    }

    /// Counts and reports the outcomes, and picks those that need a further step.
    ///
    /// It also finishes conflicts that were resolved at once: it writes them to the journal and
    /// holds their uploads back until the next pass.
    ///
    /// - Returns: the conflicts to resolve, and the records of documents to give a version.
    private func report(
        _ settled: [FetchOutcome], of fetchedDocuments: [FetchedDocument]
    ) -> (conflicts: [OpenConflict], claims: [SyncRecord]) {
        let conflictStep = ResolveConflicts(context: context)
        let fixedSide = context.configuration.conflictHandler?.fixedSide
        var conflicts: [OpenConflict] = []
        var claims: [SyncRecord] = []
        for (fetched, outcome) in zip(fetchedDocuments, settled) {
            switch outcome {
            case .nothing: break
            case .taken: context.findings.count { $0.taken += 1 }
            case .removed: context.findings.count { $0.removed += 1 }
            case .renewed(let error):
                context.findings.count { $0.taken += fetched.isAbsent ? 0 : 1 }
                context.findings.add(error)
            case .missing where fetched.lookup == .hidden:
                context.findings.noteHidden(fetched.record.documentID)
            case .missing: context.findings.noteMissing(fetched.record.documentID)
            case .evicted: context.findings.count { $0.evicted += 1 }
            case .refused(let refused):
                context.findings.count {
                    $0.evicted += refused.decision == .revert ? 1 : 0
                }
                context.findings.note(refused, in: context.namespace)
            case .foreign: context.findings.add(fetched.foreignVersion(in: context.namespace))
            case .claim(let record): claims.append(record)
            case .conflict(let conflict): conflicts.append(conflict)
            case .resolvedAtOnce(let committed, let conflict):
                context.findings.count { $0.conflicts += 1 }
                conflictStep.finish(committed, of: fetched.record)
                conflictStep.journal(conflict, committed, fixedSide)
            case .failed(let error):
                context.findings.count { $0.paused += 1 }
                context.findings.add(error)
            }
        }
        return (conflicts, claims)
    }

    /// Settles all fetched documents in one transaction.
    ///
    /// If one of them fails, each gets a savepoint of its own (rule R8), which costs a copy of
    /// every written page, and documents may exchange unique values.
    ///
    /// - Returns: the outcomes, and the indexes of documents to fetch again.
    private func commit(
        _ fetchedDocuments: [FetchedDocument], evidence: [OperationID: AttemptEvidence],
        mayClaim: Bool,
        then extras: CommitExtras
    ) async throws -> (settled: [FetchOutcome], postponed: Set<Int>) {
        // A hook of tests sees each conflict before its answer, so `ResolveConflicts` answers it.
        let answer =
            context.engine.conflictFound == nil
            ? context.configuration.conflictHandler?.fixedSide : nil
        let policy = FetchPolicy(
            uploads: context.uploadPolicy,
            counting: context.configuration.conflictHandler?.counting,
            hasHandler: context.configuration.conflictHandler != nil)
        @Sendable func step(_ sync: SyncTransaction, mayAnswer: Bool) -> SettleFetchedBatch {
            SettleFetchedBatch(
                sync: sync,
                FetchTerms(
                    policy: policy, evidence: evidence, mayClaim: mayClaim,
                    answer: mayAnswer ? answer : nil))
        }
        func commitTogether(usingEarlierReads usesEarlierReads: Bool) async throws -> [FetchOutcome]
        {
            try await context.write { sync in
                var sync = sync
                sync.usesEarlierReads = usesEarlierReads
                return try step(sync, mayAnswer: true).settleTogether(
                    fetchedDocuments, then: extras)
            }
        }
        do {
            do {
                return (try await commitTogether(usingEarlierReads: true), [])
            } catch is SyncRecordTable.OutdatedRevision {
                return (try await commitTogether(usingEarlierReads: false), [])
            }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            let postpones = !pausesDuplicates
            let (settled, postponed) = try await context.write { sync in
                // `ResolveConflicts` answers. An answer that cannot be stored here would pause the
                // document as if the remote's edition were the reason.
                try step(sync, mayAnswer: false).settleIndividually(
                    fetchedDocuments, then: extras, postpones: postpones)
            }
            return (settled, Set(postponed))
        }
    }

    /// Returns the indexes of fetched documents that are staged, and so counted already.
    private func stagedIndexes(of fetchedDocuments: [FetchedDocument]) throws -> Set<Int> {
        let sets = context.engine.sets
        return try context.engine.store.read { transaction in
            let connection = transaction.connection
            let subscriptions = SubscriptionTable(connection: connection, cache: sets)
            guard try subscriptions.history().coming != nil,
                let collection = try SyncCollectionTable(connection: connection).existing(
                    context.namespace)
            else { return [] }
            return try Set(
                fetchedDocuments.indices.filter { index in
                    try subscriptions.isStaged(
                        fetchedDocuments[index].record.documentID, in: collection.rowID)
                })
        }
    }
}
