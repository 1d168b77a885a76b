internal import BSONStore

/// The table of ids to fetch that have no record yet (`sync_wanted`): many ids in one row.
struct WantedIDTable {
    let connection: SQLiteConnection

    /// The columns of wanted ids, in the order in which statements select them.
    private enum Column: Int32, SyncColumn {
        case id
        case ids
        case byID
        /// Only written and compared.
        case collection
        /// The number of ids; only written.
        case count
    }

    /// Returns the rows of wanted ids after a row, in order.
    func rows(
        in collection: Int64, after row: Int64 = 0, limit: Int = .max
    ) throws -> [WantedIDs] {
        let select = try connection.prepare(
            """
            SELECT id, ids, by_id FROM sync_wanted
            WHERE collection = ? AND id > ? ORDER BY id LIMIT ?
            """)
        select.bind(1, collection)
        select.bind(2, row)
        select.bind(3, Int64(limit))
        var found: [WantedIDs] = []
        while try select.step() {
            let id = select.int64(Column.id)
            guard id > found.last?.row ?? row else { throw SyncError.disordered("sync_wanted") }
            let ids = try select.document(Column.ids, named: "ids")["ids"]?.arrayValue
            guard let ids else { throw SyncError.unreadable("ids") }
            found.append(
                WantedIDs(
                    row: id, ids: ids.values, isByID: select.int64(Column.byID) != 0))
        }
        return found
    }

    /// Returns whether an id is among the wanted ones.
    func contains(_ id: BSONValue, in collection: Int64) throws -> Bool {
        let key = BSONKey.encode(id)
        return try rows(in: collection).contains { wanted in
            wanted.ids.contains { $0 == id || BSONKey.encode($0) == key }
        }
    }

    /// Stores ids in one row, whose number no row had before.
    func add(
        _ ids: ArraySlice<BSONValue>, in collection: Int64, byID isByID: Bool = true
    ) throws {
        // Earlier versions reused the numbers of removed rows and did not take them from stale
        // marks.
        let insert = try connection.prepare(
            """
            INSERT INTO sync_wanted(id, ids, by_id, collection, count)
            VALUES (max(?1, (SELECT ifnull(max(id), 0) + 1 FROM sync_wanted)), ?2, ?3, ?4, ?5)
            """)
        insert.bind(Column.collection, collection)
        insert.bind(Column.count, Int64(ids.count))
        insert.bind(Column.ids, Self.document(ids))
        insert.bind(Column.byID, isByID ? 1 : 0)
        insert.bind(
            Column.id, try SyncInstanceTable(connection: connection).nextTransactionNumber())
        try insert.run()
    }

    /// Returns the stored form of ids, by whose bytes a row is recognized.
    private static func document(_ ids: ArraySlice<BSONValue>) -> BSONDocument {
        ["ids": .array(BSONArray(ids))]
    }

    /// Replaces a row's ids by the rest; returns `false` when the row has changed or was removed.
    func replace(_ wanted: WantedIDs, by rest: [BSONValue]) throws -> Bool {
        let ids = Self.document(wanted.ids[...])
        if rest.isEmpty {
            let delete = try connection.prepare("DELETE FROM sync_wanted WHERE id = ? AND ids = ?")
            delete.bind(1, wanted.row)
            delete.bind(2, ids)
            try delete.run()
        } else {
            let update = try connection.prepare(
                "UPDATE sync_wanted SET ids = ?, count = ? WHERE id = ? AND ids = ?")
            update.bind(1, Self.document(rest[...]))
            update.bind(2, Int64(rest.count))
            update.bind(3, wanted.row)
            update.bind(4, ids)
            try update.run()
        }
        return connection.changedRowCount == 1
    }

    /// Removes a row.
    func remove(row: Int64) throws {
        let delete = try connection.prepare("DELETE FROM sync_wanted WHERE id = ?")
        delete.bind(1, row)
        try delete.run()
    }
}
