public import BSONStore

extension SyncCollection {
    /// Gives a change up that the remote has not confirmed: the document is again what the remote
    /// last confirmed, and takes part again when it was paused.
    ///
    /// A document that the remote never held is removed. A change whose answer is still out may have
    /// landed; then it is taken back there as well, with the next pass.
    ///
    /// - Returns: whether there was a change to give up.
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

    /// What the remote last confirmed of a document; `nil` when it never held it, or it is not synced.
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
