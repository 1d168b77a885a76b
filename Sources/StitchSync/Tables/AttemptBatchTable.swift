internal import BSONStore

/// The table of uploads that were sent together and are not answered yet (`sync_attempts`): one row
/// for a batch instead of an attempt in each record.
struct AttemptBatchTable {
    let connection: SQLiteConnection

    /// Stores a batch and returns its row.
    func add(_ batch: AttemptBatch, in collection: Int64) throws -> Int64 {
        let insert = try connection.prepare(
            "INSERT INTO sync_attempts(collection, count, batch) VALUES (?, ?, ?)")
        insert.bind(1, collection)
        insert.bind(2, Int64(batch.members.count))
        insert.bind(3, batch.document)
        try insert.run()
        return connection.lastInsertedRowID
    }

    /// Returns the unsettled batches.
    func batches(in collection: Int64) throws -> [(row: Int64, batch: AttemptBatch)] {
        let select = try connection.prepare(
            "SELECT id, batch FROM sync_attempts WHERE collection = ? ORDER BY id")
        select.bind(1, collection)
        var found: [(row: Int64, batch: AttemptBatch)] = []
        while try select.step() {
            guard let batch = AttemptBatch(try select.document(at: 1, named: "batch")) else {
                throw SyncError.unreadable("batch")
            }
            found.append((select.int64(0), batch))
        }
        return found
    }

    /// Removes a batch; returns `false` when it does not exist.
    func remove(row: Int64) throws -> Bool {
        let delete = try connection.prepare("DELETE FROM sync_attempts WHERE id = ?")
        delete.bind(1, row)
        try delete.run()
        return connection.changedRowCount == 1
    }
}
