internal import BSONStore

/// The stored result of each session's last numbered write or transaction.
///
/// The entry is written in the same transaction as the write, so a retry after a lost reply is
/// answered and not applied again.
///
/// Source: the drivers' specification "Retryable Writes"; the log has a table of its own.
struct SessionLog {
    /// The last operation of a session.
    struct Entry: Sendable {
        let number: Int64
        /// Whether the operation was a multi-document transaction.
        let isTransaction: Bool
        /// The reply of a retryable write.
        let reply: BSONDocument?
    }

    private let connection: SQLiteConnection

    init(_ transaction: ReadTransaction) { connection = transaction.connection }

    /// Creates the table if it is missing.
    static func prepare(_ store: DocumentStore) throws {
        try store.write { transaction in
            try transaction.connection.execute(
                """
                CREATE TABLE IF NOT EXISTS server_sessions(
                    session BLOB PRIMARY KEY, number INTEGER NOT NULL, is_transaction INTEGER NOT NULL,
                    reply BLOB, used INTEGER NOT NULL) WITHOUT ROWID
                """)
        }
    }

    /// Returns the last operation of a session.
    func entry(of session: [UInt8]) throws -> Entry? {
        let select = try connection.prepare(
            "SELECT number, is_transaction, reply FROM server_sessions WHERE session = ?1")
        select.bind(1, session)
        guard try select.step() else { return nil }
        let reply =
            select.isNull(2)
            ? nil
            : try BSONDocument(
                validating: select.bytes(2),
                limits: BSONLimits(depthMax: 110, documentBytesMax: 64 * 1024 * 1024))
        return Entry(
            number: select.int64(0), isTransaction: select.int64(1) != 0, reply: reply)
    }

    /// Stores the last operation of a session.
    func note(_ entry: Entry, of session: [UInt8]) throws {
        let insert = try connection.prepare(
            "INSERT OR REPLACE INTO server_sessions VALUES (?1, ?2, ?3, ?4, ?5)")
        insert.bind(1, session)
        insert.bind(2, entry.number)
        insert.bind(3, Int64(entry.isTransaction ? 1 : 0))
        insert.bind(4, entry.reply?.bytes)
        insert.bind(5, BSONDatetime.now.milliseconds)
        try insert.run()
    }

    /// Removes entries last used before a time.
    static func forget(
        before time: BSONDatetime, in store: DocumentStore, _ turn: WriteTurn
    ) throws {
        let isDue = try store.read { transaction in
            let select = try transaction.connection.prepare(
                "SELECT 1 FROM server_sessions WHERE used < ?1 LIMIT 1")
            select.bind(1, time.milliseconds)
            return try select.step()
        }
        guard isDue else { return }
        try turn.write(store) { transaction in
            let delete = try transaction.connection.prepare(
                "DELETE FROM server_sessions WHERE used < ?1")
            delete.bind(1, time.milliseconds)
            try delete.run()
        }
    }
}
