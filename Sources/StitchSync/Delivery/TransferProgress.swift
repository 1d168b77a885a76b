internal import BSONStore

/// The engine's progress, which the steps of a pass count up.
final class TransferProgress: Sendable {
    private struct State {
        var progress = SyncProgress()
        var totals = TransferTotals()
    }

    private let state = Locked(State())
    /// Signals that the progress changed.
    private let changed: Signal

    init(changed: Signal) { self.changed = changed }

    /// The counts of finished transfers, and of expected ones that the store does not hold.
    var current: (progress: SyncProgress, totals: TransferTotals) {
        state.withLock { ($0.progress, $0.totals) }
    }

    /// Returns a progress whose totals are not below those reported earlier in the pass.
    func raised(_ progress: SyncProgress) -> SyncProgress {
        state.withLock { $0.totals.raised(progress) }
    }

    /// Changes the counts of finished transfers.
    func count(_ change: (inout SyncProgress) -> Void) {
        state.withLock { change(&$0.progress) }
        changed.notify()
    }

    /// Lets later reports begin with lower totals, at the begin and the end of a pass.
    func resetMinimum() { state.withLock { $0.totals.resetMinimum() } }
}

// MARK: - Fetched documents

extension TransferProgress {
    /// Notes the number of documents from the history that are fetched next.
    func announce(_ count: Int, in namespace: Namespace) {
        state.withLock { $0.totals.announced[namespace] = count == 0 ? nil : count }
        changed.notify()
    }

    /// Counts settled documents, each once, and changes whose upload turned out to be applied; notes the
    /// conflicts that wait for the app.
    ///
    /// `ResolveConflicts.removeFinishedWaits()` removes a wait once it is over.
    ///
    /// - Parameter staged: the indexes of staged documents, which are counted already.
    func noteSettled(
        _ fetchedDocuments: [FetchedDocument], _ settled: [FetchOutcome],
        _ evidence: [OperationID: AttemptEvidence], staged: Set<Int>, in namespace: Namespace
    ) {
        state.withLock { state in
            var (counted, announced, landed) = (0, 0, 0)
            for (index, (fetched, outcome)) in zip(fetchedDocuments, settled).enumerated() {
                let record = fetched.record
                let isReported =
                    record.staleMark == 0 && record.attempt == nil && record.rowID != nil
                if isReported || record.rowID == nil { announced += 1 }
                if case .claim = outcome { continue }
                if let attempt = record.attempt {
                    let found = evidence[attempt.operation] ?? .historyLost
                    let hasLanded = AttemptDecision.decide(found) == .adopt
                    landed += hasLanded ? 1 : 0
                    // The document was only fetched to settle its attempt.
                    if hasLanded || record.staleMark == 0, !outcome.isNews { continue }
                }
                if staged.contains(index) { continue }
                let place = TransferTotals.Waiting(
                    namespace: namespace, key: BSONKey.encode(record.documentID))
                let isKnown =
                    !state.totals.waiting.isEmpty
                    && state.totals.waiting.removeValue(forKey: place) == record.staleMark
                if case .conflict(let conflict) = outcome {
                    state.totals.waiting[place] = conflict.record.staleMark
                }
                counted += isKnown ? 0 : 1
            }
            state.progress.downloadedDocuments += counted
            state.progress.uploadedDocuments += landed
            if let left = state.totals.announced[namespace] {
                state.totals.announced[namespace] = left > announced ? left - announced : nil
            }
        }
        changed.notify()
    }

    /// Returns the counted documents of a collection whose conflicts wait, with their stale marks.
    func waiting(in namespace: Namespace) -> [TransferTotals.Waiting: Int64] {
        state.withLock { $0.totals.waiting }.filter { $0.key.namespace == namespace }
    }

    /// Removes documents whose conflicts no longer wait.
    func removeWaits(_ places: some Sequence<TransferTotals.Waiting>) {
        state.withLock { state in
            for place in places { state.totals.waiting[place] = nil }
        }
    }
}

// MARK: - Documents of a subscription set

extension TransferProgress {
    /// Notes the number of documents that the queries of a set will still return.
    func expect(_ counts: [Int]) {
        state.withLock { $0.totals.queries = counts }
        changed.notify()
    }

    /// Notes that there is nothing to download for a set.
    func expectNothing() { state.withLock { $0.totals.queries = [] } }

    /// Counts a page of a query's results.
    ///
    /// - Parameters:
    ///   - count: the number of documents on the page.
    ///   - fresh: the number of those that count as downloaded.
    func countPage(_ count: Int, fresh: Int, ofQuery query: Int, isLast: Bool) {
        state.withLock { state in
            state.progress.downloadedDocuments += fresh
            state.totals.read(count, ofQuery: query, isLast: isLast)
        }
        changed.notify()
    }

    /// Notes that the download of a set ended.
    func noteSetEnded() {
        state.withLock { state in
            state.totals.queries = []
            state.totals.resetMinimum()
        }
        changed.notify()
    }
}

extension FetchOutcome {
    /// Whether the fetch found an edition that the store did not hold.
    fileprivate var isNews: Bool {
        switch self {
        case .taken, .foreign, .conflict, .resolvedAtOnce: true
        case .nothing, .removed, .renewed, .missing, .evicted, .refused, .claim, .failed: false
        }
    }
}
