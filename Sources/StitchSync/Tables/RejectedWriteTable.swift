internal import BSONStore

/// The table of writes that the remote refused (`sync_rejected`), until the app has decided on them
/// or been reported.
struct RejectedWriteTable {
    let connection: SQLiteConnection

    /// The columns of a rejected write, in the order in which statements select them.
    private enum Column: Int32, SyncColumn {
        case id
        case state
        case batch
        case entry
        /// Only written and compared.
        case collection
        /// Whether the app knows of the write; only written and compared.
        case told

        static let selected = "SELECT id, state, batch, entry FROM sync_rejected"
    }

    /// Adds a refused write and returns its id.
    @discardableResult
    func add(_ rejection: RejectedWriteRecord, in collection: Int64) throws -> Int64 {
        let insert = try connection.prepare(
            """
            INSERT INTO sync_rejected(state, batch, entry, collection, told)
            VALUES (?2, ?3, ?4, ?5, ?6)
            """)
        insert.bind(Column.collection, collection)
        insert.bind(Column.batch, rejection.batch)
        insert.bind(Column.state, rejection.state.rawValue)
        // The question to the app is its report.
        insert.bind(Column.told, rejection.state == .asking ? 1 : 0)
        insert.bind(Column.entry, rejection.entry)
        try insert.run()
        return connection.lastInsertedRowID
    }

    /// Returns refused writes of one state after an id, the oldest first.
    func all(
        _ state: RejectedWriteRecord.State, in collection: SyncCollectionState,
        after id: Int64 = 0,
        limit: Int = .max
    ) throws -> [RejectedWriteRecord] {
        let select = try connection.prepare(
            """
            \(Column.selected)
            WHERE collection = ? AND state = ? AND id > ? ORDER BY id LIMIT ?
            """)
        select.bind(1, collection.rowID)
        select.bind(2, state.rawValue)
        select.bind(3, id)
        select.bind(4, Int64(limit))
        return try read(select, collection)
    }

    /// Returns one refused write; `nil` when it does not exist.
    func write(_ id: Int64, in collection: SyncCollectionState) throws
        -> RejectedWriteRecord?
    {
        let select = try connection.prepare(
            "\(Column.selected) WHERE collection = ? AND id = ?")
        select.bind(1, collection.rowID)
        select.bind(2, id)
        return try read(select, collection).first
    }

    /// Returns the oldest unreported refused writes that one error reports.
    func unreported(in collection: SyncCollectionState) throws
        -> [RejectedWriteRecord]
    {
        let select = try connection.prepare(
            """
            \(Column.selected) WHERE collection = ?1 AND told = 0
                AND batch = (SELECT min(batch) FROM sync_rejected WHERE collection = ?1 AND told = 0)
            ORDER BY id
            """)
        select.bind(1, collection.rowID)
        let unreported = try read(select, collection)
        guard let first = unreported.first else { return [] }
        // A write that paused its document has an error of its own with its reason.
        return first.state == .reverted
            ? unreported.filter { $0.state == .reverted && $0.write.code == first.write.code }
            : [first]
    }

    private func read(
        _ select: borrowing SQLiteStatement, _ collection: SyncCollectionState
    ) throws -> [RejectedWriteRecord] {
        var found: [RejectedWriteRecord] = []
        while try select.step() {
            let id = select.int64(Column.id)
            guard id > found.last?.write.id ?? 0 else {
                throw SyncError.disordered("sync_rejected")
            }
            let entry = try select.document(Column.entry, named: "rejected write")
            guard
                let rejection = RejectedWriteRecord(
                    id: id, state: select.int64(Column.state),
                    batch: select.int64(Column.batch), entry, collection.namespace)
            else { throw SyncError.unreadable("rejected write") }
            found.append(rejection)
        }
        return found
    }

    /// Marks writes as reported; removes those that only paused a document.
    func markReported(_ rejections: [RejectedWriteRecord]) throws {
        for rejection in rejections {
            if rejection.state == .paused {
                try remove(rejection.write.id)
                continue
            }
            let update = try connection.prepare("UPDATE sync_rejected SET told = 1 WHERE id = ?")
            update.bind(1, rejection.write.id)
            try update.run()
        }
    }

    /// Stores the new state of a write after the app's decision; the state will be reported.
    func setState(of rejection: RejectedWriteRecord, to state: RejectedWriteRecord.State) throws {
        let update = try connection.prepare(
            "UPDATE sync_rejected SET state = ?, told = 0 WHERE id = ?")
        update.bind(1, state.rawValue)
        update.bind(2, rejection.write.id)
        try update.run()
    }

    /// Removes a refused write; returns `false` when it did not exist.
    @discardableResult
    func remove(_ id: Int64) throws -> Bool {
        let delete = try connection.prepare("DELETE FROM sync_rejected WHERE id = ?")
        delete.bind(1, id)
        try delete.run()
        return connection.changedRowCount == 1
    }

    /// Removes all reverted writes of a collection and returns their number.
    func removeReverted(in collection: Int64) throws -> Int {
        let count = try revertedCount(in: collection)
        let delete = try connection.prepare(
            "DELETE FROM sync_rejected WHERE collection = ? AND state = 0")
        delete.bind(1, collection)
        try delete.run()
        return count
    }

    /// Returns the number of a collection's reverted writes.
    func revertedCount(in collection: Int64) throws -> Int {
        let select = try connection.prepare(
            "SELECT count(*) FROM sync_rejected WHERE collection = ? AND state = 0")
        select.bind(1, collection)
        return try select.step() ? Int(select.int64(0)) : 0
    }

    /// Returns the id of the newest refused write; 0 where there is none.
    func newestID() throws -> Int64 {
        let select = try connection.prepare("SELECT max(id) FROM sync_rejected")
        return try select.step() ? select.int64(0) : 0
    }

    /// Returns whether a reverted write is newer than an id or was not reported.
    func hasReverted(after id: Int64) throws -> Bool {
        let select = try connection.prepare(
            "SELECT 1 FROM sync_rejected WHERE state = 0 AND (told = 0 OR id > ?) LIMIT 1")
        select.bind(1, id)
        return try select.step()
    }

    /// Returns the collections with unreported refused writes.
    func collectionsWithUnreported() throws -> [Namespace] {
        let select = try connection.prepare(
            """
            SELECT namespace FROM sync_collections WHERE id IN
                (SELECT collection FROM sync_rejected WHERE told = 0) ORDER BY id
            """)
        var namespaces: [Namespace] = []
        while try select.step() { namespaces.append(try Namespace(parsing: select.string(0))) }
        return namespaces
    }
}
