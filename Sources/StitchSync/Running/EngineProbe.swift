package import BSONStore

/// The hooks by which tests stop the engine at any transaction, as a kill would.
package struct EngineProbe: Sendable {
    /// A hook that receives a conflict before its handler.
    package typealias ConflictFound = @Sendable (Conflict<BSONDocument>) async throws -> Void

    /// Whether commits run on the caller's thread, so that a run is fast and repeatable.
    let commitsOnCallingThread: Bool
    /// Runs before each commit; an error rolls the transaction back.
    let beforeCommit: @Sendable () throws -> Void
    /// Runs after each commit; an error does not undo it.
    let afterCommit: @Sendable () throws -> Void
    /// Runs before each conflict handler.
    ///
    /// With this hook, even a fixed resolution goes through the handler.
    let conflictFound: ConflictFound?
    /// Runs after each pass, before its caller receives the report.
    let passEnded: @Sendable (SyncPassReport) async throws -> Void

    /// Makes a probe, whose hooks do nothing by default.
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
                    let status = DocumentSyncStatus(record)
                    return status == .synced && record.attempt == nil
                        ? nil : (collection.namespace, record.documentID, status)
                }
            }
        }
    }
}
