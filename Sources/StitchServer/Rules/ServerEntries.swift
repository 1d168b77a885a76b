internal import BSONStore

/// The entries of one of the tables that a server has for itself in a store's file.
///
/// The tables are no collections: they are neither synced nor in change streams. An entry that cannot be
/// read, of a damaged file or of another program, is no reason to stop a server: without it the server
/// only shows less. It is removed when the server starts.
struct ServerEntries {
    /// A table with the column `entry`, which has BSON.
    enum Table: String, CaseIterable {
        case conflicts = "server_conflicts"
        case denials = "server_denials"
        case devices = "server_devices"

        /// The columns before the entry.
        fileprivate var columns: String {
            switch self {
            case .conflicts: "number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE"
            case .denials: "number INTEGER PRIMARY KEY"
            case .devices: "id TEXT PRIMARY KEY"
            }
        }
    }

    let table: Table
    let store: DocumentStore

    /// Creates the table if it is missing, and removes the entries that cannot be read.
    ///
    /// - Throws: the errors of the store.
    func prepare() throws {
        try store.write { transaction in
            let connection = transaction.connection
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS \(table.rawValue)(
                    \(table.columns), entry BLOB NOT NULL)
                """)
            for row in try rows(connection).unreadable {
                let delete = try connection.prepare(
                    "DELETE FROM \(table.rawValue) WHERE rowid = ?1")
                delete.bind(1, row)
                try delete.run()
            }
        }
    }

    /// Returns the entries that can be read, in the order of their rows.
    ///
    /// - Throws: the errors of the store.
    func all() throws -> [BSONDocument] {
        try store.read { try rows($0.connection).readable }
    }

    private func rows(
        _ connection: SQLiteConnection
    ) throws -> (readable: [BSONDocument], unreadable: [Int64]) {
        let select = try connection.prepare(
            "SELECT rowid, entry FROM \(table.rawValue) ORDER BY rowid")
        var readable: [BSONDocument] = []
        var unreadable: [Int64] = []
        while try select.step() {
            do {
                readable.append(
                    try BSONDocument(validating: select.bytes(1), limits: BSONLimits()))
            } catch {
                unreadable.append(select.int64(0))
            }
        }
        return (readable, unreadable)
    }
}
