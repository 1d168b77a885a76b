internal import BSONStore

/// The engine's tables in the store's file; see Docs/STORE.md.
enum SyncSchema {
    /// The version of the tables; the engine refuses a file with a greater one and upgrades an
    /// earlier one.
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
        CREATE TABLE IF NOT EXISTS sync_given_up(
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL,
            key BLOB NOT NULL, names BLOB NOT NULL, UNIQUE (collection, key))
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_passes(
            id INTEGER PRIMARY KEY AUTOINCREMENT, entry BLOB NOT NULL)
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

    /// The columns that versions 3 and 4 added, with their tables.
    private static let laterColumns = [
        ("sync_documents", "by_id INTEGER NOT NULL DEFAULT 1"),
        ("sync_collections", "subscribed INTEGER NOT NULL DEFAULT 0"),
        ("sync_wanted", "by_id INTEGER NOT NULL DEFAULT 1"),
        ("sync_documents", "tombstone INTEGER NOT NULL DEFAULT 0"),
        ("sync_collections", "identity BLOB"),
        ("sync_collections", "stop BLOB"),
        ("sync_collections", "lost_token BLOB"),
    ]

    /// The statements that upgrade the tables of version 1, which stored bases in the records.
    private static let fromFirst =
        [
            "ALTER TABLE sync_documents RENAME TO sync_documents_1",
            "DROP INDEX sync_documents_pending",
            "DROP INDEX sync_documents_look",
            "DROP INDEX sync_documents_pause",
        ] + documents + [
            """
            INSERT INTO sync_documents(id, collection, key, document_id, revision, base_kind,
                pending, hint, failures, version, attempt, discarded, pause)
            SELECT id, collection, key, document_id, revision, base_kind,
                pending, hint, failures, version, attempt, discarded, pause
            FROM sync_documents_1 ORDER BY id
            """,
            """
            INSERT INTO sync_bases(document, base)
            SELECT id, base FROM sync_documents_1 WHERE base IS NOT NULL ORDER BY id
            """,
            "DROP TABLE sync_documents_1",
        ]

    /// Creates missing tables and begins a new instance.
    ///
    /// A new instance prevents equal names of attempts in two copies of a file (rule R12). Open
    /// attempts keep their names.
    ///
    /// - Parameter freshInstance: the new instance's number; 0 continues the old instance.
    /// - Throws: `SyncError` of code `.storeFailed` when the file's tables are of a later version.
    static func prepare(_ transaction: WriteTransaction, freshInstance: UInt64) throws {
        let connection = transaction.connection
        defer { transaction.invalidateTables() }
        for statement in statements { try connection.executeOnce(statement) }
        if let found = try connection.int64("SELECT schema FROM sync_instance") {
            guard found <= version else { throw later(found) }
            if found < version {
                if found < 2 {
                    for statement in fromFirst { try connection.executeOnce(statement) }
                }
                for (table, column) in laterColumns { try add(column, to: table, connection) }
                if found < 4 { try noteDeletes(in: transaction) }
                try connection.executeOnce("UPDATE sync_instance SET schema = \(version)")
            }
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

    /// Returns the error of a file from a later version of the library.
    static func later(_ found: Int64) -> SyncError {
        SyncError(
            .storeFailed,
            "the file's sync tables are of version \(found), this library knows \(version)")
    }

    /// Marks pending deletes in a file of an earlier version, which recognized them by the missing
    /// row: those whose document neither its key nor a scan of all rows finds.
    private static func noteDeletes(in transaction: WriteTransaction) throws {
        let connection = transaction.connection
        for collection in try SyncCollectionTable(connection: connection).all() {
            let records = SyncRecordTable(connection: connection)
            let pending = try records.documentIDs(.pending, in: collection.rowID)
            let absent = try pending.filter {
                try transaction.get(collection.namespace, id: $0) == nil
            }
            guard !absent.isEmpty else { continue }
            var keys = Set(absent.map(BSONKey.encode))
            try transaction.forEach(collection.namespace) { document in
                keys.remove(BSONKey.encode(document.documentID))
            }
            let update = try connection.prepare(
                "UPDATE sync_documents SET tombstone = 1 WHERE collection = ?1 AND key = ?2")
            for key in keys {
                update.bind(1, collection.rowID)
                update.bind(2, key)
                try update.run()
            }
        }
    }

    /// Adds a column to a table of an earlier version that lacks it.
    private static func add(
        _ column: String, to table: String, _ connection: SQLiteConnection
    ) throws {
        let name = column.prefix { $0 != " " }
        let count = try connection.int64(
            "SELECT count(*) FROM pragma_table_info('\(table)') WHERE name = '\(name)'")
        if count == 0 { try connection.executeOnce("ALTER TABLE \(table) ADD COLUMN \(column)") }
    }
}
