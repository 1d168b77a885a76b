extension DocumentStore {
    /// Counts documents and bytes; O(n), reading sizes but not documents.
    ///
    /// - Throws: SQLite's errors.
    public func statistics() throws -> StoreStatistics {
        try read { transaction in
            let connection = transaction.connection
            func number(_ sql: String) throws(StoreError) -> Int {
                Int(try connection.int64(sql) ?? 0)
            }
            let pageBytes = try number("PRAGMA page_size")
            var log = 0
            if case .file(let path) = location { log = StoreFile.size(path + "-wal") ?? 0 }
            return StoreStatistics(
                collections: try transaction.collections().map { namespace in
                    try Self.statistics(of: namespace, connection)
                },
                changeCount: try number("SELECT count(*) FROM store_changes"),
                fileBytes: try number("PRAGMA page_count") * pageBytes,
                freeBytes: try number("PRAGMA freelist_count") * pageBytes, logBytes: log)
        }
    }

    private static func statistics(
        of namespace: Namespace, _ connection: SQLiteConnection
    ) throws(StoreError) -> StoreStatistics.Collection {
        var (count, bytes) = (0, 0)
        if let table = try Catalog.read(namespace, connection) {
            let statement = try connection.prepare(
                "SELECT count(*), sum(length(doc)) FROM \(StoreSchema.tableName(table.id))")
            if try statement.step() {
                (count, bytes) = (Int(statement.int64(0)), Int(statement.int64(1)))
            }
        }
        return StoreStatistics.Collection(
            namespace: namespace, documentCount: count, documentBytes: bytes)
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
        guard StoreFile.size(path) == nil else {
            throw StoreError(.cannotOpen, "There is a file at \(path) already")
        }
        try StoreFile.create(path)
        do {
            try read { transaction in
                // Starts the transaction, so that all pages are of one snapshot.
                _ = try transaction.collections()
                let target = try SQLiteConnection(path: path, mode: .readWrite)
                try target.unlock(options.encryptionKey)
                try transaction.connection.copy(to: target)
                try Self.giveNewUUIDs(target)
            }
        } catch {
            for ending in ["", "-wal", "-shm"] { StoreFile.remove(path + ending) }
            throw error
        }
    }

    private static func giveNewUUIDs(_ connection: SQLiteConnection) throws(StoreError) {
        let name = "store_options"
        // A file of schema version 1 that is open read-only lacks the table.
        guard try connection.int64("SELECT 1 FROM sqlite_schema WHERE name = '\(name)'") != nil
        else { return }
        try connection.executeOnce("UPDATE \(name) SET uuid = randomblob(16)")
        _ = try connection.int64("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
