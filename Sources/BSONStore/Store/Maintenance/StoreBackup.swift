/// A copy of a snapshot of a store, which is an independent store.
struct StoreBackup {
    let store: DocumentStore

    /// Copies the store to a new file.
    ///
    /// - Throws: `cannotOpen` when the file exists, `diskFull` and other SQLite errors; no file is
    ///   left then.
    func copy(to path: String) throws {
        guard StoreFile.size(path) == nil else {
            throw StoreError(.cannotOpen, "There is a file at \(path) already")
        }
        try StoreFile.create(path)
        do {
            try store.read { transaction in
                // Starts the transaction, so that all pages are of one snapshot.
                _ = try transaction.collections()
                let target = try SQLiteConnection(path: path, mode: .readWrite)
                try target.unlock(
                    store.options.encryptionKey, pageBytes: store.options.pageBytes)
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
