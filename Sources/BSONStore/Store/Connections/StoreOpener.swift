/// Opens connections to a store's file with all settings made.
enum StoreOpener {
    /// Returns the connection for writing; makes tables where they are missing, and the file when
    /// it may.
    static func writer(
        _ location: DocumentStore.Location, _ options: DocumentStore.Options,
        mayCreate: Bool = true
    ) throws(StoreError) -> SQLiteConnection {
        // Before a file is made: a key that nobody can use must not leave one.
        if options.encryptionKey != nil {
            try SQLiteConnection(path: ":memory:", mode: .readWrite).unlock(options.encryptionKey)
        }
        switch location {
        case .inMemory:
            let connection = try SQLiteConnection(path: ":memory:", mode: .readWrite)
            try prepare(connection, location, options)
            return connection
        case .file(let path):
            if options.readOnly { return try reader(path, options, alone: true) }
            if mayCreate { try StoreFile.create(path) }
            let connection = try SQLiteConnection(
                path: path, mode: .readWrite, fileSystem: options.fileSystem)
            try configure(connection, options)
            if connection.isReadOnly { return try reader(path, options, alone: true) }
            try prepare(connection, location, options)
            return connection
        }
    }

    /// Returns a connection for reading a file that has its tables.
    ///
    /// - Parameter isReadOnly: the store writes nothing. Where a log cannot be opened it may be that nobody
    ///   else does either; a connection that knows of no log sees no commit.
    static func reader(
        _ path: String, _ options: DocumentStore.Options, alone isReadOnly: Bool
    ) throws(StoreError) -> SQLiteConnection {
        if isReadOnly, options.leavesNoTrace { return try look(path, options) }
        do throws(StoreError) {
            return try checkedReader(path, .readOnly, options)
        } catch {
            guard isReadOnly, error.code == .cannotOpen || error.code == .readOnly else {
                throw error
            }
            // A file in a directory that cannot be written has no index of its log; when it has no
            // log either, it is complete as it is.
            guard StoreFile.size(path) != nil, StoreFile.size(path + "-wal") ?? 0 == 0 else {
                throw error
            }
            return try checkedReader(path, .immutable, options)
        }
    }

    /// Returns a connection that makes no file and writes none, also on a full disk or one for
    /// reading only.
    private static func look(
        _ path: String, _ options: DocumentStore.Options
    ) throws(StoreError) -> SQLiteConnection {
        let log = StoreFile.size(path + "-wal")
        if log != nil, StoreFile.size(path + "-shm") != nil {
            // The second where another process writes, and no reader's mark can be shared.
            for mode in [SQLiteOpenMode.looking, .readOnly] {
                do throws(StoreError) {
                    return try checkedReader(path, mode, options)
                } catch {
                    let others: [StoreError.Code] = [.cannotOpen, .readOnly, .ioError, .diskFull]
                    guard others.contains(error.code) else { throw error }
                }
            }
        }
        return try checkedReader(path, (log ?? 0) == 0 ? .immutable : .alone, options)
    }

    private static func checkedReader(
        _ path: String, _ mode: SQLiteOpenMode, _ options: DocumentStore.Options
    ) throws(StoreError) -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: path, mode: mode, fileSystem: mode.fileSystem ?? options.fileSystem)
        // Before all other settings: some of them read the file, and with it the log.
        if mode == .alone {
            connection.preserveLog()
            try connection.executeOnce("PRAGMA locking_mode = EXCLUSIVE")
        }
        try configure(connection, options)
        connection.heedBudget()
        guard try StoreSchema.kind(connection) != .empty else {
            throw StoreError(.notADatabase, "The file is empty; it was opened for reading only")
        }
        if options.leavesNoTrace, let complete = options.completesReader {
            try complete(connection)
        }
        // A file that nobody can change has no log whose index could tell of changes.
        if mode != .immutable, mode != .alone { connection.findWALIndex() }
        return connection
    }

    private static func configure(
        _ connection: SQLiteConnection, _ options: DocumentStore.Options
    ) throws(StoreError) {
        try connection.unlock(options.encryptionKey)
        try connection.configure(cacheKiB: options.cacheKiB, busyTimeoutMS: options.busyTimeoutMS)
    }

    /// Pages that the log collects before a commit puts them into their places: 16 MiB of 8 KiB each.
    ///
    /// Twice SQLite's number: a page that many commits write is then put in place half as often, and
    /// a pass over some thousand documents does not stop for it.
    private static let autocheckpointPages = 2_000

    private static func prepare(
        _ connection: SQLiteConnection, _ location: DocumentStore.Location,
        _ options: DocumentStore.Options
    ) throws(StoreError) {
        try configure(connection, options)
        if try StoreSchema.kind(connection) == .empty {
            try connection.executeOnce("PRAGMA page_size = \(options.pageBytes)")
        }
        if location != .inMemory {
            try connection.useWriteAheadLog(autocheckpointPages: autocheckpointPages)
        }
        try connection.setDurability(full: options.durability == .full)
        try connection.executeOnce("PRAGMA secure_delete = \(options.secureDelete.setting)")
        if options.pagesMax > 0 {
            try connection.executeOnce("PRAGMA max_page_count = \(options.pagesMax)")
        }
        switch try StoreSchema.kind(connection) {
        case .empty: try StoreSchema.create(connection)
        case .earlier: try StoreSchema.migrate(connection)
        case .current: break
        }
        try connection.execute("BEGIN IMMEDIATE")
        do {
            try ChangeFeed.apply(options.changeHistory, connection)
            try connection.execute("COMMIT")
        } catch {
            try connection.rollback()
            throw error
        }
    }
}

extension DocumentStore.SecureDelete {
    /// The value of SQLite's setting, whose default is what the library was built with.
    fileprivate var setting: String {
        switch self {
        case .off: "OFF"
        case .fast: "FAST"
        case .full: "ON"
        }
    }
}
