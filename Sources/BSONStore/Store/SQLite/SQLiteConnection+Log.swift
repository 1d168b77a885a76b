internal import BSONStoreCSQLite

/// The part of the log that holds committed changes, as its index has it.
struct LogExtent: Sendable, Hashable {
    /// The size in bytes that the log must have at least; 0 for a log without changes.
    let bytes: Int
    /// The random bytes that the log's header must have.
    let salt: UInt64

    /// Reads the header of a WAL index.
    ///
    /// Source: https://www.sqlite.org/walformat.html, "The WAL-Index Header".
    fileprivate init(_ index: UnsafeRawPointer) {
        let pageSize = Int(index.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
        let frames = Int(index.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        // A frame has a header of 24 bytes, and the log one of 32; 1 stands for 65,536.
        bytes = frames == 0 ? 0 : 32 + frames * (24 + (pageSize == 1 ? 65_536 : pageSize))
        salt = index.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    }
}

/// The log as it is on the disk.
struct LogOnDisk: Sendable, Hashable {
    /// Its size in bytes.
    let bytes: Int
    /// The random bytes in its header; `nil` without a header.
    let salt: UInt64?
}

extension SQLiteConnection {
    /// The extent of the log; `nil` when the file has no shared WAL index.
    ///
    /// Another process may change it, except while this connection writes.
    var logExtent: LogExtent? {
        if walIndex == nil { findWALIndex() }
        return walIndex.map { LogExtent($0) }
    }

    /// Calls back with the path of the log, which SQLite keeps beside the file itself, also where the
    /// store was opened by a link; returns `nil` for a store in memory.
    func withLogPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result? {
        guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0,
            let log = sqlite3_filename_wal(name)
        else { return nil }
        return body(log)
    }

    /// The opened log as it is on the disk; `nil` when none is open.
    var logOnDisk: LogOnDisk? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard
            sqlite3_file_control(handle, nil, SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods, let read = methods.pointee.xRead,
            let size = methods.pointee.xFileSize
        else { return nil }
        var bytes: sqlite3_int64 = 0
        guard size(file, &bytes) == SQLITE_OK else { return nil }
        var salt: UInt64 = 0
        let result = withUnsafeMutableBytes(of: &salt) { read(file, $0.baseAddress, 8, 16) }
        return LogOnDisk(bytes: Int(bytes), salt: result == SQLITE_OK ? salt : nil)
    }
}
