/// Functions that open connections to a store's file with all settings.
enum StoreOpener {
    /// Returns the write connection; creates missing tables, and the file if the options allow it.
    static func writer(
        _ location: StoreLocation, _ options: StoreOptions,
        mayCreate: Bool = true
    ) throws(StoreError) -> SQLiteConnection {
        // Checked before the file is created: an unusable key must not leave a file.
        if options.encryptionKey != nil {
            try SQLiteConnection(path: ":memory:", mode: .readWrite)
                .unlock(options.encryptionKey, pageBytes: options.pageBytes)
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

    /// Returns a read connection to a file that has its tables.
    ///
    /// - Parameter isReadOnly: whether the store never writes. If its log cannot be opened, no
    ///   other process may be able to write either; a connection without a log sees no commit.
    static func reader(
        _ path: String, _ options: StoreOptions, alone isReadOnly: Bool
    ) throws(StoreError) -> SQLiteConnection {
        if isReadOnly, options.leavesNoTrace { return try look(path, options) }
        do throws(StoreError) {
            return try checkedReader(path, .readOnly, options)
        } catch {
            guard isReadOnly, error.code == .cannotOpen || error.code == .readOnly else {
                throw error
            }
            // A file in an unwritable directory has no WAL index; if it has no log either, it is
            // complete as it is.
            guard StoreFile.size(path) != nil, StoreFile.size(path + "-wal") ?? 0 == 0 else {
                throw error
            }
            return try checkedReader(path, .immutable, options)
        }
    }

    /// Returns a connection that neither creates nor writes files, also on a full or read-only
    /// disk.
    private static func look(
        _ path: String, _ options: StoreOptions
    ) throws(StoreError) -> SQLiteConnection {
        let log = StoreFile.size(path + "-wal")
        if log != nil, StoreFile.size(path + "-shm") != nil {
            // The second mode is for when another process writes and the reader cannot share a read
            // mark.
            for mode in [SQLiteOpenMode.inspecting, .readOnly] {
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
        _ path: String, _ mode: SQLiteOpenMode, _ options: StoreOptions
    ) throws(StoreError) -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: path, mode: mode, fileSystem: mode.fileSystem ?? options.fileSystem)
        // Set before all other settings: some of them read the file, and with it the log.
        if mode == .alone {
            connection.preserveLog()
            try connection.executeOnce("PRAGMA locking_mode = EXCLUSIVE")
        }
        try configure(connection, options)
        connection.heedBudget()
        guard try !StoreSchema.isMissing(connection) else {
            throw StoreError(.notADatabase, "The file is empty; it was opened for reading only")
        }
        if options.leavesNoTrace, let complete = options.completesReader {
            try complete(connection)
        }
        // A file that cannot change has no log whose index could reveal changes.
        if mode != .immutable, mode != .alone { connection.findWALIndex() }
        return connection
    }

    private static func configure(
        _ connection: SQLiteConnection, _ options: StoreOptions
    ) throws(StoreError) {
        try connection.unlock(options.encryptionKey, pageBytes: options.pageBytes)
        try connection.configure(cacheKiB: options.cacheKiB, busyTimeoutMS: options.busyTimeoutMS)
    }

    /// Whether the file has no tables; the first read of it, which shows whether the key fits.
    private static func isMissing(
        _ connection: SQLiteConnection, _ options: StoreOptions
    ) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try StoreSchema.isMissing(connection)
        } catch {
            guard error.code == .notADatabase, options.encryptionKey != nil else { throw error }
            throw StoreError(
                .notADatabase,
                "The file cannot be read with this encryption key and pages of \(options.pageBytes) "
                    + "bytes: it has another key or size of pages, or is not an encrypted store")
        }
    }

    /// The number of log pages at which a commit checkpoints them: 16 MiB of 8 KiB each.
    ///
    /// Twice SQLite's default: a page that many commits write is checkpointed half as often, and a
    /// pass over some thousand documents does not pause for it.
    private static let autocheckpointPages = 2_000

    private static func prepare(
        _ connection: SQLiteConnection, _ location: StoreLocation,
        _ options: StoreOptions
    ) throws(StoreError) {
        try configure(connection, options)
        let isMissing = try isMissing(connection, options)
        if isMissing {
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
        if isMissing { try StoreSchema.create(connection) }
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

extension StoreSecureDelete {
    /// The value of SQLite's setting; SQLite's own default depends on its build.
    fileprivate var setting: String {
        switch self {
        case .off: "OFF"
        case .fast: "FAST"
        case .full: "ON"
        }
    }
}
