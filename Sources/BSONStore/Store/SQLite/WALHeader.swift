internal import BSONStoreCSQLite

/// The header of a WAL index, which every commit of every process changes.
///
/// It holds the change counter, the number of frames and the checksum of the last one, so that
/// equal headers mean the same state of the file.
/// Source: https://www.sqlite.org/walformat.html, "The WAL-Index Header".
struct WALHeader: Equatable {
    private let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    fileprivate init(_ index: UnsafeRawPointer) {
        func word(_ offset: Int) -> UInt64 {
            index.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        words = (word(0), word(8), word(16), word(24), word(32), word(40))
    }

    @inline(__always)
    static func == (left: Self, right: Self) -> Bool { left.words == right.words }
}

extension SQLiteConnection {
    /// The current header; `nil` when the file has no shared WAL index.
    ///
    /// Reading it needs no system call: SQLite keeps the index mapped while the connection is open.
    @inline(__always)
    var walHeader: WALHeader? { walIndex.map { WALHeader($0) } }

    /// Asks SQLite's VFS where the WAL index is mapped; call it after the first read.
    ///
    /// Source: https://www.sqlite.org/c3ref/io_methods.html, `xShmMap`.
    func findWALIndex() {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard
            sqlite3_file_control(handle, nil, SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
            let map = methods.pointee.xShmMap
        else { return }
        var region: UnsafeMutableRawPointer?
        guard map(file, 0, Self.walIndexBytes, 0, &region) == SQLITE_OK, let region else {
            return
        }
        walIndex = UnsafeRawPointer(region)
    }

    /// The size in bytes of the regions in which the index is mapped.
    private static let walIndexBytes: Int32 = 32_768

    /// Begins or ends a transaction.
    @inline(__always)
    func run(_ boundary: TransactionStatement) throws(StoreError) {
        if boundary == .commit {
            try fault.check()
        } else {
            fault.forget()
        }
        try boundaries[boundary.rawValue].run(on: self, boundary)
        fault.isInScope = boundary != .commit
    }
}
