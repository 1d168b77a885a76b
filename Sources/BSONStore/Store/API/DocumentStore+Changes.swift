extension DocumentStore {
    /// The position of the newest change in the feed; 0 for an empty feed.
    public var changePosition: Int64 {
        get throws {
            try read { transaction in try transaction.changePosition }
        }
    }

    /// The position behind which the feed still keeps every change.
    public var oldestChangePosition: Int64 {
        get throws {
            try read { transaction in try transaction.oldestChangePosition }
        }
    }

    /// Reads changes in commit order, including those of other processes.
    ///
    /// - Parameters:
    ///   - position: the position after which to read; 0 reads from the beginning.
    ///   - namespace: the collection whose changes to read; `nil` for all.
    ///   - limit: how many changes to examine at most. A batch also ends with the change by which
    ///     its documents reach 16 MiB.
    /// - Throws: `changeStreamHistoryLost` (286) when the position is not in this file's feed or no
    ///   longer kept, `changeStreamNotEnabled` when the file keeps no feed.
    public func changes(
        after position: Int64, in namespace: Namespace? = nil, limit: Int = 1_000
    ) throws -> StoreChangeBatch {
        try read { transaction in
            try transaction.changes(after: position, in: namespace, limit: limit)
        }
    }

    /// Calls an observer after each commit of this process until the token is released or
    /// cancelled.
    ///
    /// The observer runs on the committing thread, after the transaction; it should only wake up a
    /// waiting task.
    public func onCommit(
        _ observer: @escaping @Sendable () -> Void
    ) -> CommitObservation {
        observers.add { _ in observer() }
    }

    /// Calls an observer after each commit as ``onCommit(_:)`` does, with what it wrote.
    package func onCommit(
        telling observer: @escaping @Sendable (CommittedWrites) -> Void
    ) -> CommitObservation {
        observers.add(observer)
    }

    /// The number of commits, or groups of commits, that the store has noticed.
    package var commitCount: Int { commitWatch.count }

    /// Waits for a commit beyond a count, in this or another process.
    ///
    /// - Throws: `CancellationError`; `closed` when the store is closed; the errors of opening its
    ///   file.
    package func waitForCommit(after count: Int) async throws {
        try await commitWatch.wait(after: count, in: self)
    }

    /// Returns the changes after a position and all that follow, also those of other processes.
    ///
    /// - Parameters:
    ///   - position: the position after which to begin; 0 for the beginning, ``changePosition`` for
    ///     new changes only.
    ///   - namespace: the collection whose changes to read; `nil` for all.
    ///   - limit: the largest number of changes in a batch.
    public func followChanges(
        after position: Int64, in namespace: Namespace? = nil, limit: Int = 1_000
    ) -> StoreChanges {
        StoreChanges(store: self, position: position, namespace: namespace, limit: limit)
    }
}
