internal import BSONStore

/// Lets a set of subscriptions take over in one transaction: what it does not ask for goes, what was
/// kept aside for it comes, and the sets before it end.
struct SubscriptionActivation {
    /// What became of the documents of one collection.
    struct CollectionActivation: Sendable {
        var taken = 0
        var evicted = 0
        var errors: [SyncError] = []
    }

    /// What became of all.
    struct Outcome: Sendable {
        var shares: [Namespace: CollectionActivation] = [:]
    }

    let transaction: WriteTransaction
    let sets: SubscriptionCache
    let version: Int64
    /// Whether each document gets a savepoint of its own, so that a bad one stops itself only (R8).
    let individually: Bool
    /// Whether somebody listens to a collection, where that is known.
    let listens: (Namespace) -> Bool?

    /// - Returns: `nil` where the set's documents are not all here, or another set took over.
    func run() throws -> Outcome? {
        let stored = SubscriptionTable(connection: transaction.connection, cache: sets)
        var history = try stored.history()
        guard let set = history.coming, set.version == version else { return nil }
        guard try stored.progress(of: version).query >= history.newQueries(of: set).count,
            history.apply(.bootstrapApplied, to: version)
        else { return nil }
        try stored.save(history)
        try stored.removeEarlier(upTo: version)
        var outcome = Outcome()
        let state = SyncStateTable(connection: transaction.connection)
        for var collection in try state.collections() where collection.isSubscribed {
            try state.note(listens: listens(collection.namespace), in: &collection)
            var sync = SyncTransaction(
                transaction: transaction, collection: collection, sets: sets)
            sync.insertReason = .subscription
            try sync.expand()
            outcome.shares[collection.namespace] = CollectionActivation(
                taken: 0, evicted: try evict(sync))
            try arrive(sync, &outcome.shares[collection.namespace, default: CollectionActivation()])
            try sync.clearSubscribedMark()
        }
        try stored.clearStaged()
        return outcome
    }

    private func evict(_ sync: SyncTransaction) throws -> Int {
        let batch = 500
        var evicted = 0
        var last: Int64 = 0
        while true {
            let records = try sync.records.records(
                .byQuery, in: sync.collection.rowID, after: last, limit: batch)
            guard let row = records.last?.rowID else { return evicted }
            last = row
            for record in records where !record.isPending && record.attempt == nil {
                let local = try sync.local(record.documentID)
                if record.isRowMissing(local: local) {
                    // Whether it belongs here is found out with the look that has it come again.
                    try sync.hint(record)
                    continue
                }
                // What is only to be looked at is found out by the look.
                if try local.map(sync.membership.keeps) ?? (record.hint > 0) { continue }
                try sync.evict(record, isHeld: local != nil, .subscription)
                try sync.keepStaleMark(after: record)
                if local != nil { evicted += 1 }
            }
        }
    }

    private func arrive(_ sync: SyncTransaction, _ share: inout CollectionActivation) throws {
        var last: Int64 = 0
        while let next = try sync.subscriptions.staged(in: sync.collection.rowID, after: last) {
            last = next.row
            let id = next.document.documentID
            let look = FetchedDocument(
                SyncRecord(documentID: id, byID: false), .found(next.document), [:])
            let settled =
                individually
                ? try sync.settleInSavepoint(look, evidence: [:], mayClaim: false)
                : try sync.settle(look, evidence: [:], mayClaim: false)
            switch settled ?? .nothing {
            case .taken: share.taken += 1
            case .foreign:
                share.taken += 1
                share.errors.append(look.foreignVersion(in: sync.namespace))
            case .renewed(let error):
                share.taken += 1
                share.errors.append(error)
            case .failed(let error): share.errors.append(error)
            case .nothing, .removed, .missing, .evicted, .claim, .conflict, .answered, .refused:
                break
            }
        }
    }
}

extension SyncEngine {
    /// Lets a set take over; `nil` where it cannot yet.
    func activateSubscriptions(_ version: Int64, individually: Bool) async throws
        -> SubscriptionActivation.Outcome?
    {
        let sets = sets
        return try await write { transaction in
            try SubscriptionActivation(
                transaction: transaction, sets: sets, version: version, individually: individually,
                listens: self.listens
            ).run()
        }
    }
}
