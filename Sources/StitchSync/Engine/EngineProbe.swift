package import BSONStore

/// Lets tests stop the engine at each of its transactions, as a kill would.
package struct EngineProbe: Sendable {
    /// Commits run on the caller's thread, so that a run is repeated exactly and fast.
    let commitsHere: Bool
    /// Called before a transaction is committed; an error undoes it.
    let beforeCommit: @Sendable () throws -> Void
    /// Called after it was committed; an error does not undo it.
    let afterCommit: @Sendable () throws -> Void

    /// Makes a probe; unless told, one that does nothing.
    package init(
        commitsHere: Bool = false, beforeCommit: @escaping @Sendable () throws -> Void = {},
        afterCommit: @escaping @Sendable () throws -> Void = {}
    ) {
        self.commitsHere = commitsHere
        self.beforeCommit = beforeCommit
        self.afterCommit = afterCommit
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
}
