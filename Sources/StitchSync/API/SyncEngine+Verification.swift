package import BSONStore

extension SyncEngine {
    /// Checks in one snapshot of the store that documents, sync records and events are consistent.
    ///
    /// Reads every synced document: O(documents). A sound store yields no findings.
    public func verify() async throws -> [SyncFinding] {
        try store.read { transaction in
            let state = SyncStateTable(connection: transaction.connection)
            return try state.collections().flatMap { collection in
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

    /// Returns whether a document is synced by its id.
    package func isClaimedByID(_ id: BSONValue, in namespace: Namespace) throws -> Bool {
        try store.read { transaction in
            let collections = try SyncStateTable(connection: transaction.connection).collections()
            guard let collection = collections.first(where: { $0.namespace == namespace }) else {
                return false
            }
            let records = SyncRecordTable(connection: transaction.connection)
            return try records.record(collection.rowID, id: id)?.isClaimedByID ?? false
        }
    }

    /// Returns the documents that are not synced for certain, with their states.
    package func unsettled() throws -> [(Namespace, BSONValue, DocumentSyncStatus)] {
        try store.read { transaction in
            let records = SyncRecordTable(connection: transaction.connection)
            return try SyncStateTable(connection: transaction.connection).collections().flatMap {
                collection in
                try records.records(.all, in: collection.rowID, limit: .max).compactMap { record in
                    let status = record.status
                    return status == .synced && record.attempt == nil
                        ? nil : (collection.namespace, record.documentID, status)
                }
            }
        }
    }
}
