internal import BSONStore

extension SyncEngine {
    /// Checks that documents, records and events fit each other, in one snapshot of the store.
    ///
    /// Reads every synced document: O(documents). A sound store has no findings.
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
