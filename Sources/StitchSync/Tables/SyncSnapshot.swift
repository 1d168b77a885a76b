internal import BSONStore

/// The documents and records of one collection in one snapshot of the store.
struct SyncSnapshot {
    let transaction: ReadTransaction
    let collection: SyncCollectionState

    var records: SyncRecordTable { SyncRecordTable(connection: transaction.connection) }
    var wantedIDs: WantedIDTable { WantedIDTable(connection: transaction.connection) }
    var rejectedWrites: RejectedWriteTable {
        RejectedWriteTable(connection: transaction.connection)
    }

    /// Returns the collection's membership by the subscription sets.
    func membership(_ sets: SubscriptionCache) throws -> Membership {
        guard collection.isSubscribed else { return Membership() }
        let connection = transaction.connection
        return Membership(
            try SubscriptionTable(connection: connection, cache: sets).history(),
            of: collection.namespace)
    }

    /// Returns the record of a document; for a wanted id, a new stale record.
    func record(_ id: BSONValue) throws -> SyncRecord? {
        if let record = try records.record(of: id, in: collection.rowID) { return record }
        guard collection.hasWantedIDs, try wantedIDs.contains(id, in: collection.rowID) else {
            return nil
        }
        var record = SyncRecord(documentID: id)
        record.staleMark = 1
        return record
    }

    /// Returns whether the record does not contain a remote change yet.
    func isNews(_ change: RemoteChange, to record: SyncRecord) throws -> Bool {
        if let attempt = record.attempt, change.operation == attempt.operation { return false }
        if change.wroteVersion, let operation = change.operation,
            record.version.version?.operation == operation.value
        {
            return false
        }
        if let version = change.version, version != .absent, version == record.version,
            let hash = change.contentHash, try isBase(.content(hash), of: record)
        {
            return false
        }
        return true
    }

    /// Returns whether remote content equals the record's base.
    func isBase(_ content: ContentFingerprint, of record: SyncRecord) throws -> Bool {
        let local = try transaction.get(collection.namespace, id: record.documentID)
        return record.base.document(local: local).map(content.isOf) ?? false
    }
}

extension SyncSnapshot {
    /// Returns changed documents without a record that a set may match, each once.
    func newcomers(
        in batch: RemoteChangeBatch, _ membership: Membership
    ) throws -> [BSONValue] {
        var keys = try Set(wantedKeys())
        return try batch.changes.filter { change in
            guard membership.isConcerned(by: change) else { return false }
            let key = BSONKey.encode(change.documentID)
            guard !keys.contains(key),
                try records.record(of: change.documentID, in: collection.rowID) == nil
            else { return false }
            keys.insert(key)
            return true
        }.map(\.documentID)
    }

    private func wantedKeys() throws -> [[UInt8]] {
        guard collection.hasWantedIDs else { return [] }
        return try wantedIDs.rows(in: collection.rowID).flatMap { $0.ids.map(BSONKey.encode) }
    }
}
