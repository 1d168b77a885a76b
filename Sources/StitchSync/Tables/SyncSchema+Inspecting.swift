package import BSONStore

extension DocumentStore.Options {
    /// The options to inspect a store without writing anything.
    ///
    /// An engine finds its tables in memory where the file has none.
    package static var inspecting: Self {
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
    /// - Throws: `SyncError` of code `.storeFailed`, whose message names the remedy.
    static func check(_ connection: SQLiteConnection) throws {
        guard let found = try version(in: connection) else {
            throw SyncError(
                .storeFailed,
                "the store was never synced, and is open for reading only: open it for writing, and "
                    + "the engine makes its tables")
        }
        guard found == version else { throw other(found) }
        try SyncTableCheck.run(connection)
    }

    /// Creates the tables in the connection's memory where the file has none.
    static func complete(_ connection: SQLiteConnection) throws(StoreError) {
        // The transaction reads one snapshot of the file.
        try connection.executeOnce("BEGIN")
        do throws(StoreError) {
            if try version(in: connection) == nil {
                for statement in statements { try connection.executeOnce(inMemory(statement)) }
                try connection.executeOnce(
                    "INSERT INTO temp.sync_instance VALUES (1, \(version), 1, 0, 0)")
            }
            try connection.executeOnce("COMMIT")
        } catch {
            try connection.rollback()
            throw error
        }
    }

    /// Returns a statement of ``statements`` that creates its table or index in memory.
    private static func inMemory(_ statement: String) -> String {
        for kind in ["CREATE TABLE ", "CREATE INDEX "] where statement.hasBytePrefix(kind) {
            let condition = "IF NOT EXISTS "
            let rest = statement.droppingBytes(kind.utf8.count)
            guard rest.hasBytePrefix(condition) else { continue }
            return kind + condition + "temp." + rest.dropFirst(condition.count)
        }
        return statement
    }
}
