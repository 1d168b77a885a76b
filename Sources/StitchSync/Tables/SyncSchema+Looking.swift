package import BSONStore

extension DocumentStore.Options {
    /// The options to inspect a store without writing anything.
    ///
    /// An engine finds its tables in memory where the file has none or those of an earlier version.
    package static var looking: Self {
        var options = Self(readOnly: true)
        options.leavesNoTrace = true
        options.completesReader = { (connection) throws(StoreError) in
            try SyncSchema.complete(connection)
        }
        return options
    }
}

/// The sync tables of a read-only store.
extension SyncSchema {
    /// Checks that a read-only store has the current sync tables.
    ///
    /// - Throws: `SyncError` of code `.storeFailed`, whose message names the version found and the
    ///   remedy.
    static func check(_ connection: SQLiteConnection) throws {
        let columns = try connection.int64(
            "SELECT count(*) FROM pragma_table_info('sync_instance')")
        guard let columns, columns > 0,
            let found = try connection.int64("SELECT schema FROM sync_instance")
        else {
            throw SyncError(
                .storeFailed,
                "the store was never synced, and is open for reading only: open it for writing, and "
                    + "the engine makes its tables")
        }
        guard found <= version else { throw later(found) }
        guard found == version else {
            throw SyncError(
                .storeFailed,
                "the file's sync tables are of version \(found), and it is open for reading only: set "
                    + "an engine up over it once for writing, which brings them to version \(version)"
            )
        }
        try SyncTableCheck.run(connection)
    }

    /// Creates the tables in the connection's memory where the file has none of this version.
    ///
    /// Tables of an earlier version are copied and upgraded. The tables in memory hide the file's.
    static func complete(_ connection: SQLiteConnection) throws(StoreError) {
        // The transaction reads one snapshot of the file.
        try connection.executeOnce("BEGIN")
        do throws(StoreError) {
            let found = try versionInFile(connection)
            if found.map({ $0 < version }) ?? true {
                for statement in statements { try connection.executeOnce(inMemory(statement)) }
                if let found { try copy(from: found, connection) }
                try connection.executeOnce(
                    "INSERT OR IGNORE INTO temp.sync_instance VALUES (1, \(version), 1, 0, 0)")
                try connection.executeOnce("UPDATE temp.sync_instance SET schema = \(version)")
            }
            try connection.executeOnce("COMMIT")
        } catch {
            try connection.rollback()
            throw error
        }
    }

    private static func versionInFile(_ connection: SQLiteConnection) throws(StoreError) -> Int64? {
        let has = "SELECT 1 FROM main.sqlite_schema WHERE name = 'sync_instance'"
        guard try connection.int64(has) != nil else { return nil }
        return try connection.int64("SELECT schema FROM main.sync_instance")
    }

    /// Returns a statement of ``statements`` that creates its table or index in memory.
    private static func inMemory(_ statement: String) -> String {
        for kind in ["CREATE TABLE ", "CREATE INDEX "] where statement.hasPrefix(kind) {
            let condition = "IF NOT EXISTS "
            let rest = statement.dropFirst(kind.count)
            guard rest.hasPrefix(condition) else { continue }
            return kind + condition + "temp." + rest.dropFirst(condition.count)
        }
        return statement
    }

    /// Copies the columns of the file's tables that both versions have.
    private static func copy(
        from found: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) {
        let shared = try connection.prepare(
            """
            SELECT t.name, group_concat(c.name) FROM sqlite_temp_schema t
            JOIN pragma_table_info(t.name, 'temp') c JOIN pragma_table_info(t.name, 'main') m
            ON m.name = c.name
            WHERE t.type = 'table' AND t.name LIKE 'sync%' GROUP BY t.name
            """)
        var tables: [(name: String, columns: String)] = []
        while try shared.step() { tables.append((shared.string(0), shared.string(1))) }
        shared.reset()
        for (name, columns) in tables {
            try connection.executeOnce(
                "INSERT INTO temp.\(name)(\(columns)) SELECT \(columns) FROM main.\(name)")
        }
        if found < 2 {
            try connection.executeOnce(
                """
                INSERT INTO temp.sync_bases(document, base)
                SELECT id, base FROM main.sync_documents WHERE base IS NOT NULL
                """)
        }
        if found < 4 { try noteDeletes(connection) }
    }

    /// Marks pending deletes, which earlier versions recognized by the missing row alone.
    private static func noteDeletes(_ connection: SQLiteConnection) throws(StoreError) {
        let found = try connection.prepare(
            """
            SELECT s.id, c.id FROM temp.sync_collections s LEFT JOIN main.store_collections c
            ON s.namespace = c.database || '.' || c.name
            """)
        var tables: [(id: Int64, documents: Int64?)] = []
        while try found.step() {
            tables.append((found.int64(0), found.isNull(1) ? nil : found.int64(1)))
        }
        found.reset()
        for (id, documents) in tables {
            let missing = documents.map { documents in
                "AND key NOT IN (SELECT key FROM main.collection_\(documents) NOT INDEXED)"
            }
            try connection.executeOnce(
                """
                UPDATE temp.sync_documents SET tombstone = 1
                WHERE collection = \(id) AND pending = 1 \(missing ?? "")
                """)
        }
    }
}
