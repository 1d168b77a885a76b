internal import BSONStore

/// The table of uploads that were sent together and are not answered yet (`sync_attempts`): one row
/// for a batch instead of an attempt in each record.
struct AttemptBatchTable {
    /// The place of a stored batch.
    ///
    /// The number of a row that was removed may be given to the next one, so the content counts, too.
    struct Place: Sendable {
        let row: Int64
        let batch: BSONDocument
    }

    let connection: SQLiteConnection

    /// Stores a batch and returns its place.
    func add(_ batch: AttemptBatch, in collection: Int64) throws -> Place {
        let document = batch.document
        let insert = try connection.prepare(
            "INSERT INTO sync_attempts(collection, count, batch) VALUES (?, ?, ?)")
        insert.bind(1, collection)
        insert.bind(2, Int64(batch.members.count))
        insert.bind(3, document)
        try insert.run()
        return Place(row: connection.lastInsertedRowID, batch: document)
    }

    /// Returns the unsettled batches.
    func batches(in collection: Int64) throws -> [(place: Place, batch: AttemptBatch)] {
        let select = try connection.prepare(
            "SELECT id, batch FROM sync_attempts WHERE collection = ? ORDER BY id")
        select.bind(1, collection)
        var found: [(place: Place, batch: AttemptBatch)] = []
        while try select.step() {
            let document = try select.document(at: 1, named: "batch")
            guard let batch = AttemptBatch(document) else { throw SyncError.unreadable("batch") }
            found.append((Place(row: select.int64(0), batch: document), batch))
        }
        return found
    }

    /// Removes a batch; returns `false` when it does not exist.
    func remove(_ place: Place) throws -> Bool {
        let delete = try connection.prepare("DELETE FROM sync_attempts WHERE id = ? AND batch = ?")
        delete.bind(1, place.row)
        delete.bind(2, place.batch)
        try delete.run()
        return connection.changedRowCount == 1
    }
}
