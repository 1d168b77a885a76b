extension DocumentStore {
    /// Reads one state of the store, on the calling thread; writers go on meanwhile.
    ///
    /// A store in memory has one connection: there a read waits for the write that is under way.
    ///
    /// - Parameter body: may use the transaction until it returns, and may throw to leave.
    /// - Throws: what the body throws, `closed`, and SQLite's errors.
    public func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
        switch location {
        case .inMemory:
            let connection = try enterWriter()
            defer { mutex.unlock() }
            return try read(on: connection, body)
        case .file(let path):
            let reader = try readers.take { number throws(StoreError) in
                // No file but the one that was opened: before, and again as it may come between.
                try checkPlace(of: nil)
                return try StoreOpener.reader(
                    path, options.ofReader(number), alone: isReadOnly)
            }
            defer { readers.give(reader) }
            if !reader.isHolding { try checkPlace(of: reader.connection) }
            return try reader.read(body)
        }
    }

    /// Reads for something that may run inside of a transaction of this thread without having it.
    ///
    /// A store in memory has one connection, so that the body sees there what that transaction sees.
    ///
    /// - Throws: as ``read(_:)`` does.
    package func readReentrantly<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
        guard location == .inMemory, mutex.isHeldByThisThread,
            let connection = writer.withLock({ $0.connection })
        else { return try read(body) }
        let transaction = ReadTransaction(connection: connection, lastTable: nil)
        defer { transaction.finish() }
        return try body(transaction)
    }

    /// Changes documents in one transaction: when the body returns it is committed, when it throws
    /// nothing of it is left.
    ///
    /// Waits for the disk as the store's durability says, on the calling thread.
    ///
    /// - Parameter body: may use the transaction until it returns.
    /// - Throws: what the body throws, `closed`, `readOnly`, `busy` when another process kept the
    ///   file too long, `diskFull`, `ioError`; after each of them nothing was changed.
    @discardableResult
    public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        let result = try commit(body)
        observers.notify()
        commitWatch.notify()
        return result
    }

    private func commit<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        let connection = try enterWriter()
        defer { mutex.unlock() }
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store was opened for reading only")
        }
        readers.release()
        do {
            try connection.run(.beginImmediate)
            connection.catalogCache.validate(connection.dataVersion)
            let transaction = WriteTransaction(
                connection: connection, feed: try feedState(connection),
                clock: options.clock)
            defer { transaction.finish() }
            let result = try body(transaction)
            try finish(transaction, on: connection)
            return result
        } catch {
            undo(on: connection, after: error)
            throw error
        }
    }

    private func finish(
        _ transaction: WriteTransaction, on connection: SQLiteConnection
    ) throws(StoreError) {
        var feed = transaction.feed
        let wrote = feed.head != transaction.feedHeadAtStart
        if wrote {
            try feed.trim(connection)
            if feed.oldestTombstone != nil {
                try feed.pruneTombstones(before: options.tombstonesFloor, connection)
            }
        }
        try connection.run(.commit)
        let version = connection.dataVersion
        connection.catalogCache.adopt(version)
        writer.withLock { writer in
            writer.feed = feed
            writer.dataVersion = version
        }
    }

    /// After a failed sync the file's state is unknown to the connection: the next call opens anew.
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

    /// What is known about the feed, read again when another process has written.
    private func feedState(_ connection: SQLiteConnection) throws(StoreError) -> ChangeFeed {
        let version = connection.dataVersion
        let known = writer.withLock { $0.dataVersion == version ? $0.feed : nil }
        if let known { return known }
        var state = try ChangeFeed.read(connection)
        try state.readTombstones(connection)
        return state
    }

    /// Locks and gives the connection for writing; the caller unlocks.
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
        let transaction = ReadTransaction(connection: connection, lastTable: nil)
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
