extension DocumentStore {
    /// Encrypts the file of a store with another key.
    ///
    /// No store may have the file open. The change is one transaction: a process that ends meanwhile
    /// leaves the file with the old key. If the file has the new key already, nothing happens, so the
    /// call may be repeated. A store of a sync engine may have a second file with contents, so use
    /// `SyncEngine.changeKey(ofStoreAt:from:to:)` for it.
    ///
    /// ```swift
    /// try DocumentStore.changeKey(ofFileAt: path, from: old, to: new)
    /// ```
    ///
    /// - Parameters:
    ///   - new: 32 bytes.
    ///   - pageBytes: the size of pages that the store was made with.
    /// - Throws: `notADatabase` when the file has neither of the keys, `busy` when a store has it open,
    ///   `invalidOptions` when the program is not linked with SQLCipher, `cannotOpen`, `diskFull`.
    public static func changeKey(
        ofFileAt path: String, from old: [UInt8], to new: [UInt8], pageBytes: Int = 8_192
    ) throws {
        guard new.count == 32 else {
            throw StoreError(
                .invalidOptions, "The new encryption key has \(new.count) bytes; it must have 32")
        }
        guard StoreFile.size(path) != nil else {
            throw StoreError(.cannotOpen, "There is no store at \(path)")
        }
        if try keyed(path, new, pageBytes) != nil { return }
        guard let connection = try keyed(path, old, pageBytes) else {
            throw StoreError(
                .notADatabase, "The store at \(path) has neither the old nor the new key")
        }
        try connection.changeKey(to: new)
        // The log has pages with the old key.
        _ = try connection.int64("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Opens the file alone with a key; returns `nil` if it has another one.
    private static func keyed(
        _ path: String, _ key: [UInt8], _ pageBytes: Int
    ) throws(StoreError) -> SQLiteConnection? {
        let connection = try SQLiteConnection(path: path, mode: .readWrite)
        try connection.executeOnce("PRAGMA locking_mode = EXCLUSIVE")
        try connection.unlock(key, pageBytes: pageBytes)
        do throws(StoreError) {
            _ = try StoreSchema.isMissing(connection)
            return connection
        } catch {
            guard error.code == .notADatabase else { throw error }
            return nil
        }
    }
}
