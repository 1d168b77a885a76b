internal import BSONStore

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
