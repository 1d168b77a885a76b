internal import BSONStore

/// The denied writes in a store's file, so that they outlive the server.
///
/// Entries are written in the background, some at a time; a killed server loses those of a second.
final class StoredDenials: Sendable {
    /// The maximum number of entries that wait.
    private static let waitingMax = DeniedWrites.countMax

    /// The stored entries, oldest first.
    let entries: ServerEntries
    private let waiting = Locked<[BSONDocument]>([])

    /// Creates the table if it is missing.
    ///
    /// - Throws: the errors of the store.
    init(_ store: DocumentStore) throws {
        entries = ServerEntries(table: .denials, store: store)
        try entries.prepare()
    }

    /// Adds an entry.
    func add(_ entry: BSONDocument) {
        waiting.withLock { waiting in
            waiting.append(entry)
            if waiting.count > Self.waitingMax { waiting.removeFirst() }
        }
    }

    /// Writes the entries that wait, and removes the oldest ones above the limit.
    ///
    /// - Parameter turn: the turn of the write.
    /// - Throws: the errors of the store; the entries wait for the next time.
    func flush(in turn: WriteTurn = .atOnce) throws {
        let entries = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        guard let last = entries.last?["_id"]?.int64Value else { return }
        do {
            try turn.write(self.entries.store) { transaction in
                for entry in entries {
                    let insert = try transaction.connection.prepare(
                        "INSERT OR REPLACE INTO server_denials VALUES (?1, ?2)")
                    insert.bind(1, entry["_id"]?.int64Value ?? 0)
                    insert.bind(2, entry.bytes)
                    try insert.run()
                }
                let delete = try transaction.connection.prepare(
                    "DELETE FROM server_denials WHERE number <= ?1")
                delete.bind(1, last - Int64(DeniedWrites.countMax))
                try delete.run()
            }
        } catch {
            waiting.withLock { $0 = Array((entries + $0).suffix(Self.waitingMax)) }
            throw error
        }
    }
}
