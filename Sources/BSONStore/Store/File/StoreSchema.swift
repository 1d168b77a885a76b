/// Makes and recognises the tables that every store file has.
///
/// | table | holds |
/// |---|---|
/// | `store_settings` | one row: what the change feed keeps and from where on |
/// | `store_collections` | the number of each collection; a number is never used again |
/// | `store_options` | the UUID and the options of each collection |
/// | `store_indexes` | the secondary indexes, with a number that is never used again |
/// | `store_changes` | the change feed |
/// | `store_definitions` | collections made, indexed and modified, beside the feed |
/// | `store_tombstones` | which documents were deleted, longer than the feed reaches |
/// | `collection_N` | the documents of collection N: row, order-preserving id key, position of the last change, checksum, bytes |
/// | `index_N` | the keys of index N with the rows that they stand for |
enum StoreSchema {
    /// Marks the file as ours: "Stch".
    static let applicationID: Int64 = 0x5374_6368
    /// Counts the forms of the schema; version 4 keeps images before as ``ImagePatch``, version 5 those
    /// after as ``ImageLink``, version 6 adds tombstones, version 7 checksums of documents.
    static let version: Int64 = 7

    /// What a file is, by its header.
    enum Kind {
        case empty
        case current
        /// An earlier version, which is read as it is and brought up to date before it is written.
        case earlier
    }

    /// Tells an empty file from one of ours.
    ///
    /// - Throws: `notADatabase` for other files, `newerSchema` for a later form; nothing is changed.
    static func kind(_ connection: SQLiteConnection) throws(StoreError) -> Kind {
        // At once, since another process may be making the tables.
        let found = try connection.prepare(
            """
            SELECT (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)
            """)
        guard try found.step() else { return .empty }
        let (application, version, schema) = (found.int64(0), found.int64(1), found.int64(2))
        found.reset()
        if application == 0, version == 0, schema == 0 { return .empty }
        guard application == applicationID else {
            throw StoreError(
                .notADatabase, "The file is an SQLite database of another application")
        }
        guard version <= Self.version else {
            throw StoreError(
                .newerSchema,
                "The file has schema version \(version); this version reads up to \(Self.version)")
        }
        return version < Self.version ? .earlier : .current
    }

    /// Brings a file of an earlier version up to date in one transaction, unless another process did.
    static func migrate(_ connection: SQLiteConnection) throws(StoreError) {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            if try kind(connection) == .earlier {
                let found = try connection.int64("PRAGMA user_version") ?? 0
                for statement in (found < 2 ? secondVersion : [])
                    + (found < 3 ? thirdVersion : [])
                {
                    try connection.executeOnce(statement)
                }
                if found < 5 { try addChanges(connection) }
                if found < 6 { try addTombstones(connection) }
                if found < 7 { try addToTables("checksum INTEGER", connection) }
                try connection.executeOnce("PRAGMA user_version = \(version)")
            }
            try connection.execute("COMMIT")
        } catch {
            try connection.rollback()
            throw error
        }
    }

    /// Makes the tables in one transaction, unless another process was faster.
    static func create(_ connection: SQLiteConnection) throws(StoreError) {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            if try kind(connection) == .empty {
                for statement in statements { try connection.executeOnce(statement) }
            }
            try connection.execute("COMMIT")
        } catch {
            try connection.rollback()
            throw error
        }
    }

    /// Returns the statements that make a collection's table.
    static func tableStatement(_ id: Int64) -> String {
        "CREATE TABLE \(tableName(id)) (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, "
            + "change INTEGER NOT NULL, checksum INTEGER, doc BLOB NOT NULL)"
    }

    static func tableName(_ id: Int64) -> String { "collection_\(id)" }

    private static let statements =
        [
            """
            CREATE TABLE store_settings (
                id INTEGER PRIMARY KEY CHECK (id = 1), changes_max INTEGER NOT NULL,
                changes_floor INTEGER NOT NULL)
            """,
            "INSERT INTO store_settings VALUES (1, 0, 0)",
            """
            CREATE TABLE store_collections (
                id INTEGER PRIMARY KEY AUTOINCREMENT, database TEXT NOT NULL, name TEXT NOT NULL,
                UNIQUE (database, name))
            """,
            """
            CREATE TABLE store_changes (
                position INTEGER PRIMARY KEY, database TEXT NOT NULL, name TEXT NOT NULL,
                kind INTEGER NOT NULL, before BLOB, after BLOB, comment BLOB)
            """,
            "PRAGMA application_id = \(applicationID)",
            "PRAGMA user_version = \(version)",
        ] + secondVersion + thirdVersion + fifthVersion + sixthVersion

    /// What version 2 added: indexes and options of collections.
    private static let secondVersion = [
        """
        CREATE TABLE store_indexes (
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, name TEXT NOT NULL,
            specification BLOB NOT NULL, multikey INTEGER NOT NULL, UNIQUE (collection, name))
        """,
        """
        CREATE TABLE store_options (
            collection INTEGER PRIMARY KEY, uuid BLOB NOT NULL, options BLOB NOT NULL)
        """,
        // x'0500000000' is the empty document.
        """
        INSERT INTO store_options
        SELECT id, randomblob(16), x'0500000000' FROM store_collections
        """,
    ]

    /// What version 3 added: changes of definitions.
    private static let thirdVersion = [
        """
        CREATE TABLE store_definitions (
            id INTEGER PRIMARY KEY AUTOINCREMENT, position INTEGER NOT NULL,
            database TEXT NOT NULL, name TEXT NOT NULL, kind INTEGER NOT NULL,
            details BLOB NOT NULL)
        """
    ]

    /// What version 5 added to the feed: by which row the whole image of a change is looked up.
    private static let fifthVersion = [
        "ALTER TABLE store_changes ADD COLUMN document INTEGER",
        """
        CREATE INDEX store_images ON store_changes (document, position)
        WHERE document IS NOT NULL
        """,
    ]

    /// What version 6 added: which documents were deleted.
    private static let sixthVersion = [
        """
        CREATE TABLE store_tombstones (
            collection INTEGER NOT NULL, key BLOB NOT NULL, version BLOB NOT NULL,
            time INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (collection, key)) WITHOUT ROWID
        """,
        "CREATE INDEX store_tombstone_times ON store_tombstones (time)",
    ]

    private static func addTombstones(_ connection: SQLiteConnection) throws(StoreError) {
        for statement in sixthVersion { try connection.executeOnce(statement) }
    }

    /// What version 5 added to collections: which change wrote a document; none of those that are there.
    private static func addChanges(_ connection: SQLiteConnection) throws(StoreError) {
        for statement in fifthVersion { try connection.executeOnce(statement) }
        try addToTables("change INTEGER NOT NULL DEFAULT 0", connection)
    }

    /// Adds a column to the table of each collection; its rows are not written for it.
    private static func addToTables(
        _ column: String, _ connection: SQLiteConnection
    ) throws(StoreError) {
        let collections = try connection.prepare("SELECT id FROM store_collections")
        var ids: [Int64] = []
        while try collections.step() { ids.append(collections.int64(0)) }
        for id in ids {
            try connection.executeOnce("ALTER TABLE \(tableName(id)) ADD COLUMN \(column)")
        }
    }
}
