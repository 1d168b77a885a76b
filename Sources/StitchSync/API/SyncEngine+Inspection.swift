package import BSONStore

extension SyncEngine {
    /// Returns the counts of finished and pending transfers.
    public func progress() async throws -> SyncProgress {
        let (carried, totals) = transfers.current
        var progress = carried
        var downloads = 0
        try store.read { transaction in
            let records = SyncRecordTable(connection: transaction.connection)
            for collection in try SyncCollectionTable(connection: transaction.connection).all() {
                progress.pendingUploads += try records.count(.unsent, in: collection.rowID)
                progress.pendingDownloads += try records.count(.toFetch, in: collection.rowID)
                downloads += try records.count(.toDownload, in: collection.rowID)
            }
        }
        progress.pendingDownloads += totals.comingCount
        progress.totalUploads = progress.uploadedDocuments + progress.pendingUploads
        progress.totalDownloads =
            progress.downloadedDocuments + totals.comingCount
            + max(0, downloads - totals.waiting.count)
        return transfers.raised(progress)
    }

    /// The progress now and after each change, for `for try await`.
    public var progressUpdates: SyncUpdates<SyncProgress> {
        SyncUpdates(engine: self) { try await self.progress() }
    }
}

extension SyncEngine {
    /// Checks in one snapshot of the store that documents, sync records and events are consistent.
    ///
    /// Reads every synced document: O(documents). A sound store yields no findings.
    public func verify() async throws -> [SyncFinding] {
        try store.read { transaction in
            let stored = SyncCollectionTable(connection: transaction.connection)
            return try stored.all().flatMap { collection in
                let membership = try SyncSnapshot(transaction: transaction, collection: collection)
                    .membership(sets)
                return try SyncVerification(
                    transaction: transaction, collection: collection, membership: membership
                ).findings()
            }
        }
    }
}

extension SyncEngine {
    /// Returns stored events, the oldest first, without marking them as delivered.
    ///
    /// - Throws: `StoreError` when the store cannot be read, `SyncError` for a damaged event.
    package func storedEvents(
        after sequence: Int64, in namespace: Namespace, limit: Int
    ) throws -> [ChangeEvent<BSONDocument>] {
        try store.read { transaction in
            try EventOutbox.next(
                limit: limit, after: sequence, of: namespace, in: transaction.connection)
        }
    }

    /// Returns the subscriptions that keep documents on the device: those of the active set, or, if the
    /// remote refused queries of a later one, what of that set counts.
    package func heldSubscriptions() throws -> [Subscription] {
        let sets = sets
        return try store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: sets).history().held
                .subscriptions
        }
    }

    /// Returns whether a document is synced by its id.
    package func isKeptByID(_ id: BSONValue, in namespace: Namespace) throws -> Bool {
        try store.read { transaction in
            let collections = try SyncCollectionTable(connection: transaction.connection).all()
            guard let collection = collections.first(where: { $0.namespace == namespace }) else {
                return false
            }
            let records = SyncRecordTable(connection: transaction.connection)
            return try records.record(of: id, in: collection.rowID)?.isKeptByID ?? false
        }
    }

    /// Returns the documents that are not synced for certain, with their states.
    package func unsettled() throws -> [(Namespace, BSONValue, DocumentSyncStatus)] {
        try store.read { transaction in
            let records = SyncRecordTable(connection: transaction.connection)
            return try SyncCollectionTable(connection: transaction.connection).all().flatMap {
                collection in
                try records.page(of: .all, in: collection.rowID, limit: .max).compactMap { record in
                    let status = record.status
                    return status == .synced && record.attempt == nil
                        ? nil : (collection.namespace, record.documentID, status)
                }
            }
        }
    }
}

extension SyncEngine {
    /// Whether no record is pending or stale or has an open attempt; for the simulation.
    package static func hasSentAll(in transaction: ReadTransaction) throws -> Bool {
        typealias Row = SyncRecordTable.Condition
        let waiting = try transaction.connection.int64(
            """
            SELECT (SELECT count(*) FROM sync_documents
                    WHERE \(Row.isPending) OR \(Row.isStale) OR \(Row.hasAttempt)
                        OR discarded IS NOT NULL)
                + (SELECT count(*) FROM sync_attempts)
            """)
        return waiting == 0
    }

    /// Whether there are synced collections, each with a known remote and at least one document of
    /// it; for the simulation.
    package static func knowsRemotes(in transaction: ReadTransaction) throws -> Bool {
        let connection = transaction.connection
        let collections = try SyncCollectionTable(connection: connection).all()
        let records = SyncRecordTable(connection: connection)
        return try !collections.isEmpty
            && collections.allSatisfy { collection in
                guard case .known? = collection.identity else { return false }
                return try records.holds(.confirmedOrPending, in: collection.rowID)
            }
    }
}

/// Sync data that tools read, in addition to the documents.
extension SyncEngine {
    /// Returns the editions of a document; `nil` when its id is not synced.
    package func editions(of id: BSONValue, in namespace: Namespace) throws -> DocumentEditions? {
        try collection(namespace).read(orIfNeverSynced: nil) { sync in
            try sync.record(id).map { try sync.editions($0) }
        }
    }

    /// Returns the editions of a collection's synced documents, in the order in which their sync
    /// began.
    ///
    /// - Parameter limit: the maximum number of documents.
    package func editions(in namespace: Namespace, limit: Int) throws -> [DocumentEditions] {
        try collection(namespace).read(orIfNeverSynced: []) { sync in
            try sync.records.page(of: .all, in: sync.collection.rowID, limit: limit)
                .map { try sync.editions($0) }
        }
    }

    /// Returns the newest journaled conflict of each document, the oldest first.
    package func journaledConflicts() throws -> [JournaledConflict] {
        try store.read { try JournalTable(connection: $0.connection).conflicts() }
    }

    /// Returns the newest journaled passes, the oldest first; passes without any effect are left
    /// out.
    package func journaledPasses() throws -> [JournaledPass] {
        try store.read { try JournalTable(connection: $0.connection).passes() }
    }

    /// Returns the collections that are synced now or were synced before.
    package func syncedCollections() throws -> [Namespace] {
        try store.read { transaction in
            try SyncCollectionTable(connection: transaction.connection).all().map(\.namespace)
        }
    }
}

extension SyncSnapshot {
    fileprivate func editions(_ record: SyncRecord) throws -> DocumentEditions {
        let local = try transaction.get(collection.namespace, id: record.documentID)
        return DocumentEditions(
            documentID: record.documentID, base: record.base.document(local: local), local: local,
            version: record.version, status: record.status,
            hasOpenAttempt: record.attempt != nil)
    }
}
