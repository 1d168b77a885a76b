internal import BSONStoreCSQLite

extension SQLiteConnection {
    /// Copies all pages of this connection's snapshot into another file.
    ///
    /// Source: https://www.sqlite.org/backup.html
    func copy(to target: SQLiteConnection) throws(StoreError) {
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw StoreError(sqlite: sqlite3_errcode(target.handle), on: target.handle)
        }
        let copied = sqlite3_backup_step(backup, -1)
        let finished = sqlite3_backup_finish(backup)
        guard copied == SQLITE_DONE, finished == SQLITE_OK else {
            let result = finished == SQLITE_OK ? copied : finished
            throw StoreError(sqlite: result, on: target.handle, doing: "copying the store")
        }
    }

    /// Passes the file's key to SQLCipher; must be the first call on the connection.
    ///
    /// The size of the pages cannot be read from an encrypted file.
    ///
    /// Source: https://www.zetetic.net/sqlcipher/sqlcipher-api/#key
    ///
    /// - Throws: `invalidOptions` when the linked library cannot encrypt.
    func unlock(_ key: [UInt8]?, pageBytes: Int) throws(StoreError) {
        guard let key else { return }
        guard try isEncrypting() else {
            throw StoreError(
                .invalidOptions,
                "The store has an encryption key, but this program is linked with SQLite, which "
                    + "cannot encrypt; link SQLCipher instead")
        }
        guard key.count == 32 || key.count == 48 else {
            throw StoreError(
                .invalidOptions, "The encryption key has \(key.count) bytes; it must have 32, or 48"
            )
        }
        // It writes what it cannot decrypt to standard error otherwise; the error says it.
        try executeOnce("PRAGMA cipher_log_level = NONE")
        try executeOnce("PRAGMA key = \(Self.literal(key))")
        try executeOnce("PRAGMA cipher_page_size = \(pageBytes)")
    }

    /// Encrypts the file with another key, in a transaction.
    func changeKey(to key: [UInt8]) throws(StoreError) {
        try executeOnce("PRAGMA rekey = \(Self.literal(key))")
    }

    private static func literal(_ key: [UInt8]) -> String {
        let digits = key.map { byte in
            let hex = String(byte, radix: 16)
            return hex.utf8.count == 1 ? "0" + hex : hex
        }
        return "\"x'\(digits.joined())'\""
    }

    /// Whether the linked library is SQLCipher.
    func isEncrypting() throws(StoreError) -> Bool {
        let statement = try prepare("PRAGMA cipher_version")
        return try statement.step()
    }
}
