internal import BSONStore

/// The devices that were connected last in a store's file, so that they outlive the server.
///
/// A killed server loses what it saw in the last minute.
struct StoredDevices: Sendable {
    /// The stored entries.
    let entries: ServerEntries

    /// Creates the table if it is missing.
    ///
    /// - Throws: the errors of the store.
    init(_ store: DocumentStore) throws {
        entries = ServerEntries(table: .devices, store: store)
        try entries.prepare()
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
            try turn.write(self.entries.store) { transaction in
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
