internal import BSONStore

extension SyncRecordTable {
    /// The rows behind one, in order.
    func wanted(
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
            guard select.int64(0) > found.last?.row ?? row else {
                throw Self.disordered("sync_wanted")
            }
            let ids = try Self.document(select, 1, "ids")["ids"]?.arrayValue
            guard let ids else { throw Self.damaged("ids") }
            found.append(
                WantedIDs(
                    row: select.int64(0), ids: ids.values, isByID: select.int64(2) != 0))
        }
        return found
    }

    /// Whether an id is among them.
    func isWanted(_ id: BSONValue, in collection: Int64) throws -> Bool {
        let key = BSONKey.encode(id)
        return try wanted(in: collection).contains { wanted in
            wanted.ids.contains { $0 == id || BSONKey.encode($0) == key }
        }
    }

    /// Keeps ids in one row, whose number no other row had before.
    func addWanted(
        _ ids: ArraySlice<BSONValue>, in collection: Int64, byID isByID: Bool = true
    ) throws {
        // Earlier versions gave the numbers of removed rows again, and took none of the hints for them.
        let insert = try connection.prepare(
            """
            INSERT INTO sync_wanted(collection, count, ids, by_id, id)
            VALUES (?, ?, ?, ?, max(?, (SELECT ifnull(max(id), 0) + 1 FROM sync_wanted)))
            """)
        insert.bind(1, collection)
        insert.bind(2, Int64(ids.count))
        insert.bind(3, Self.document(ids))
        insert.bind(4, Int64(isByID ? 1 : 0))
        insert.bind(5, try SyncStateTable(connection: connection).nextStaleMark())
        try insert.run()
    }

    /// What a row holds; a row is known again by its bytes.
    private static func document(_ ids: ArraySlice<BSONValue>) -> BSONDocument {
        ["ids": .array(BSONArray(ids))]
    }

    /// Keeps only a rest of a row's ids; `false` when the row has other ids by now, or is gone.
    func keep(_ rest: [BSONValue], of wanted: WantedIDs) throws -> Bool {
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
    func removeWanted(_ row: Int64) throws {
        let delete = try connection.prepare("DELETE FROM sync_wanted WHERE id = ?")
        delete.bind(1, row)
        try delete.run()
    }

    /// Whether a collection has a record.
    func hasRecords(in collection: Int64) throws -> Bool {
        let select = try connection.prepare(
            "SELECT 1 FROM sync_documents WHERE collection = ? LIMIT 1")
        select.bind(1, collection)
        return try select.step()
    }
}
