/// The collections that a sync engine keeps in step, according to its tables in the file.
///
/// The store knows these tables because it must refuse writes even where no engine is open.
struct SyncedCollections {
    /// The transaction's connection.
    let connection: SQLiteConnection

    /// Refuses a synced collection before any other step.
    ///
    /// - Throws: `illegalOperation` (20), which names the right call.
    func checkIsFree(_ namespace: Namespace) throws(StoreError) {
        guard try contains(namespace) else { return }
        let call =
            "engine.collection(Namespace(\"\(namespace.database)\", "
            + "\"\(namespace.collection)\"))"
        throw StoreError(
            .illegalOperation,
            "\(namespace) is kept in step by a sync engine; write through \(call), or desync its "
                + "documents first",
            namespace: namespace)
    }

    /// Whether a collection is synced: a document has or will get a sync record, or a subscription
    /// queries it or once did.
    ///
    /// The collection is free again once none of its documents is synced.
    func contains(_ namespace: Namespace) throws(StoreError) -> Bool {
        guard let query = try connection.catalogCache.syncedQuery(connection) else { return false }
        let statement = try connection.prepare(query)
        statement.bind(1, namespace.description)
        defer { statement.reset() }
        return try statement.step()
    }

    /// Returns the SQL that decides whether a collection is synced, for the engine's tables in the
    /// file; empty without an engine.
    static func query(_ connection: SQLiteConnection) throws(StoreError) -> String {
        let names = try connection.prepare(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table'
                AND name IN ('sync_collections', 'sync_documents', 'sync_wanted')
            UNION ALL
            SELECT name FROM pragma_table_info('sync_collections') WHERE name = 'subscribed'
            """)
        var found: [String] = []
        while try names.step() { found.append(names.string(0)) }
        guard found.contains("sync_collections") else { return "" }
        var conditions: [String] = []
        for table in ["sync_documents", "sync_wanted"] where found.contains(table) {
            conditions.append("EXISTS (SELECT 1 FROM \(table) WHERE collection = c.id)")
        }
        if found.contains("subscribed") { conditions.append("c.subscribed = 1") }
        guard !conditions.isEmpty else { return "" }
        return "SELECT 1 FROM sync_collections AS c WHERE c.namespace = ?1 AND ("
            + conditions.joined(separator: " OR ") + ")"
    }
}
