internal import BSONStore

/// The treatment of damaged documents that the store moved out of their collection: they must not
/// seem deleted by the app, since no delete of them may reach the remote.
struct PauseQuarantined {
    let sync: SyncTransaction

    /// Marks each document as stale that was quarantined since the last call, so that it is
    /// downloaded again.
    ///
    /// A document whose pending change is lost is paused until the app resumes it.
    ///
    /// - Throws: errors of the store.
    func run() throws {
        let quarantined = QuarantinedDocuments(sync.transaction.connection)
        let lost = try quarantined.unhandled(in: sync.namespace)
        guard !lost.isEmpty else { return }
        try quarantined.markHandled(lost.map(\.row))
        for (_, id) in lost {
            guard var record = try sync.record(id), try sync.local(id) == nil else { continue }
            let isChangeLost = record.isPending || record.attempt != nil
            if isChangeLost, record.pause == nil {
                record.pause = .quarantined
            }
            record.clearBase(hasLocal: false)
            try sync.makeStale(&record)
            try sync.save(record)
        }
    }
}

/// The store's list of damaged documents, and the engine's list of those that it has handled.
struct QuarantinedDocuments {
    let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Returns the damaged documents of a collection that the engine has not handled.
    func unhandled(in namespace: Namespace) throws -> [(row: Int64, id: BSONValue)] {
        guard try holds("store_quarantine") else { return [] }
        let known = try holds("sync_quarantined") ? "SELECT id FROM sync_quarantined" : ""
        let select = try connection.prepare(
            """
            SELECT rowid, key FROM store_quarantine
                WHERE database = ?1 AND name = ?2 AND rowid NOT IN (\(known))
            """)
        select.bind(1, namespace.database)
        select.bind(2, namespace.collection)
        var unhandled: [(row: Int64, id: BSONValue)] = []
        while try select.step() {
            if let id = BSONKey.decode(select.bytes(1)) { unhandled.append((select.int64(0), id)) }
        }
        return unhandled
    }

    /// Notes that the engine has handled damaged documents.
    func markHandled(_ rows: [Int64]) throws {
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS sync_quarantined(id INTEGER PRIMARY KEY)")
        for row in rows {
            let insert = try connection.prepare("INSERT INTO sync_quarantined VALUES (?1)")
            insert.bind(1, row)
            try insert.run()
        }
    }

    private func holds(_ table: String) throws -> Bool {
        let select = try connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?1")
        select.bind(1, table)
        return try select.step()
    }
}
