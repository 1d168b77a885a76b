internal import BSONStore

/// The devices that were connected last in a store's file, so that they outlive the server.
///
/// They are in a table of their own and no collection: they are neither synced nor in change streams.
/// A killed server loses what it saw in the last minute.
struct StoredDevices: Sendable {
    private let store: DocumentStore

    /// Creates the table if it is missing.
    ///
    /// - Throws: the errors of the store.
    init(_ store: DocumentStore) throws {
        self.store = store
        try store.write { transaction in
            try transaction.connection.execute(
                """
                CREATE TABLE IF NOT EXISTS server_devices(
                    id TEXT PRIMARY KEY, entry BLOB NOT NULL)
                """)
            try ServerEntries(table: .devices, connection: transaction.connection)
                .removeUnreadable()
        }
    }

    /// Returns the stored entries that can be read.
    ///
    /// - Throws: the errors of the store.
    func entries() throws -> [BSONDocument] {
        try store.read { transaction in
            try ServerEntries(table: .devices, connection: transaction.connection).all().readable
        }
    }

    /// Writes what changed since the last time.
    ///
    /// - Parameter turn: the turn of the write.
    /// - Throws: the errors of the store; the changes wait for the next time.
    func flush(_ devices: SeenDevices, in turn: WriteTurn = .atOnce) throws {
        let (entries, removed) = devices.takeChanges()
        guard !entries.isEmpty || !removed.isEmpty else { return }
        let ids = entries.compactMap { $0["_id"]?.stringValue }
        do {
            try turn.write(store) { transaction in
                for (id, entry) in zip(ids, entries) {
                    let insert = try transaction.connection.prepare(
                        "INSERT OR REPLACE INTO server_devices VALUES (?1, ?2)")
                    insert.bind(1, id)
                    insert.bind(2, entry.bytes)
                    try insert.run()
                }
                for id in removed {
                    let delete = try transaction.connection.prepare(
                        "DELETE FROM server_devices WHERE id = ?1")
                    delete.bind(1, id)
                    try delete.run()
                }
            }
        } catch {
            devices.keepChanges(ids + removed)
            throw error
        }
    }
}
