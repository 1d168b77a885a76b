internal import BSONStore

/// The conflicts that devices share, in a store's file.
///
/// Clients read them as the virtual collection `stitchsync.conflicts`.
struct StoredConflicts {
    /// The namespace of the virtual collection.
    static let namespace = Namespace("stitchsync", "conflicts")
    /// The maximum number of kept conflicts.
    static let countMax = 10_000
    /// The maximum number of bytes of kept conflicts, which a query reads at once.
    static let bytesMax = 12 * 1024 * 1024

    let store: DocumentStore

    /// The stored conflicts, oldest first.
    var entries: ServerEntries { ServerEntries(table: .conflicts, store: store) }

    /// Returns the number of stored conflicts.
    ///
    /// - Throws: the errors of the store.
    func count() throws -> Int64 {
        try store.read { try $0.connection.int64("SELECT count(*) FROM server_conflicts") ?? 0 }
    }

    /// Adds conflicts, except those that are stored already, and removes the oldest ones above the limits.
    ///
    /// - Parameter turn: the turn of the write.
    /// - Throws: the errors of the store.
    func add(_ conflicts: [BSONDocument], in turn: WriteTurn) throws {
        guard !conflicts.isEmpty else { return }
        try turn.write(store) { transaction in
            for conflict in conflicts {
                let insert = try transaction.connection.prepare(
                    "INSERT OR IGNORE INTO server_conflicts(id, entry) VALUES (?1, ?2)")
                insert.bind(1, keyOf: conflict["_id"] ?? .null)
                insert.bind(2, conflict.bytes)
                try insert.run()
            }
            try Self.trim(transaction.connection)
        }
    }

    private static func trim(_ connection: SQLiteConnection) throws {
        let select = try connection.prepare(
            "SELECT number, length(entry) FROM server_conflicts ORDER BY number DESC")
        var (count, bytes) = (0, Int64(0))
        var last: Int64?
        while last == nil, try select.step() {
            count += 1
            bytes += select.int64(1)
            if count > countMax || bytes > Int64(bytesMax) { last = select.int64(0) }
        }
        select.reset()
        guard let last else { return }
        let delete = try connection.prepare("DELETE FROM server_conflicts WHERE number <= ?")
        delete.bind(1, last)
        try delete.run()
    }
}
