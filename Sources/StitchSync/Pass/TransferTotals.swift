internal import BSONStore

/// The counts of expected and counted documents that the store does not hold.
struct TransferTotals: Sendable {
    /// Documents from the history that are being fetched, by collection.
    var announced: [Namespace: Int] = [:]
    /// Documents still to be read by each query of the subscription set that is being downloaded.
    var queries: [Int] = []
    /// Counted documents whose conflicts wait, with their stale marks.
    var waiting: [Waiting: Int64] = [:]
    /// The highest totals reported in this pass, which later reports do not go below.
    private var least = (downloads: 0, uploads: 0)

    /// The key of a document in any collection.
    struct Waiting: Hashable {
        let namespace: Namespace
        let key: [UInt8]
    }

    /// The number of expected documents without a record.
    var comingCount: Int { announced.values.reduce(0, +) + queries.reduce(0, +) }

    /// Lets later reports begin with lower totals.
    mutating func resetMinimum() { least = (0, 0) }

    /// Returns a progress whose totals are not below earlier ones: settled documents that are not
    /// counted yet do not lower them.
    mutating func raised(_ progress: SyncProgress) -> SyncProgress {
        least.downloads = max(least.downloads, progress.totalDownloads)
        least.uploads = max(least.uploads, progress.totalUploads)
        var progress = progress
        (progress.totalDownloads, progress.totalUploads) = (least.downloads, least.uploads)
        return progress
    }

    /// Subtracts read documents from the expected ones of a query; the last page ends them.
    mutating func read(_ count: Int, ofQuery query: Int, isLast: Bool) {
        guard queries.indices.contains(query) else { return }
        queries[query] = isLast ? 0 : max(0, queries[query] - count)
    }
}

extension CollectionPass {
    /// Notes the number of documents from the history that are fetched next.
    func announce(_ count: Int) {
        let namespace = namespace
        engine.state.withLock { $0.totals.announced[namespace] = count == 0 ? nil : count }
        engine.changed.notify()
    }

    /// Returns the indexes of fetched documents that are staged, and so counted already.
    func aside(_ looks: [FetchedDocument]) throws -> Set<Int> {
        let sets = engine.sets
        return try engine.store.read { transaction in
            let connection = transaction.connection
            let subscriptions = SubscriptionTable(connection: connection, cache: sets)
            guard try subscriptions.history().coming != nil,
                let collection = try SyncStateTable(connection: connection).existing(namespace)
            else { return [] }
            return try Set(
                looks.indices.filter { index in
                    try subscriptions.isStaged(
                        looks[index].record.documentID, in: collection.rowID)
                })
        }
    }

    /// Counts settled documents, each once, and changes whose upload turned out to be applied.
    func countFetched(
        _ looks: [FetchedDocument], _ settled: [SyncTransaction.SettlementOutcome],
        _ evidence: [OperationID: AttemptEvidence], aside: Set<Int>
    ) {
        let namespace = namespace
        engine.state.withLock { state in
            var (counted, announced, landed) = (0, 0, 0)
            for (index, (look, outcome)) in zip(looks, settled).enumerated() {
                let record = look.record
                let isTold = record.hint == 0 && record.attempt == nil && record.rowID != nil
                if isTold || record.rowID == nil { announced += 1 }
                if case .claim = outcome { continue }
                if let attempt = record.attempt {
                    let found = evidence[attempt.operation] ?? .historyLost
                    let hasLanded = AttemptDecision.decide(found) == .adopt
                    landed += hasLanded ? 1 : 0
                    // The document was only fetched to settle its attempt.
                    if hasLanded || record.hint == 0, !outcome.isNews { continue }
                }
                if aside.contains(index) { continue }
                let place = TransferTotals.Waiting(
                    namespace: namespace, key: BSONKey.encode(record.documentID))
                let isKnown =
                    !state.totals.waiting.isEmpty
                    && state.totals.waiting.removeValue(forKey: place) == record.hint
                if case .conflict(let conflict) = outcome {
                    state.totals.waiting[place] = conflict.record.hint
                }
                counted += isKnown ? 0 : 1
            }
            state.progress.downloadedDocuments += counted
            state.progress.uploadedDocuments += landed
            if let left = state.totals.announced[namespace] {
                state.totals.announced[namespace] = left > announced ? left - announced : nil
            }
        }
        engine.changed.notify()
    }

    /// Removes documents whose conflicts no longer wait, or wait with another stale mark.
    func removeFinishedWaits() throws {
        let (namespace, waits) = (namespace, engine.state.withLock { $0.totals.waiting })
        let own = waits.filter { $0.key.namespace == namespace }
        guard !own.isEmpty else { return }
        let over = try read { records, collection in
            try own.filter { place, hint in
                try records.hint(ofKey: place.key, in: collection.rowID) != hint
            }
        }
        engine.state.withLock { state in
            for place in over.keys { state.totals.waiting[place] = nil }
        }
    }

    /// Requests the number of documents that match a query.
    ///
    /// It returns 0 where the remote does not report the number or fails; the download runs all the
    /// same.
    func documentCount(_ query: SubscriptionQuery) async throws -> Int {
        guard engine.isOnline else { return 0 }
        do {
            return try await engine.requestWithTimeout(remote) { remote in
                try await remote.count(matching: query.filter)
            } ?? 0
        } catch is RemoteError {
            return 0
        }
    }
}

extension SyncTransaction.SettlementOutcome {
    /// Whether the fetch found an edition that the store did not hold.
    fileprivate var isNews: Bool {
        switch self {
        case .taken, .foreign, .conflict, .answered: true
        case .nothing, .removed, .renewed, .missing, .evicted, .refused, .claim, .failed: false
        }
    }
}
