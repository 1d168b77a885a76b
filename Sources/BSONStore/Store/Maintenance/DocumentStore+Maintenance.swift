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
        try expire(now: now, in: .atOnce)
    }

    /// Deletes the documents that have expired, and takes a turn for each index.
    @discardableResult
    package func expire(now: BSONDatetime, in turn: WriteTurn) throws -> Int {
        try ExpirySweep(store: self, now: now, turn: turn).run()
    }

    /// Checks the whole store and reports its faults; O(n); other calls continue meanwhile.
    ///
    /// It checks SQLite's pages and indexes; that every document is valid BSON under the key of its
    /// `_id` and matches its checksum; that each index holds the keys of all its documents and no
    /// others; and that the feed's positions and images are complete.
    ///
    /// - Throws: when the file cannot be read at all; damage is reported, not thrown.
    public func verify() throws -> StoreReport {
        try read { transaction in try StoreCheck(connection: transaction.connection).run() }
    }

    /// Moves damaged documents out of their collections, so that the rest can be read; their bytes
    /// stay in the file's table `store_quarantine`.
    ///
    /// The feed records no change, because no readable document is removed.
    ///
    /// - Returns: the faults found.
    /// - Throws: SQLite's errors; nothing is changed then.
    @discardableResult
    public func quarantine() throws -> StoreReport {
        try write { transaction in
            let check = StoreCheck(connection: transaction.connection)
            let report = try check.run()
            for fault in report.faults where fault.place == .document {
                guard let namespace = fault.namespace, let row = fault.row else { continue }
                if let table = try Catalog.read(namespace, transaction.connection) {
                    try transaction.imageKeeper.markImagesLost(of: row, in: table)
                }
                try check.quarantine(row, of: namespace, because: fault.message)
            }
            transaction.invalidateTables()
            return report
        }
    }

    /// Removes a document's row and nothing else, as damage would; for tests of the store and of
    /// sync.
    package func loseRow(_ id: BSONValue, in namespace: Namespace) throws {
        try write { transaction in
            guard let table = try Catalog.read(namespace, transaction.connection) else { return }
            let delete = try transaction.connection.prepare(
                "DELETE FROM \(StoreSchema.tableName(table.id)) WHERE key = ?1")
            delete.bind(1, keyOf: id)
            try delete.run()
        }
    }
}
