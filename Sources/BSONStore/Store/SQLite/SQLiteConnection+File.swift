internal import BSONStoreCSQLite

extension SQLiteConnection {
    /// The path of the file as SQLite resolved it; empty in memory.
    var path: String {
        sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? ""
    }

    /// The file's path for messages.
    var fileDescription: String {
        let path = path
        return path.isEmpty ? "The store in memory" : "The file \(path)"
    }

    /// Prepares the connection's close so that it touches only the files it has opened.
    ///
    /// - Parameter emptyingLog: whether to checkpoint the log first, through open descriptors
    ///   rather than the path.
    func abandon(emptyingLog: Bool) {
        if emptyingLog {
            sqlite3_busy_timeout(handle, 0)
            sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        }
        preserveLog()
    }

    /// Copies the log into the file, as far as readers let it; the log stays.
    func moveLogIntoFile() {
        sqlite3_busy_timeout(handle, 0)
        sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }

    /// Keeps the log when the connection is closed.
    func preserveLog() { _ = bsonstore_sqlite3_keep_log(handle) }

    /// The file's size according to its first page, without the log; `nil` where unreadable, as in
    /// an encrypted file.
    ///
    /// Source: https://www.sqlite.org/fileformat.html, "The Database Header".
    var sizeByHeader: Int? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard
            sqlite3_file_control(handle, nil, SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods, let read = methods.pointee.xRead
        else { return nil }
        var header = [UInt8](repeating: 0, count: 32)
        let result = header.withUnsafeMutableBytes { read(file, $0.baseAddress, 32, 0) }
        // The file is shorter than its header.
        guard result == SQLITE_OK else { return .max }
        guard header.starts(with: "SQLite format 3\0".utf8) else { return nil }
        let stored = Int(header[16]) << 8 | Int(header[17])
        let count = header[28..<32].reduce(0) { $0 << 8 | Int($1) }
        return count * (stored == 1 ? 65_536 : stored)
    }

    /// Whether the documents are in memory, where no file can be damaged.
    var isInMemory: Bool { sqlite3_db_filename(handle, "main").map { $0.pointee == 0 } ?? true }
}
