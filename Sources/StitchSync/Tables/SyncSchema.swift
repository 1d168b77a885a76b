internal import BSONStore

/// The engine's tables in the store's file; see Docs/STORE.md.
enum SyncSchema {
    /// The version of the tables; the engine refuses a file with another one.
    static let version: Int64 = 4

    private static let documents = [
        """
        CREATE TABLE IF NOT EXISTS sync_documents(
            id INTEGER PRIMARY KEY,
            collection INTEGER NOT NULL, key BLOB NOT NULL, document_id BLOB,
            revision INTEGER NOT NULL, base_kind INTEGER NOT NULL, pending INTEGER NOT NULL,
            hint INTEGER NOT NULL, failures INTEGER NOT NULL, version BLOB,
            attempt BLOB, discarded BLOB, pause BLOB,
            by_id INTEGER NOT NULL DEFAULT 1, tombstone INTEGER NOT NULL DEFAULT 0,
            UNIQUE (collection, key))
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_documents_pending
            ON sync_documents(collection, id) WHERE pending = 1
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_documents_look
            ON sync_documents(collection, id) WHERE hint > 0 OR attempt IS NOT NULL
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_documents_pause
            ON sync_documents(collection, id) WHERE pause IS NOT NULL
        """,
    ]

    private static let others = [
        """
        CREATE TABLE IF NOT EXISTS sync_instances(
            id INTEGER PRIMARY KEY AUTOINCREMENT, instance INTEGER NOT NULL UNIQUE,
            operations INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_instance(
            only INTEGER PRIMARY KEY CHECK (only = 1),
            schema INTEGER NOT NULL, instance INTEGER NOT NULL, operations INTEGER NOT NULL,
            hints INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_collections(
            id INTEGER PRIMARY KEY, namespace TEXT NOT NULL UNIQUE,
            token BLOB, needs_scan INTEGER NOT NULL, listens INTEGER NOT NULL,
            subscribed INTEGER NOT NULL DEFAULT 0, identity BLOB, stop BLOB, lost_token BLOB)
        """,
        "CREATE TABLE IF NOT EXISTS sync_bases(document INTEGER PRIMARY KEY, base BLOB NOT NULL)",
        """
        CREATE TABLE IF NOT EXISTS sync_wanted(
            id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, count INTEGER NOT NULL,
            ids BLOB NOT NULL, by_id INTEGER NOT NULL DEFAULT 1)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_attempts(
            id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, count INTEGER NOT NULL,
            batch BLOB NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_events(
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL,
            event BLOB NOT NULL)
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_events_collection ON sync_events(collection, id)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_rejected(
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL,
            batch INTEGER NOT NULL, state INTEGER NOT NULL, told INTEGER NOT NULL,
            entry BLOB NOT NULL)
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_rejected_state ON sync_rejected(collection, state, id)
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_rejected_untold
            ON sync_rejected(collection, batch) WHERE told = 0
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_conflicts(
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL,
            key BLOB NOT NULL, entry BLOB NOT NULL, UNIQUE (collection, key))
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_shared(
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL,
            key BLOB NOT NULL, entry BLOB NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_given_up(
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL,
            key BLOB NOT NULL, names BLOB NOT NULL, UNIQUE (collection, key))
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_left(
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL,
            key BLOB NOT NULL, entry BLOB NOT NULL, UNIQUE (collection, key))
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_passes(
            id INTEGER PRIMARY KEY AUTOINCREMENT, entry BLOB NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_history(
            id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, collection INTEGER NOT NULL,
            at INTEGER NOT NULL, entries BLOB NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_history_fields(
            entry INTEGER PRIMARY KEY, collection INTEGER NOT NULL, key BLOB NOT NULL,
            fields BLOB NOT NULL)
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_history_fields_key
            ON sync_history_fields(collection, key)
        """,
    ]

    private static let subscriptions = [
        """
        CREATE TABLE IF NOT EXISTS sync_sets(
            version INTEGER PRIMARY KEY, state INTEGER NOT NULL, error TEXT,
            content BLOB NOT NULL, progress BLOB)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_earlier(
            document INTEGER PRIMARY KEY, version INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_staged(
            id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, key BLOB NOT NULL,
            document BLOB NOT NULL, UNIQUE (collection, key))
        """,
    ]

    /// The statements that create all tables and indexes.
    static var statements: [String] { others + documents + subscriptions }

    /// Creates missing tables and begins a new instance.
    ///
    /// A new instance prevents equal names of attempts in two copies of a file (rule R12). Open
    /// attempts keep their names.
    ///
    /// - Parameter freshInstance: the new instance's number; 0 continues the old instance.
    /// - Throws: `SyncError` of code `.storeFailed` when the file's tables are of another version.
    static func prepare(_ transaction: WriteTransaction, freshInstance: UInt64) throws {
        let connection = transaction.connection
        defer { transaction.invalidateTables() }
        let found = try version(in: connection)
        if let found, found != version { throw other(found) }
        for statement in statements { try connection.executeOnce(statement) }
        if found != nil {
            try SyncTableCheck.run(connection)
            if freshInstance != 0 {
                try FormerInstances(connection: connection).keepPresent()
                let update = try connection.prepare(
                    "UPDATE sync_instance SET instance = ?, operations = 0")
                update.bind(1, Int64(bitPattern: freshInstance))
                try update.run()
            }
            return
        }
        let insert = try connection.prepare("INSERT INTO sync_instance VALUES (1, ?, ?, 0, 0)")
        insert.bind(1, version)
        insert.bind(2, Int64(bitPattern: freshInstance))
        try insert.run()
    }

    /// Returns the version of a file's tables; `nil` if it has none.
    static func version(in connection: SQLiteConnection) throws(StoreError) -> Int64? {
        let has = "SELECT 1 FROM pragma_table_info('sync_instance')"
        guard try connection.int64(has) != nil else { return nil }
        return try connection.int64("SELECT schema FROM sync_instance")
    }

    /// Returns the error of a file from another version of the library.
    static func other(_ found: Int64) -> SyncError {
        SyncError(
            .storeFailed,
            "the file's sync tables are of version \(found), this library knows \(version) only: "
                + "open it with the version that wrote it")
    }
}
