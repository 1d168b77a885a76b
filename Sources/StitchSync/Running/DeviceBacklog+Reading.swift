internal import BSONStore

extension DeviceBacklog {
    /// Counts what waits in a store's file.
    init(_ connection: SQLiteConnection) throws(StoreError) {
        func count(_ sql: String) throws(StoreError) -> Int { Int(try connection.int64(sql) ?? 0) }
        self.init(
            pending: try count("SELECT count(*) FROM sync_documents WHERE pending = 1"),
            paused: try count("SELECT count(*) FROM sync_documents WHERE pause IS NOT NULL"),
            rejected: try count("SELECT count(*) FROM sync_rejected WHERE state = 0"))
    }
}
