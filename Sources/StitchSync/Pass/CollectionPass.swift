internal import BSONStore

/// Carries one collection's share of a pass: what is needed, and what is found out on the way.
///
/// Nothing is held across a request or a handler: each step reads what it needs in a transaction,
/// lets go, asks, and decides again from what the store holds then (rule R10).
struct CollectionPass {
    let engine: SyncEngine
    let namespace: Namespace
    let remote: any RemoteCollection
    let configuration: CollectionConfiguration
    /// What happened so far.
    var report = SyncPassReport()
    /// Documents whose conflict was resolved in this pass; they are sent by the next one.
    var resolved: Set<Int64> = []
    /// Errors to tell the app of, after the commit that caused them.
    var errors: [SyncError] = []
    /// Errors that are stored, and told of until the app has taken note.
    var persistedErrors: [SyncError.Code] = []
    /// Documents whose change was taken back.
    var reverted: [BSONValue] = []
    /// Rows of records whose stored bases are of no use any more.
    var staleBases: [Int64] = []
    /// Documents that a look found missing without evidence of a delete.
    var missing: [BSONValue] = []
    /// Whether documents of a set of subscriptions are kept aside in this pass.
    var isStaging = false
    /// Whether the remote told its identity in this pass.
    var isIdentityKnown = false
    /// Whether the remote said that the collection does not exist there yet.
    var isUncreated = false
    /// The collection's number in this store.
    let sessionNumber: Int64

    /// Runs a transaction over the collection's documents, records and events.
    func write<R: Sendable>(
        expanding: Bool = false, _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        try await engine.write(namespace, expanding: expanding, body)
    }

    /// Changes what is kept of the collection as a whole, in a transaction of its own.
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

    /// Counts a request to the remote; none is made once the app said that it is offline.
    ///
    /// One that takes too long, or whose pass is cancelled, is not waited for: it counts as a request
    /// whose answer was lost.
    ///
    /// - Throws: `RemoteError`; untyped, since Swift 6.3's optimizer crashes on the typed form.
    mutating func request<R: Sendable>(
        _ body: @escaping @Sendable (any RemoteCollection) async throws -> R
    ) async throws -> R {
        guard engine.isOnline else { throw RemoteError(.retryable, "the engine went offline") }
        report.requests += 1
        return try await engine.requestWithTimeout(remote, body)
    }
}

extension SyncEngine {
    /// Asks a remote for a limited time.
    ///
    /// - Parameter wait: how long the remote is told to wait for something to happen.
    /// - Throws: `RemoteError`, also when the time is up; `CancellationError`.
    func requestWithTimeout<R: Sendable>(
        _ remote: any RemoteCollection, waitingUpTo wait: Duration = .zero,
        _ body: @escaping @Sendable (any RemoteCollection) async throws -> R
    ) async throws -> R {
        guard let limit = limits.requestTimeout else { return try await body(remote) }
        do {
            return try await withTimeout(limit + wait, clock: clock) { try await body(remote) }
        } catch let error as TimeoutError {
            throw RemoteError(.retryable, error.description)
        }
    }
}

extension CollectionPass {
    /// Counts what was carried.
    func progress(_ change: (inout SyncProgress) -> Void) {
        engine.state.withLock { change(&$0.progress) }
        engine.changed.notify()
    }
}

extension CollectionPass {
    /// Forgets that subscriptions asked for documents here, once the last of those documents is gone.
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
    /// Spreads attempts whose answers never came, so that each is settled by evidence.
    func expandAttemptBatches() async throws {
        guard try read({ $1.hasAttempts }) else { return }
        try await write { try $0.expandAttemptBatches() }
    }
}
