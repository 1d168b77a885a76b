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

/// Bounds what a pass does at a time.
public struct SyncLimits: Sendable, Hashable {
    /// Documents in one request or transaction.
    public var batchDocuments = 500
    /// Bytes of documents in one request or answer; a larger document goes alone.
    public var batchBytes = 4 * 1024 * 1024
    /// Changes read from the remote's history at a time.
    public var changesPerRead = 1000
    /// How long the remote may take to answer one request; `nil` for ever.
    public var requestTimeout: Duration? = .seconds(60)
    /// How long a conflict handler may take.
    public var handlerTimeout: Duration = .seconds(30)
    /// How often in a row the remote may fail to take one document's change in for a reason that
    /// nobody knows; reasons that are known to pass do not count.
    public var failuresMax: Int64 = 20
    /// How many documents' last conflicts are kept in the store's file for `stitchsync diff`,
    /// `inspect` and `fixture record`, with all editions; 0 for none.
    public var conflictsKept = 16

    /// The limits that are used unless told.
    public init() {}

    /// The limits with nothing below one.
    var clamped: SyncLimits {
        var limits = self
        limits.batchDocuments = max(1, batchDocuments)
        limits.batchBytes = max(1, batchBytes)
        limits.changesPerRead = max(1, changesPerRead)
        limits.failuresMax = max(1, failuresMax)
        limits.conflictsKept = max(0, conflictsKept)
        return limits
    }
}

/// Counts what a pass did.
public struct SyncPassReport: Sendable, Hashable {
    /// Documents whose remote edition was looked at.
    public var looked = 0
    /// Documents taken from the remote.
    public var taken = 0
    /// Local documents removed since the remote deleted them.
    public var removed = 0
    /// Local documents that left the device since no subscription asks for them any more.
    public var evicted = 0
    /// Local changes that the remote took in.
    public var uploaded = 0
    /// Conflicts that a handler answered.
    public var conflicts = 0
    /// Documents paused.
    public var paused = 0
    /// Documents that were found missing at the remote without evidence of a delete; they are kept.
    public var unexplained = 0
    /// Local changes that the remote refused and that were taken back.
    public var reverted = 0
    /// Refused writes that the app was asked about.
    public var answered = 0
    /// Documents that somebody else was at first; the next pass goes on with them.
    public var overtaken = 0
    /// Sets of subscriptions that the remote answered.
    public var subscriptionSets = 0
    /// Requests to the remote.
    public var requests = 0
    /// Errors, in the order in which they came.
    public var errors: [SyncError.Code] = []

    /// Whether no collection failed on the way to the remote.
    public var reachedRemote: Bool {
        !errors.contains(.remoteUnavailable) && !errors.contains(.authRequired)
    }

    /// Whether a collection is stopped, since its remote is another one or was dropped.
    public var hasStopped: Bool {
        errors.contains(.remoteChanged) || errors.contains(.collectionDropped)
    }

    /// Makes a report of nothing.
    public init() {}

    /// Adds another report's counts.
    public mutating func add(_ other: SyncPassReport) {
        looked += other.looked
        taken += other.taken
        removed += other.removed
        evicted += other.evicted
        subscriptionSets += other.subscriptionSets
        uploaded += other.uploaded
        conflicts += other.conflicts
        paused += other.paused
        unexplained += other.unexplained
        reverted += other.reverted
        answered += other.answered
        overtaken += other.overtaken
        requests += other.requests
        errors += other.errors
    }
}
