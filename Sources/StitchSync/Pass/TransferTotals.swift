internal import BSONStore

/// Keeps what is still to come and the store does not tell, and what was counted already.
struct TransferTotals: Sendable {
    /// Documents that the history told of and that are being looked at, by collections.
    var announced: [Namespace: Int] = [:]
    /// Documents still to be read of each query of the set of subscriptions that is coming in.
    var queries: [Int] = []
    /// Documents that were counted, and whose conflicts wait, with the hints that they wait under.
    var waiting: [Waiting: Int64] = [:]
    /// What was told of the totals in this pass, below which they do not go.
    private var least = (downloads: 0, uploads: 0)

    /// Names a document of any collection.
    struct Waiting: Hashable {
        let namespace: Namespace
        let key: [UInt8]
    }

    /// How many documents are to come in that no record tells of.
    var comingCount: Int { announced.values.reduce(0, +) + queries.reduce(0, +) }

    /// Has totals be told as they are from now on.
    mutating func resetMinimum() { least = (0, 0) }

    /// What is told of a progress: what was settled and is not counted yet does not lower a total.
    mutating func raised(_ progress: SyncProgress) -> SyncProgress {
        least.downloads = max(least.downloads, progress.totalDownloads)
        least.uploads = max(least.uploads, progress.totalUploads)
        var progress = progress
        (progress.totalDownloads, progress.totalUploads) = (least.downloads, least.uploads)
        return progress
    }

    /// Takes documents off what a query is still to give; all that is left where it ended.
    mutating func read(_ count: Int, ofQuery query: Int, isLast: Bool) {
        guard queries.indices.contains(query) else { return }
        queries[query] = isLast ? 0 : max(0, queries[query] - count)
    }
}

extension CollectionPass {
    /// Notes how many documents the history told of, which are looked at next.
    func announce(_ count: Int) {
        let namespace = namespace
        engine.state.withLock { $0.totals.announced[namespace] = count == 0 ? nil : count }
        engine.changed.notify()
    }

    /// Which looks are at documents that were kept aside, and counted then.
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

    /// Counts documents whose looks are settled, each once, and changes that were found to have landed.
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
                    // It was looked at for what became of the attempt.
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

    /// Forgets documents that wait no longer, or for something else.
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

    /// Asks how many documents a set is still to give, and keeps that for who follows the progress.
    ///
    /// A remote that does not say, or not now, is asked for the documents all the same.
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
    /// The look brought something that is not here.
    fileprivate var isNews: Bool {
        switch self {
        case .taken, .foreign, .conflict, .answered: true
        case .nothing, .removed, .renewed, .missing, .evicted, .refused, .claim, .failed: false
        }
    }
}
