extension DocumentStore {
    /// Counts documents and bytes; O(n), reading sizes but not documents.
    ///
    /// - Throws: SQLite's errors.
    public func statistics() throws -> StoreStatistics {
        try StoreStatistics(of: self)
    }

    /// Rewrites the file without its free pages and empties its log.
    ///
    /// Temporarily needs space for a second copy; writes wait, reads continue.
    ///
    /// - Throws: `diskFull`, `busy`, `readOnly` and other SQLite errors; nothing is lost then.
    public func compact() throws {
        let connection = try enterWriter()
        defer { mutex.unlock() }
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store was opened for reading only")
        }
        readers.release()
        try connection.executeOnce("VACUUM")
        if location != .inMemory { _ = try connection.int64("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Moves the log's pages into the file and empties the log; commits do so from time to time.
    ///
    /// - Throws: `readOnly`, `ioError`, `diskFull` and other SQLite errors; nothing is lost then.
    public func checkpoint() throws {
        let connection = try enterWriter()
        defer { mutex.unlock() }
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store was opened for reading only")
        }
        readers.release()
        if location != .inMemory { _ = try connection.int64("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Copies a snapshot of the store to a new file, which is an independent store; writes
    /// continue.
    ///
    /// The copy's collections have other UUIDs, so that clients do not mistake it for this store:
    /// each of the two lacks the later writes of the other.
    ///
    /// - Throws: `cannotOpen` when the file exists, `diskFull` and other SQLite errors; no file is
    ///   left then.
    public func backup(to path: String) throws {
        try StoreBackup(store: self).copy(to: path)
    }

    /// Deletes the documents that have expired by indexes with `expireAfterSeconds`; the store's
    /// owner calls it regularly.
    ///
    /// A document expires the given number of seconds after the date in the index's field (the
    /// earliest date of an array); without a date it never expires. The deletions are ordinary ones
    /// and appear in the change feed; each index has one transaction. Synced collections are
    /// skipped: delete their expired documents through the engine or at the remote.
    ///
    /// - Returns: how many documents were deleted.
    /// - Throws: the first error of a write, after all collections were tried; completed deletions
    ///   stay.
    ///
    /// Source: MongoDB manual, "TTL Indexes".
    @discardableResult
    public func expire(now: BSONDatetime) throws -> Int {
        try ExpirySweep(store: self, now: now).run()
    }
}
