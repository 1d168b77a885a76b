internal import BSONStore

/// Makes the engine's tables in the store's file, beside the documents; see Docs/STORE.md.
enum SyncSchema {
    /// The version of the tables below; a greater one in a file is refused.
    static let version: Int64 = 1

    static let statements = [
        """
        CREATE TABLE IF NOT EXISTS sync_instance(
            only INTEGER PRIMARY KEY CHECK (only = 1),
            schema INTEGER NOT NULL, instance INTEGER NOT NULL, operations INTEGER NOT NULL,
            hints INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_collections(
            id INTEGER PRIMARY KEY, namespace TEXT NOT NULL UNIQUE,
            token BLOB, needs_scan INTEGER NOT NULL, listens INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_documents(
            id INTEGER PRIMARY KEY,
            collection INTEGER NOT NULL, key BLOB NOT NULL,
            document_id BLOB NOT NULL, revision INTEGER NOT NULL,
            base_kind INTEGER NOT NULL, base BLOB, version BLOB,
            pending INTEGER NOT NULL, hint INTEGER NOT NULL, failures INTEGER NOT NULL,
            attempt BLOB, discarded BLOB, pause BLOB,
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
        """
        CREATE TABLE IF NOT EXISTS sync_events(
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL,
            event BLOB NOT NULL)
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_events_collection ON sync_events(collection, id)
        """,
    ]

    /// Makes what is missing, and begins a new instance.
    ///
    /// So two copies of a file never name two attempts alike (rule R12). Open attempts keep the
    /// names that they have.
    ///
    /// - Parameter freshInstance: the new instance's number, 0 to go on with the old one.
    /// - Throws: `SyncError` of code `.storeFailed` when the file's tables are of a later version.
    static func prepare(_ connection: SQLiteConnection, freshInstance: UInt64) throws {
        for statement in statements { try connection.execute(statement) }
        if let found = try connection.int64("SELECT schema FROM sync_instance") {
            guard found <= version else {
                throw SyncError(
                    .storeFailed,
                    "the file's sync tables are of version \(found), this library knows \(version)")
            }
            if freshInstance != 0 {
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
}
