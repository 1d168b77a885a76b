extension DocumentStore {
    /// Runs a body on a snapshot of the store, on the calling thread; writers continue meanwhile.
    ///
    /// An in-memory store has one connection: there a read waits for the write in progress.
    ///
    /// - Parameter body: may use the transaction until it returns, and may throw to leave.
    /// - Throws: the body's error, `closed`, and SQLite's errors.
    public func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
        switch location {
        case .inMemory:
            let connection = try enterWriter()
            defer { mutex.unlock() }
            return try read(on: connection, body)
        case .file(let path):
            let reader = try readers.take { number throws(StoreError) in
                // Checked before and after: the file may be replaced in between.
                try checkPlace(of: nil)
                return try StoreOpener.reader(
                    path, options.ofReader(number), alone: isReadOnly)
            }
            defer { readers.give(reader) }
            if !reader.isHolding { try checkPlace(of: reader.connection) }
            return try reader.read(body)
        }
    }

    /// Reads for code that may run inside a transaction of this thread without having access to it.
    ///
    /// An in-memory store has one connection, so that the body sees what that transaction sees.
    ///
    /// - Throws: as ``read(_:)`` does.
    package func readReentrantly<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
        guard location == .inMemory, mutex.isHeldByThisThread,
            let connection = writer.withLock({ $0.connection })
        else { return try read(body) }
        let transaction = ReadTransaction(connection: connection)
        defer { transaction.finish() }
        return try body(transaction)
    }

    /// Runs a body in one write transaction: commits when the body returns, changes nothing when it
    /// throws.
    ///
    /// Waits for the disk on the calling thread, as the store's durability requires.
    ///
    /// - Parameter body: may use the transaction until it returns.
    /// - Throws: the body's error, `closed`, `readOnly`, `busy` when another process held the file
    ///   too long, `diskFull`, `ioError`; nothing is changed then.
    @discardableResult
    public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        let (result, writes) = try commit(body)
        observers.notify(writes)
        commitWatch.notify()
        return result
    }

    /// Runs a body in a write transaction and undoes what it changed.
    ///
    /// - Throws: as ``write(_:)`` does.
    package func writeAndUndo<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try inWriteTransaction { transaction, connection in
            let result = try body(transaction)
            try connection.rollback()
            connection.catalogCache.invalidateAll()
            return result
        }
    }

    private func commit<R>(
        _ body: (WriteTransaction) throws -> R
    ) throws -> (result: R, writes: CommittedWrites) {
        try inWriteTransaction { transaction, connection in
            let result = try body(transaction)
            try finish(transaction, on: connection)
            return (result, transaction.recorder.writes)
        }
    }

    /// Begins a write transaction and runs a body, which has to end it; undoes it if the body throws.
    private func inWriteTransaction<R>(
        _ body: (WriteTransaction, SQLiteConnection) throws -> R
    ) throws -> R {
        let connection = try enterWriter()
        defer { mutex.unlock() }
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store was opened for reading only")
        }
        readers.release()
        do {
            try connection.run(.beginImmediate)
            try checkLog(of: connection)
            connection.catalogCache.validate(connection.dataVersion)
            let transaction = WriteTransaction(
                connection: connection, feed: try feedState(connection),
                clock: options.clock)
            defer { transaction.finish() }
            return try body(transaction, connection)
        } catch {
            undo(on: connection, after: error)
            throw error
        }
    }

    private func finish(
        _ transaction: WriteTransaction, on connection: SQLiteConnection
    ) throws(StoreError) {
        var feed = transaction.recorder.feed
        let wrote = feed.head != transaction.recorder.headAtStart
        if wrote {
            try feed.trim(connection)
            if feed.oldestTombstone != nil {
                try feed.pruneTombstones(before: options.tombstonesFloor, connection)
            }
        }
        // Once more: a cut in between would be filled, and so be hidden, by this commit.
        try checkLog(of: connection)
        try connection.run(.commit)
        let version = connection.dataVersion
        connection.catalogCache.adopt(version)
        writer.withLock { writer in
            writer.feed = feed
            writer.dataVersion = version
        }
    }

    /// Undoes a transaction; after a failed disk sync the connection cannot know the file's state,
    /// so the next call reopens it.
    private func undo(on connection: SQLiteConnection, after error: any Error) {
        var isLost = (error as? StoreError)?.code == .ioError
        connection.catalogCache.invalidateAll()
        do throws(StoreError) {
            try connection.rollback()
        } catch {
            isLost = true
        }
        if isLost, location != .inMemory { writer.withLock { $0.connection = nil } }
    }

    /// Returns the state of the feed, read again when another process has written.
    private func feedState(_ connection: SQLiteConnection) throws(StoreError) -> ChangeFeed {
        let version = connection.dataVersion
        let known = writer.withLock { $0.dataVersion == version ? $0.feed : nil }
        if let known { return known }
        var state = try ChangeFeed.read(connection)
        try state.readTombstones(connection)
        return state
    }

    /// Locks and returns the write connection; the caller unlocks it.
    func enterWriter() throws(StoreError) -> SQLiteConnection {
        guard !mutex.isHeldByThisThread else {
            throw StoreError(
                .illegalOperation,
                "A transaction of this store is open on this thread; use it, or a savepoint")
        }
        try mutex.lockWithinBudget()
        do throws(StoreError) {
            let (connection, isClosed) = writer.withLock { ($0.connection, $0.isClosed) }
            if let connection {
                do throws(StoreError) {
                    try checkPlace(of: connection)
                } catch {
                    abandon(connection, error)
                    throw error
                }
                return connection
            }
            guard !isClosed else { throw Self.closed }
            try checkPlace(of: nil)
            place?.forgetLog()
            let reopened = try StoreOpener.writer(location, options, mayCreate: false)
            try checkPlace(of: reopened)
            writer.withLock { $0 = Writer(connection: reopened) }
            return reopened
        } catch {
            mutex.unlock()
            throw error
        }
    }

    func read<R>(
        on connection: SQLiteConnection, _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        try connection.run(.begin)
        if location != .inMemory { connection.catalogCache.invalidate() }
        let transaction = ReadTransaction(connection: connection)
        defer { transaction.finish() }
        do {
            let result = try body(transaction)
            try connection.run(.commit)
            return result
        } catch {
            try connection.rollback()
            throw error
        }
    }

    static var closed: StoreError { StoreError(.closed, "The store is closed") }
}

// MARK: - Writes that share a commit

extension DocumentStore {
    /// Runs a body in a write transaction on the store's writer thread.
    ///
    /// The caller's thread is free during the wait for the disk, and concurrent callers share the
    /// wait. Cancelling the task has an effect only before the transaction begins.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`.
    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            let job = GroupCommitJob(store: self, body) { continuation.resume(with: $0) }
            if !writerThread.add(job) { continuation.resume(throwing: Self.closed) }
        }
    }

    /// Runs a body in a write transaction that may be committed together with others; blocks the
    /// calling thread.
    ///
    /// - Parameter owner: the owner of the write; the owners of waiting writes take turns.
    /// - Throws: as the other forms do.
    package func writeInGroup<R: Sendable>(
        of owner: [UInt8] = [], _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) throws -> R {
        try GroupCommitJob.perform(body, in: self, of: owner)
    }
}
