internal import BSONStoreCSQLite

/// The access of a connection to its file.
enum SQLiteOpenMode {
    /// Reads and writes an existing file, or memory.
    case readWrite
    /// Only reads; needs the WAL index, which it creates if it can.
    case readOnly
    /// Reads a file that cannot change, such as one in a read-only directory.
    case immutable
    /// Only reads; uses an existing WAL index but never writes it.
    case inspecting
    /// Reads a file that no other process has open; keeps the WAL index in this connection's
    /// memory.
    case alone

    var flags: Int32 {
        let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        switch self {
        case .readWrite: return common | SQLITE_OPEN_READWRITE
        case .readOnly: return common | SQLITE_OPEN_READONLY
        case .immutable, .inspecting, .alone: return common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
    }

    /// Returns the path as an SQLite URI for this mode.
    ///
    /// Source: https://www.sqlite.org/uri.html
    func fileName(_ path: String) -> String {
        switch self {
        case .readWrite, .readOnly: return path
        case .immutable: return uri(path) + "?immutable=1"
        case .inspecting: return uri(path) + "?readonly_shm=1"
        case .alone: return uri(path)
        }
    }

    /// The VFS that the mode needs: without other users of the file no lock is needed, and a
    /// read-only process cannot get an exclusive one.
    ///
    /// Source: https://www.sqlite.org/vfs.html, "unix-none".
    var fileSystem: String? { self == .alone ? "unix-none" : nil }

    private func uri(_ path: String) -> String {
        var uri = "file:"
        for byte in path.utf8 {
            let isPlain =
                byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
                && byte != UInt8(ascii: "%")
            if isPlain, byte < 0x80 {
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let hex = String(byte, radix: 16, uppercase: true)
                uri += hex.utf8.count == 1 ? "%0\(hex)" : "%\(hex)"
            }
        }
        return uri
    }
}

extension SQLiteConnection {
    /// Protects the connection against hostile files and sets its limits; touches no file.
    ///
    /// Source: https://www.sqlite.org/security.html, "Untrusted SQLite Database Files".
    func configure(cacheKiB: Int, busyTimeoutMS: Int32) throws(StoreError) {
        sqlite3_busy_timeout(handle, busyTimeoutMS)
        try check(bsonstore_sqlite3_defensive(handle, 1))
        try check(bsonstore_sqlite3_trusted_schema(handle, 0))
        try executeOnce("PRAGMA cell_size_check = ON")
        try executeOnce("PRAGMA temp_store = MEMORY")
        try executeOnce("PRAGMA cache_size = -\(cacheKiB)")
        try executeOnce("PRAGMA foreign_keys = OFF")
        try executeOnce("PRAGMA mmap_size = 0")
    }

    /// Lets the thread's budget interrupt long statements, for read connections only: an
    /// interrupted write would undo its whole transaction, including the writes of others.
    ///
    /// Source: https://www.sqlite.org/c3ref/progress_handler.html
    func heedBudget() {
        sqlite3_progress_handler(
            handle, 2_000, { _ in WorkBudget.isOver(after: 1_024) ? 1 : 0 }, nil)
    }

    /// Chooses the storage that a commit waits for.
    ///
    /// - Parameter full: whether each commit waits for the disk; otherwise only checkpoints do, and
    ///   a power failure may undo the last commits but never damages the file.
    func setDurability(full: Bool) throws(StoreError) {
        try executeOnce("PRAGMA synchronous = \(full ? "FULL" : "NORMAL")")
        #if canImport(Darwin)
            try executeOnce("PRAGMA fullfsync = \(full ? "ON" : "OFF")")
            try executeOnce("PRAGMA checkpoint_fullfsync = ON")
        #endif
    }

    /// Switches the file to write-ahead logging.
    ///
    /// - Throws: `cannotOpen` when the file system or the file does not allow it.
    func useWriteAheadLog(autocheckpointPages: Int) throws(StoreError) {
        try useWriteAheadLogMode()
        try executeOnce("PRAGMA wal_autocheckpoint = \(autocheckpointPages)")
    }

    private func useWriteAheadLogMode() throws(StoreError) {
        let statement = try prepare("PRAGMA journal_mode = WAL")
        guard try statement.step(), statement.string(0) == "wal" else {
            throw StoreError(.cannotOpen, "The file cannot use a write-ahead log")
        }
        // The mode takes effect when the statement ends and commits the file's header.
        try statement.run()
    }

    /// Whether the file can only be read, because of its mode or the open mode.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    private func check(_ result: Int32) throws(StoreError) {
        if result != SQLITE_OK { throw StoreError(sqlite: result, on: handle) }
    }
}
