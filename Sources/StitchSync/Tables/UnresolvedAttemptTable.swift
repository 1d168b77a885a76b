internal import BSONStore

/// Keeps inserts that were given up for lost beyond the records that they stood in.
///
/// A document that is deleted before its insert was confirmed leaves no record once the remote showed
/// that it holds none. The request may still be on its way: where it lands, and the app makes the
/// document anew, the remote's edition is the app's own and no conflict.
struct UnresolvedAttemptTable {
    let connection: SQLiteConnection

    /// Documents whose names are kept, the newest ones.
    static let documentsMax: Int64 = 1_000

    private static let select = FixedStatement(
        "SELECT names FROM sync_given_up WHERE collection = ?1 AND key = ?2")

    /// Adds tries, if there are any, to those that are kept of a document.
    func keep(_ tries: [UnresolvedAttempt], of id: BSONValue, in collection: Int64) throws {
        guard !tries.isEmpty else { return }
        let all = (try self.tries(of: id, in: collection) + tries)
            .suffix(SyncRecord.unresolvedMax)
        let insert = try connection.prepare(
            "INSERT OR REPLACE INTO sync_given_up(collection, key, names) VALUES (?, ?, ?)")
        insert.bind(1, collection)
        insert.bind(2, keyOf: id)
        insert.bind(3, UnresolvedAttempt.document(of: Array(all)))
        try insert.run()
        try connection.execute(
            """
            DELETE FROM sync_given_up WHERE id <=
                (SELECT id FROM sync_given_up ORDER BY id DESC LIMIT 1 OFFSET \(Self.documentsMax))
            """)
    }

    /// The tries that are kept of a document.
    func tries(of id: BSONValue, in collection: Int64) throws -> [UnresolvedAttempt] {
        let select = try connection.prepare(Self.select)
        select.bind(1, collection)
        select.bind(2, keyOf: id)
        guard try select.step() else { return [] }
        return UnresolvedAttempt.tries(try SyncRecordTable.document(select, 0, "names"))
    }
}
