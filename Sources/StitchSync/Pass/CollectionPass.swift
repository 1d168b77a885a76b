internal import BSONStore

/// One collection's share of a pass, with its state and results.
///
/// No transaction spans a request or a handler call: each step reads in a transaction, ends it,
/// sends the request, and decides again from the current store (rule R10).
struct CollectionPass {
    let engine: PassEngine
    let namespace: Namespace
    let remote: any RemoteCollection
    let configuration: CollectionConfiguration
    /// The counts so far.
    var report = SyncPassReport()
    /// Rows of documents whose conflict was resolved in this pass; the next one uploads them.
    var resolved: Set<Int64> = []
    /// Errors to report to the app, after the commit that caused them.
    var errors: [SyncError] = []
    /// The codes of stored errors, which are reported until a listener has handled them.
    var persistedErrors: [SyncError.Code] = []
    /// Documents whose change was reverted.
    var reverted: [BSONValue] = []
    /// Rows of records whose stored bases are no longer needed.
    var staleBases: [Int64] = []
    /// Documents that a fetch found missing without evidence of a delete.
    var missing: [BSONValue] = []
    /// Whether this pass stages documents of a subscription set.
    var isStaging = false
    /// Whether the remote reported its identity in this pass.
    var isIdentityKnown = false
    /// Whether the remote reported that the collection does not exist yet.
    var isUncreated = false
    /// The collection's number in the store, for log lines.
    let sessionNumber: Int64

    /// Runs a transaction over the collection's documents, records and events.
    func write<R: Sendable>(
        expanding: Bool = false, _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        try await engine.writer.write(namespace, expanding: expanding, body)
    }

    /// Changes the collection's sync state in a transaction of its own.
    func updateCollection(
        _ change: @escaping @Sendable (inout SyncStateTable.Collection) -> Void
    ) async throws {
        try await write { sync in
            var collection = sync.collection
            change(&collection)
            try sync.state.save(collection)
        }
    }

    /// Reads the collection's records from a snapshot.
    func read<R>(_ body: (SyncRecordTable, SyncStateTable.Collection) throws -> R) throws -> R {
        try snapshot { try body($0.records, $0.collection) }
    }

    /// Reads the collection's documents and records from a snapshot.
    func snapshot<R>(_ body: (SyncSnapshot) throws -> R) throws -> R {
        try engine.store.read { transaction in
            let state = SyncStateTable(connection: transaction.connection)
            guard let collection = try state.existing(namespace) else {
                throw SyncError(
                    .storeFailed, "the sync tables lack the collection", namespace: namespace)
            }
            return try body(SyncSnapshot(transaction: transaction, collection: collection))
        }
    }

    var limits: SyncLimits { engine.limits }

    /// Sends a request to the remote and counts it; sends none while the engine is offline.
    ///
    /// After a timeout or a cancellation, the pass does not wait for the request, which counts as
    /// one whose response was lost.
    ///
    /// - Throws: `RemoteError`; untyped, since Swift 6.3's optimizer crashes on the typed form.
    mutating func request<R: Sendable>(
        _ body: @escaping @Sendable (any RemoteCollection) async throws -> R
    ) async throws -> R {
        guard engine.writer.isOnline else {
            throw RemoteError(.retryable, "the engine went offline")
        }
        report.requests += 1
        return try await engine.requests.send(remote, body)
    }
}

extension CollectionPass {
    /// Clears the collection's mark of subscriptions once no subscription and none of their
    /// documents is left.
    func clearSubscribedMark() async throws {
        let sets = engine.sets
        let isOver = try snapshot { snapshot in
            guard snapshot.collection.isSubscribed else { return false }
            let stored = SubscriptionTable(connection: snapshot.transaction.connection, cache: sets)
            return try !stored.asks(of: namespace)
                && snapshot.records.records(.byQuery, in: snapshot.collection.rowID, limit: 1)
                    .isEmpty
        }
        if isOver { try await write { sync in try sync.clearSubscribedMark() } }
    }
}

extension CollectionPass {
    /// Stores batched attempts without a response in their records, so that evidence settles each.
    func expandAttemptBatches() async throws {
        guard try read({ $1.hasAttempts }) else { return }
        try await write { try $0.expandAttemptBatches() }
    }
}

extension CollectionPass {
    /// Calls ``SyncTransaction/pauseQuarantined()`` only where documents were quarantined.
    func pauseQuarantined() async throws {
        let namespace = namespace
        let isNews = try snapshot {
            try !QuarantinedDocuments($0.transaction.connection).news(of: namespace).isEmpty
        }
        if isNews { try await write { try $0.pauseQuarantined() } }
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

    /// Removes documents whose conflicts no longer wait, or wait with another stale mark.
    func removeFinishedWaits() throws {
        let own = engine.progress.waiting(in: namespace)
        guard !own.isEmpty else { return }
        let over = try read { records, collection in
            try own.filter { place, hint in
                try records.hint(ofKey: place.key, in: collection.rowID) != hint
            }
        }
        engine.progress.remove(over.keys)
    }

    /// Requests the number of documents that match a query.
    ///
    /// It returns 0 where the remote does not report the number or fails; the download runs all the
    /// same.
    func documentCount(_ query: SubscriptionQuery) async throws -> Int {
        guard engine.writer.isOnline else { return 0 }
        do {
            return try await engine.requests.send(remote) { remote in
                try await remote.count(matching: query.filter)
            } ?? 0
        } catch is RemoteError {
            return 0
        }
    }
}
