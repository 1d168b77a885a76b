internal import BSONStore

/// The device's journal of what happened to each document (`sync_history`), in one transaction.
///
/// A row holds the entries of one transaction and collection. Its number is the number of its last
/// entry, and `bytes` the number of bytes of all rows up to it, so that the limits need no scan.
struct HistoryTable {
    let connection: SQLiteConnection

    private static let selectEdges = FixedStatement(
        """
        SELECT newest.id, newest.bytes, oldest.id, oldest.bytes FROM
            (SELECT id, bytes FROM sync_history ORDER BY id DESC LIMIT 1) AS newest,
            (SELECT id, bytes FROM sync_history ORDER BY id LIMIT 1) AS oldest
        """)
    private static let insertRow = FixedStatement(
        """
        INSERT INTO sync_history(id, bytes, collection, at, entries) VALUES (?1, ?2, ?3, ?4, ?5)
        """)

    private static let insertFields = FixedStatement(
        """
        INSERT INTO sync_history_fields(entry, collection, key, fields) VALUES (?1, ?2, ?3, ?4)
        """)
    private static let deleteFields = FixedStatement(
        "DELETE FROM sync_history_fields WHERE collection = ?1 AND key = ?2")
    /// A number above that of the entries in one row.
    private static let rowEntriesMax = 8_192

    /// Removes the fields of conflicts of a document that leaves the device.
    func forgetFields(of id: BSONValue, in collection: Int64) throws {
        let delete = try connection.prepare(Self.deleteFields)
        delete.bind(1, collection)
        delete.bind(2, keyOf: id)
        try delete.run()
    }

    private func fields(of number: Int64) throws -> BSONDocument? {
        let select = try connection.prepare(
            "SELECT fields FROM sync_history_fields WHERE entry = ?")
        select.bind(1, number)
        return try select.step() ? try select.document(at: 0, named: "fields") : nil
    }

    /// Stores the entries of a transaction, and removes the oldest ones above the limits.
    func add(
        _ buffer: HistoryBuffer, in collection: Int64, entriesMax: Int, bytesMax: Int
    ) throws {
        let rows = buffer.rows
        guard !rows.isEmpty else { return }
        let select = try connection.prepare(Self.selectEdges)
        var (newest, oldest) = ((id: Int64(0), bytes: Int64(0)), (id: Int64(0), bytes: Int64(0)))
        if try select.step() {
            newest = (select.int64(0), select.int64(1))
            oldest = (select.int64(2), select.int64(3))
        }
        select.reset()
        let before = newest.id
        let at = BSONDatetime.now.milliseconds
        for row in rows {
            newest = (newest.id + Int64(row.count), newest.bytes + Int64(row.bytes.count))
            let insert = try connection.prepare(Self.insertRow)
            insert.bind(1, newest.id)
            insert.bind(2, newest.bytes)
            insert.bind(3, collection)
            insert.bind(4, at)
            insert.bind(5, row.bytes)
            try insert.run()
        }
        for field in buffer.fields {
            let insert = try connection.prepare(Self.insertFields)
            insert.bind(1, before + Int64(field.index))
            insert.bind(2, collection)
            insert.bind(3, field.key)
            insert.bind(4, field.document)
            try insert.run()
        }
        if newest.id - oldest.id > Int64(entriesMax)
            || newest.bytes - oldest.bytes > Int64(bytesMax)
        {
            try trim(
                entriesUpTo: newest.id - Int64(entriesMax - entriesMax / 8),
                bytesUpTo: newest.bytes - Int64(bytesMax - bytesMax / 8), newest: newest.id)
        }
    }

    /// Removes an eighth of the limits at once, so that few transactions remove any.
    private func trim(entriesUpTo id: Int64, bytesUpTo bytes: Int64, newest: Int64) throws {
        let delete = try connection.prepare(
            """
            DELETE FROM sync_history WHERE id < ?3 AND (id <= ?1 OR id <
                (SELECT id FROM sync_history WHERE bytes > ?2 ORDER BY id LIMIT 1))
            """)
        delete.bind(1, id)
        delete.bind(2, bytes)
        delete.bind(3, newest)
        try delete.run()
        try connection.execute(
            """
            DELETE FROM sync_history_fields
            WHERE entry <= (SELECT id FROM sync_history ORDER BY id LIMIT 1)
                    - \(Self.rowEntriesMax)
            """)
    }

    /// Returns the newest entries of a document before a number, the oldest first.
    ///
    /// Reads all rows of the collection, which the limits bound.
    func entries(
        of id: BSONValue, in collection: Int64, before end: Int64, limit: Int
    ) throws -> [HistoryEntry] {
        // A store that this library only reads may be of a version without the table.
        let has = "SELECT 1 FROM pragma_table_info('sync_history')"
        guard limit > 0, try connection.int64(has) != nil else { return [] }
        let key = BSONKey.encode(id)
        let select = try connection.prepare(
            "SELECT id, at, entries FROM sync_history WHERE collection = ? ORDER BY id")
        select.bind(1, collection)
        var found: [HistoryEntry] = []
        var attempts = 0
        while try select.step() {
            var matches: [(index: Int64, entry: StoredHistoryEntry)] = []
            var count: Int64 = 0
            var reader = HistoryReader(select.bytes(2))
            while let (entryKey, entry) = try reader.next() {
                if entryKey.elementsEqual(key) { matches.append((count, entry)) }
                count += 1
            }
            let first = select.int64(0) - count + 1
            let time = BSONDatetime(milliseconds: select.int64(1))
            for (index, entry) in matches where first + index < end {
                let fields = try self.fields(of: first + index)
                guard let event = try HistoryEvent(entry, attempt: attempts + 1, fields: fields)
                else { continue }
                attempts = Self.attempts(after: event, attempts)
                found.append(
                    HistoryEntry(
                        number: first + index, time: time, event: event,
                        operation: entry.operation, versionBefore: entry.before,
                        versionAfter: entry.after))
            }
            if found.count > 2 * limit { found.removeFirst(found.count - limit) }
        }
        return found.suffix(limit)
    }

    /// Returns the number of attempts of one change after an event.
    private static func attempts(after event: HistoryEvent, _ attempts: Int) -> Int {
        switch event {
        case .sent: attempts + 1
        case .written, .applied, .recovered, .foundEqual, .resolved, .refused, .reverted, .received,
            .desynced:
            0
        case .unanswered, .notMatched, .notFound, .enteredView, .leftView, .paused, .resumed,
            .becameStale, .synced, .conflictWaits:
            attempts
        }
    }
}
