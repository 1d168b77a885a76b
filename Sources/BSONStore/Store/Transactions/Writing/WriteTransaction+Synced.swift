extension WriteTransaction {
    /// Refuses to write rows of a collection that a sync engine keeps in step, unless the engine does.
    ///
    /// Sync would not see the write: a delete would look like damage, and a change would never be sent.
    ///
    /// - Throws: `illegalOperation` (20), which names the right call.
    func checkMayWrite(_ table: CollectionTable) throws(StoreError) {
        guard !isEngineWrite, !unsyncedTables.contains(table.id) else { return }
        try checkMayWrite(table.namespace)
        unsyncedTables.insert(table.id)
    }

    /// Refuses to drop, rename or fill a collection that a sync engine keeps in step, unless the
    /// engine does.
    ///
    /// - Throws: `illegalOperation` (20), which names the right call.
    func checkMayWrite(_ namespace: Namespace) throws(StoreError) {
        guard !isEngineWrite else { return }
        try checkIsFree(namespace)
    }
}

extension ReadTransaction {
    /// Refuses a collection that a sync engine keeps in step, before anything else is done with it.
    ///
    /// - Throws: `illegalOperation` (20), which names the right call.
    package func checkIsFree(_ namespace: Namespace) throws(StoreError) {
        guard try isSynced(namespace) else { return }
        let call =
            "engine.collection(Namespace(\"\(namespace.database)\", "
            + "\"\(namespace.collection)\"))"
        throw StoreError(
            .illegalOperation,
            "\(namespace) is kept in step by a sync engine; write through \(call), or desync its "
                + "documents first",
            namespace: namespace)
    }

    /// Whether a sync engine keeps documents of a collection in step: one of them has a record, or is
    /// to get one, or a subscription asks, or once asked, for them.
    ///
    /// A collection whose documents were all taken out of sync is free again.
    package func isSynced(_ namespace: Namespace) throws(StoreError) -> Bool {
        guard let query = try connection.catalogCache.syncedQuery(connection) else { return false }
        let statement = try connection.prepare(query)
        statement.bind(1, namespace.description)
        defer { statement.reset() }
        return try statement.step()
    }
}

extension CatalogCache {
    /// Returns the statement that tells whether a collection is synced, by the tables that the
    /// file's engine has; empty where it has none.
    static func syncedQuery(_ connection: SQLiteConnection) throws(StoreError) -> String {
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
