internal import BSONStore

/// The activation of a subscription set in one transaction: it evicts documents that do not match,
/// stores the staged ones, and supersedes the earlier sets.
///
/// If the remote refused some of its queries, the set gets the state of an error, and the others
/// become active: no query waits for another.
struct SubscriptionActivation {
    /// The results for the documents of one collection.
    struct CollectionActivation: Sendable {
        var taken = 0
        var evicted = 0
        var errors: [SyncError] = []
    }

    /// The results for all collections.
    struct Outcome: Sendable {
        var shares: [Namespace: CollectionActivation] = [:]
    }

    let transaction: WriteTransaction
    let sets: SubscriptionCache
    let version: Int64
    /// Whether each document gets a savepoint of its own, so that an error stops that document only
    /// (R8).
    let individually: Bool
    /// The collections whose writes from before the set could not be sent.
    let cut: Set<Int64>
    /// The limits of the stored history.
    let limits: SyncLimits
    /// Whether the references of documents that leave the device are stored.
    let keepsReferences: Bool
    /// Whether a collection has a listener; `nil` where this is unknown.
    let listens: (Namespace) -> Bool?

    /// Activates the set.
    ///
    /// - Returns: `nil` where not all documents are staged, or another set superseded this one.
    func run() throws -> Outcome? {
        let stored = SubscriptionTable(connection: transaction.connection, cache: sets)
        var history = try stored.history()
        guard let set = history.coming, set.version == version else { return nil }
        let progress = try stored.progress(of: version)
        let queries = history.newQueries(of: set, isOrdered: progress.isOrdered)
        guard progress.query >= queries.count else { return nil }
        if progress.refused.isEmpty {
            guard history.apply(.bootstrapApplied, to: version) else { return nil }
            try stored.save(history)
        } else {
            let refused = Set(progress.refused.map { queries[$0.query] })
            let held = history.held.followed(by: set, without: refused)
            let event = SubscriptionEvent.refused(Self.text(progress.refused))
            guard history.apply(event, to: version) else { return nil }
            history.hold(held, of: version)
            try stored.save(history)
            try stored.save(held, of: version)
        }
        try stored.removeEarlier(upTo: version, except: cut)
        var outcome = Outcome()
        let collections = SyncCollectionTable(connection: transaction.connection)
        for var collection in try collections.all() where collection.isSubscribed {
            try collections.save(listens: listens(collection.namespace), in: &collection)
            var sync = SyncTransaction(
                transaction: transaction, collection: collection, sets: sets)
            sync.keepsHistory = limits.keepsHistory
            sync.keepsReferences = keepsReferences
            try ExpandBatches(sync: sync).run()
            outcome.shares[collection.namespace] = CollectionActivation(
                taken: 0, evicted: try evict(sync))
            try arrive(sync, &outcome.shares[collection.namespace, default: CollectionActivation()])
            try sync.storeHistory(limits)
            try DeviceDocuments(sync: sync).endSubscribedStateIfUnused()
        }
        try stored.clearStaged()
        return outcome
    }

    /// The largest number of reasons in the text of a refused set.
    private static let reasonsMax = 5

    /// Returns the reasons of a set's refusals, each once.
    private static func text(_ refused: [SubscriptionTable.Refusal]) -> String {
        var reasons: [String] = []
        for refusal in refused where !reasons.contains(refusal.message) {
            guard reasons.count < reasonsMax else { break }
            reasons.append(refusal.message)
        }
        return reasons.joined(separator: "; ")
    }

    private func evict(_ sync: SyncTransaction) throws -> Int {
        let documents = DeviceDocuments(sync: sync)
        let batch = 500
        var evicted = 0
        var last: Int64 = 0
        while true {
            let records = try sync.records.page(
                of: .onlyByQuery, in: sync.collection.rowID, after: last, limit: batch)
            guard let row = records.last?.rowID else { return evicted }
            last = row
            for record in records where !record.isPending && record.attempt == nil {
                let local = try sync.local(record.documentID)
                if record.isRowMissing(local: local) {
                    // The fetch that downloads the document again decides whether it stays.
                    try sync.markStale(record)
                    continue
                }
                if try local.map(sync.membership.keeps) ?? waits(record, sync) { continue }
                try documents.evict(record, isHeld: local != nil, .subscription)
                try documents.keepStaleMark(after: record)
                if local != nil { evicted += 1 }
            }
        }
    }

    /// Returns whether a record without a local document stays.
    ///
    /// A stale one does: the next fetch decides about it. So does one that is paused because the store
    /// cannot hold the document: whether a query matches it is not known.
    private func waits(_ record: SyncRecord, _ sync: SyncTransaction) throws -> Bool {
        guard record.staleMark == 0 else { return true }
        return try record.pause?.code == .unusableDocument && sync.membership.isAsked
    }

    private func arrive(_ sync: SyncTransaction, _ share: inout CollectionActivation) throws {
        let step = SettleFetchedBatch(sync: sync, FetchTerms(insertReason: .subscription))
        var last: [UInt8] = []
        while true {
            let page = try sync.subscriptions.staged(in: sync.collection.rowID, after: last)
            guard let end = page.last else { return }
            last = end.key
            let fetchedDocuments = page.map { staged in
                FetchedDocument(
                    SyncRecord(documentID: staged.document.documentID, byID: false),
                    .found(staged.document), [:])
            }
            let settled =
                individually
                ? try fetchedDocuments.map { try step.settleInSavepoint($0) }
                : try sync.withBulkInsert {
                    // The settlement begins with a check that the document is not here.
                    try fetchedDocuments.map { try step.settle($0, local: .absent) }
                }
            count(zip(fetchedDocuments, settled), in: sync.namespace, &share)
        }
    }

    private func count(
        _ settled: some Sequence<(FetchedDocument, FetchOutcome)>, in namespace: Namespace,
        _ share: inout CollectionActivation
    ) {
        for (fetched, outcome) in settled {
            switch outcome {
            case .taken: share.taken += 1
            case .foreign:
                share.taken += 1
                share.errors.append(fetched.foreignVersion(in: namespace))
            case .renewed(let error):
                share.taken += 1
                share.errors.append(error)
            case .failed(let error): share.errors.append(error)
            case .nothing, .removed, .missing, .evicted, .claim, .conflict, .resolvedAtOnce,
                .refused:
                break
            }
        }
    }
}
