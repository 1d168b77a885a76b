public import BSONStore

extension SyncCollection {
    /// Reverts an unconfirmed local change to the edition that the remote last confirmed.
    ///
    /// Ends the document's pause, too. A document that the remote never held is removed. A change
    /// that was sent but not confirmed may have reached the remote; then the next pass reverts it
    /// there.
    ///
    /// - Returns: whether there was a change to revert.
    @discardableResult
    public func discardPendingChange(of id: BSONValue) async throws -> Bool {
        let isDiscarded = try await write { sync in
            guard let record = try sync.record(id), record.isPending else { return false }
            let local = try sync.local(id)
            let base = record.base.document(local: local)
            try sync.setLocal(id, to: base, orRemoveAs: .byApp)
            try sync.noteLocalWrite(before: local, after: base)
            return true
        }
        if isDiscarded { engine.wake() }
        return isDiscarded
    }

    /// Returns the edition that the remote last confirmed.
    ///
    /// - Returns: `nil` when the remote never held the document or its id is not synced.
    public func confirmedDocument(id: BSONValue) async throws -> Document? {
        try engine.store.read { transaction -> BSONDocument? in
            let connection = transaction.connection
            guard let collection = try SyncStateTable(connection: connection).existing(namespace),
                let record = try SyncRecordTable(connection: connection)
                    .record(collection.rowID, id: id)
            else { return nil }
            return record.base.document(local: try transaction.get(namespace, id: id))
        }.map(decode)
    }
}
