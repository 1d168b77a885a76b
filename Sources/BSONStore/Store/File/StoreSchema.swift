/// The tables of a store file.
///
/// | table | holds |
/// |---|---|
/// | `store_settings` | one row: the range of the change feed |
/// | `store_collections` | the number of each collection; numbers are never reused |
/// | `store_options` | the UUID and the options of each collection |
/// | `store_indexes` | the secondary indexes with their numbers, which are never reused |
/// | `store_changes` | the change feed |
/// | `store_definitions` | changes of collections' definitions |
/// | `store_tombstones` | deleted documents, beyond the range of the feed |
/// | `collection_N` | the documents of collection N: row, order-preserving id key, position of the last change, checksum, bytes |
/// | `index_N` | the keys of index N with the rows of their documents |
enum StoreSchema {
    /// The number that marks a file as a store: "Stch".
    static let applicationID: Int64 = 0x5374_6368
    /// The version of the schema; version 4 keeps images before as ``ImagePatch``, version 5 those
    /// after as ``ImageLink``, version 6 adds tombstones, version 7 checksums of documents, version
    /// 8 compares the letters of collations anew.
    static let version: Int64 = 8

    /// The kind of a file, by its header.
    enum Kind {
        case empty
        case current
        /// A store of an earlier version, which is read as it is and migrated before it is written.
        case earlier
    }

    /// Returns whether a file is empty or a store.
    ///
    /// - Throws: `notADatabase` for other files, `newerSchema` for a later version; nothing is
    ///   changed.
    static func kind(_ connection: SQLiteConnection) throws(StoreError) -> Kind {
        // One statement, because another process may be creating the tables.
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

    /// Migrates a file of an earlier version in one transaction, unless another process already
    /// did.
    ///
    /// - Parameter refill: computes the keys of indexes with a collation anew.
    static func migrate(
        _ connection: SQLiteConnection, refill: () throws(StoreError) -> Void
    ) throws(StoreError) {
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
                if found < 8 { try refill() }
                try connection.executeOnce("PRAGMA user_version = \(version)")
            }
            try connection.execute("COMMIT")
        } catch {
            try connection.rollback()
            throw error
        }
    }

    /// Creates the tables in one transaction, unless another process already did.
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

    /// Returns the statement that creates a collection's table.
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

    /// The additions of version 2: indexes and options of collections.
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

    /// The additions of version 3: definition changes.
    private static let thirdVersion = [
        """
        CREATE TABLE store_definitions (
            id INTEGER PRIMARY KEY AUTOINCREMENT, position INTEGER NOT NULL,
            database TEXT NOT NULL, name TEXT NOT NULL, kind INTEGER NOT NULL,
            details BLOB NOT NULL)
        """
    ]

    /// The addition of version 5 to the feed: the row by which a change's whole image is found.
    private static let fifthVersion = [
        "ALTER TABLE store_changes ADD COLUMN document INTEGER",
        """
        CREATE INDEX store_images ON store_changes (document, position)
        WHERE document IS NOT NULL
        """,
    ]

    /// The addition of version 6: tombstones.
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

    /// Adds version 5's column for the change that wrote a document; existing documents have none.
    private static func addChanges(_ connection: SQLiteConnection) throws(StoreError) {
        for statement in fifthVersion { try connection.executeOnce(statement) }
        try addToTables("change INTEGER NOT NULL DEFAULT 0", connection)
    }

    /// Adds a column to each collection's table without rewriting its rows.
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
