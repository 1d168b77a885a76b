extension DocumentStore {
    /// Counts documents and bytes; O(n) over the documents' sizes, which are read without the documents.
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

    /// Writes the file anew without its free pages, and empties its log.
    ///
    /// Needs room for a second copy meanwhile; writes wait, reads go on.
    ///
    /// - Throws: `diskFull`, `busy`, `readOnly` and what else SQLite says; nothing is lost then.
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

    /// Carries what the log holds over to the file and empties it, which commits do by and by.
    ///
    /// - Throws: `readOnly`, `ioError`, `diskFull` and what else SQLite says; nothing is lost then.
    public func checkpoint() throws {
        let connection = try enterWriter()
        defer { mutex.unlock() }
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store was opened for reading only")
        }
        readers.release()
        if location != .inMemory { _ = try connection.int64("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Copies one state of the store to a new file, which is a store of its own; writes go on.
    ///
    /// Its collections have other UUIDs, so that nobody takes the copy for this store: what was written
    /// to one of the two since is unknown to the other.
    ///
    /// - Throws: `cannotOpen` when there is a file already, `diskFull` and what else SQLite says; no
    ///   file is left then.
    public func backup(to path: String) throws {
        guard StoreFile.size(path) == nil else {
            throw StoreError(.cannotOpen, "There is a file at \(path) already")
        }
        try StoreFile.create(path)
        do {
            try read { transaction in
                // Makes the transaction begin, so that all pages are of one state.
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
        // A file of schema version 1 that is open for reading only has none.
        guard try connection.int64("SELECT 1 FROM sqlite_schema WHERE name = '\(name)'") != nil
        else { return }
        try connection.executeOnce("UPDATE \(name) SET uuid = randomblob(16)")
        _ = try connection.int64("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
