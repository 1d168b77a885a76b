internal import BSONStore

/// The things that the steps of one collection's pass share.
///
/// No transaction spans a request or a handler call: each step reads in a transaction, ends it,
/// sends the request, and decides again from the current store (rule R10).
struct PassContext: Sendable {
    let engine: PassEngine
    let namespace: Namespace
    let remote: any RemoteCollection
    let configuration: CollectionConfiguration
    /// The collection's number in the store, for log lines.
    let collectionNumber: Int64
    /// The counts, errors and documents that the steps found.
    let findings = PassFindings()

    var limits: SyncLimits { engine.limits }

    /// The app's policy for the settlement of answers.
    var uploadPolicy: UploadPolicy {
        UploadPolicy(failuresMax: limits.failuresMax, rejection: configuration.rejection.rule)
    }

    /// Runs a transaction over the collection's documents, records and events.
    ///
    /// - Parameter expanding: whether the body needs every record complete, as the app's transactions do.
    func write<R: Sendable>(
        expanding: Bool = false, _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        try await engine.writer.write(namespace, expanding: expanding, body)
    }

    /// Changes the collection's sync state in a transaction of its own.
    func updateCollection(
        _ change: @escaping @Sendable (inout SyncCollectionState) -> Void
    ) async throws {
        try await write { sync in
            var collection = sync.collection
            change(&collection)
            try sync.collections.save(collection)
        }
    }

    /// Reads the collection's records from a snapshot.
    func read<R>(
        _ body: (SyncRecordTable, SyncCollectionState) throws -> R
    ) throws -> R {
        try snapshot { try body($0.records, $0.collection) }
    }

    /// Reads the collection's documents and records from a snapshot.
    func snapshot<R>(_ body: (SyncSnapshot) throws -> R) throws -> R {
        try engine.store.read { transaction in
            let stored = SyncCollectionTable(connection: transaction.connection)
            guard let collection = try stored.existing(namespace) else {
                throw SyncError(
                    .storeFailed, "the sync tables lack the collection", namespace: namespace)
            }
            return try body(SyncSnapshot(transaction: transaction, collection: collection))
        }
    }

    /// Sends a request to the remote and counts it; sends none while the engine is offline.
    ///
    /// After a timeout or a cancellation, the pass does not wait for the request, which counts as
    /// one whose answer was lost.
    ///
    /// - Throws: `RemoteError`, and ``EngineOfflineError`` while the engine is offline; untyped,
    ///   since Swift 6.3's optimizer crashes on the typed form.
    func request<R: Sendable>(
        _ body: @escaping @Sendable (any RemoteCollection) async throws -> R
    ) async throws -> R {
        guard engine.writer.isOnline else { throw EngineOfflineError() }
        findings.count { $0.requests += 1 }
        return try await engine.requests.send(remote, body)
    }
}

/// The error that ends a collection's share of a pass, because the app took the engine offline.
struct EngineOfflineError: Error {}
