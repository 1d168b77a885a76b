package import BSONStore

/// Lets tests stop the engine at each of its transactions, as a kill would.
package struct EngineProbe: Sendable {
    /// Is told of a conflict before its handler is asked.
    package typealias ConflictFound = @Sendable (Conflict<BSONDocument>) async throws -> Void

    /// Commits run on the caller's thread, so that a run is repeated exactly and fast.
    let commitsOnCallingThread: Bool
    /// Called before a transaction is committed; an error undoes it.
    let beforeCommit: @Sendable () throws -> Void
    /// Called after it was committed; an error does not undo it.
    let afterCommit: @Sendable () throws -> Void
    /// Where it is there, every conflict goes by way of its handler, also where the same answer is
    /// given always.
    let conflictFound: ConflictFound?
    /// Called when a pass has ended, before anybody learns of it.
    let passEnded: @Sendable (SyncPassReport) async throws -> Void

    /// Makes a probe; unless told, one that does nothing.
    package init(
        commitsOnCallingThread: Bool = false,
        beforeCommit: @escaping @Sendable () throws -> Void = {},
        afterCommit: @escaping @Sendable () throws -> Void = {},
        conflictFound: ConflictFound? = nil,
        passEnded: @escaping @Sendable (SyncPassReport) async throws -> Void = { _ in }
    ) {
        self.commitsOnCallingThread = commitsOnCallingThread
        self.beforeCommit = beforeCommit
        self.afterCommit = afterCommit
        self.conflictFound = conflictFound
        self.passEnded = passEnded
    }
}

extension SyncEngine {
    /// Events that the store keeps, the oldest first; nobody is taken to have received them.
    ///
    /// - Throws: `StoreError` when the store cannot be read, `SyncError` for an event that is damaged.
    package func storedEvents(
        after sequence: Int64, in namespace: Namespace, limit: Int
    ) throws -> [ChangeEvent<BSONDocument>] {
        try store.read { transaction in
            try EventOutbox.next(
                limit: limit, after: sequence, of: namespace, in: transaction.connection)
        }
    }

    /// Whether the app asked for a document by its id.
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

    /// The documents that are not in step, or may not be, with how they stand.
    package func unsettled() throws -> [(Namespace, BSONValue, DocumentSyncStatus)] {
        try store.read { transaction in
            let records = SyncRecordTable(connection: transaction.connection)
            return try SyncStateTable(connection: transaction.connection).collections().flatMap {
                collection in
                try records.records(.all, in: collection.rowID, limit: .max).compactMap { record in
                    let status = DocumentSyncStatus(record)
                    return status == .synced && record.attempt == nil
                        ? nil : (collection.namespace, record.documentID, status)
                }
            }
        }
    }
}
