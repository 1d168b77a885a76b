internal import BSONStore

/// The table of unresolved inserts whose records were removed.
///
/// A document that is deleted before its insert was confirmed has no record once the remote does
/// not hold it. The remote may still apply the insert later. If the app then inserts the document
/// again, the remote's edition is the app's own and not a conflict.
struct UnresolvedAttemptTable {
    let connection: SQLiteConnection

    /// The maximum number of documents with stored attempts; newer ones replace the oldest.
    static let documentsMax: Int64 = 1_000

    private static let select = FixedStatement(
        "SELECT names FROM sync_given_up WHERE collection = ?1 AND key = ?2")

    /// Adds attempts to the stored ones of a document.
    func add(_ attempts: [UnresolvedAttempt], of id: BSONValue, in collection: Int64) throws {
        guard !attempts.isEmpty else { return }
        let all = (try self.attempts(of: id, in: collection) + attempts)
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

    /// Returns the stored attempts of a document.
    func attempts(of id: BSONValue, in collection: Int64) throws -> [UnresolvedAttempt] {
        let select = try connection.prepare(Self.select)
        select.bind(1, collection)
        select.bind(2, keyOf: id)
        guard try select.step() else { return [] }
        return UnresolvedAttempt.attempts(in: try select.document(at: 0, named: "names"))
    }
}
