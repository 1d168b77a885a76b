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
    /// The version of the schema; those before it were of no release.
    static let version: Int64 = 8

    /// Whether a file has no tables yet; one that has is a store of this version.
    ///
    /// - Throws: `notADatabase` for other files, `newerSchema` for a later version and `olderSchema` for
    ///   an earlier one; nothing is changed.
    static func isMissing(_ connection: SQLiteConnection) throws(StoreError) -> Bool {
        // One statement, because another process may be creating the tables.
        let found = try connection.prepare(
            """
            SELECT (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)
            """)
        guard try found.step() else { return true }
        let (application, version, schema) = (found.int64(0), found.int64(1), found.int64(2))
        found.reset()
        if application == 0, version == 0, schema == 0 { return true }
        guard application == applicationID else {
            throw StoreError(
                .notADatabase, "The file is an SQLite database of another application")
        }
        guard version <= Self.version else {
            throw StoreError(
                .newerSchema,
                "The file has schema version \(version); this version reads up to \(Self.version)")
        }
        guard version == Self.version else {
            throw StoreError(
                .olderSchema,
                "The file has schema version \(version), of a program from before the first release; "
                    + "this version reads \(Self.version): export its documents with the program that "
                    + "wrote it, and import them into a new file")
        }
        return false
    }

    /// Creates the tables in one transaction, unless another process already did.
    static func create(_ connection: SQLiteConnection) throws(StoreError) {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            if try isMissing(connection) {
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

    private static let statements = [
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
        CREATE TABLE store_options (
            collection INTEGER PRIMARY KEY, uuid BLOB NOT NULL, options BLOB NOT NULL)
        """,
        """
        CREATE TABLE store_indexes (
            id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, name TEXT NOT NULL,
            specification BLOB NOT NULL, multikey INTEGER NOT NULL, UNIQUE (collection, name))
        """,
        // The column `document` is the row by which a change's whole image is found.
        """
        CREATE TABLE store_changes (
            position INTEGER PRIMARY KEY, database TEXT NOT NULL, name TEXT NOT NULL,
            kind INTEGER NOT NULL, before BLOB, after BLOB, comment BLOB, document INTEGER)
        """,
        """
        CREATE INDEX store_images ON store_changes (document, position)
        WHERE document IS NOT NULL
        """,
        """
        CREATE TABLE store_definitions (
            id INTEGER PRIMARY KEY AUTOINCREMENT, position INTEGER NOT NULL,
            database TEXT NOT NULL, name TEXT NOT NULL, kind INTEGER NOT NULL,
            details BLOB NOT NULL)
        """,
        """
        CREATE TABLE store_tombstones (
            collection INTEGER NOT NULL, key BLOB NOT NULL, version BLOB NOT NULL,
            time INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (collection, key)) WITHOUT ROWID
        """,
        "CREATE INDEX store_tombstone_times ON store_tombstones (time)",
        "PRAGMA application_id = \(applicationID)",
        "PRAGMA user_version = \(version)",
    ]
}
