internal import BSONStore

/// A comparison of the engine's tables with their indexes, since SQLite does not notice an index
/// that lost rows.
///
/// A document would not be synced if its record were not found by its key, and a change that the
/// index of pending ones lost would never be uploaded.
enum SyncTableCheck {
    /// The maximum number of rows for a full comparison; larger tables are only sampled.
    private static let rowsMax: Int64 = 100_000
    private static let probesMax: Int64 = 64

    /// The indexes with their tables and the conditions of their rows.
    private static let indexes = [
        ("sync_documents", "sync_documents_pending", "pending = 1"),
        ("sync_documents", "sync_documents_look", "hint > 0 OR attempt IS NOT NULL"),
        ("sync_documents", "sync_documents_pause", "pause IS NOT NULL"),
        ("sync_documents", "sqlite_autoindex_sync_documents_1", "collection >= 0"),
        ("sync_collections", "sqlite_autoindex_sync_collections_1", "namespace >= ''"),
        ("sync_events", "sync_events_collection", "collection >= 0"),
        ("sync_rejected", "sync_rejected_state", "collection >= 0"),
        ("sync_staged", "sqlite_autoindex_sync_staged_1", "collection >= 0"),
        ("sync_history_fields", "sync_history_fields_key", "collection >= 0"),
    ]

    /// Checks that indexes and tables agree.
    ///
    /// - Throws: `SyncError` of code `.storeFailed`, which names the table with the wrong index.
    static func run(_ connection: SQLiteConnection) throws {
        for (table, index, test) in indexes {
            // A store that this library only reads may be of a version without the journal's tables.
            if table == "sync_history_fields" {
                let has = try connection.int64("SELECT 1 FROM pragma_table_info('\(table)')")
                guard has != nil else { continue }
            }
            let first = try connection.int64("SELECT rowid FROM \(table) ORDER BY rowid LIMIT 1")
            let last = try connection.int64(
                "SELECT rowid FROM \(table) ORDER BY rowid DESC LIMIT 1")
            if let first, let last, last &- first > rowsMax { continue }
            let rows = "SELECT count(*) FROM \(table)"
            let byRow = try connection.int64("\(rows) NOT INDEXED WHERE \(test)")
            let byIndex = try connection.int64("\(rows) INDEXED BY \(index) WHERE \(test)")
            if byRow != byIndex { throw SyncError.disordered(table) }
        }
        try probe(connection)
    }

    /// Looks up a sample of records by their keys.
    private static func probe(_ connection: SQLiteConnection) throws {
        let edge = "SELECT id FROM sync_documents NOT INDEXED ORDER BY id"
        guard let first = try connection.int64("\(edge) LIMIT 1"),
            let last = try connection.int64("\(edge) DESC LIMIT 1")
        else { return }
        let next = try connection.prepare(
            """
            SELECT id, collection, key FROM sync_documents NOT INDEXED
            WHERE id >= ?1 ORDER BY id LIMIT 1
            """)
        let byKey = try connection.prepare(
            "SELECT id FROM sync_documents WHERE collection = ?1 AND key = ?2")
        let step = max(1, (last &- first) / probesMax)
        var at = first
        while at <= last {
            next.bind(1, at)
            guard try next.step() else { return }
            let row = next.int64(0)
            byKey.bind(1, next.int64(1))
            byKey.bind(2, next.bytes(2))
            guard row >= at, try byKey.step(), byKey.int64(0) == row else {
                throw SyncError.disordered("sync_documents")
            }
            byKey.reset()
            next.reset()
            let (following, isOver) = row.addingReportingOverflow(step)
            if isOver { return }
            at = following
        }
    }
}
