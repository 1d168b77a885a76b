internal import BSONStore

/// The table of sync records in one transaction of the store.
struct SyncRecordTable {
    let connection: SQLiteConnection
    /// Whether records were read before the transaction, so that each write checks the revision.
    var trusts = false

    /// The error of a write to a record that changed since it was read.
    struct StaleRevision: Error {}

    private static let columns = Column.selected.map(\.sql).joined(separator: ", ")

    private static let selectByKey = FixedStatement(
        "SELECT \(columns) FROM sync_documents WHERE collection = ?1 AND key = ?2")
    private static let selectByRow = FixedStatement(
        "SELECT \(columns) FROM sync_documents WHERE id = ?1")
    /// The columns of a record's state, in the order in which ``selectState`` selects them.
    private enum StateColumn: Int32, SyncColumn {
        case revision
        case hint
    }

    private static let selectState = FixedStatement(
        "SELECT revision, hint FROM sync_documents WHERE id = ?1")
    private static let joinOfBases =
        "LEFT JOIN sync_bases ON document = CASE base_kind WHEN 2 THEN id END"
    private static let selections = Dictionary(
        uniqueKeysWithValues: Selection.allCases.map { selection in
            let (base, join) =
                selection.isIndexed ? (", \(Column.base.sql)", joinOfBases) : ("", "")
            // The index by key is not in row order: each page would sort the whole collection.
            let collection = selection.isIndexed ? "collection" : "+collection"
            return (
                selection,
                """
                SELECT \(columns)\(base) FROM sync_documents \(join)
                WHERE \(collection) = ? AND id > ? AND \(selection.rawValue) ORDER BY id LIMIT ?
                """
            )
        })

    /// Returns the stale mark of a record that is otherwise unchanged; `nil` for a changed one.
    func hint(ofUnchanged record: SyncRecord) throws -> Int64? {
        let select = try connection.prepare(Self.selectState)
        select.bind(1, record.rowID ?? 0)
        guard try select.step(), select.int64(StateColumn.revision) == record.revision else {
            return nil
        }
        return select.int64(StateColumn.hint)
    }

    /// Returns the record of a document; `nil` when its id is not synced.
    func record(_ collection: Int64, id: BSONValue) throws -> SyncRecord? {
        let select = try connection.prepare(Self.selectByKey)
        select.bind(1, collection)
        select.bind(2, keyOf: id)
        return try select.step() ? try record(select) : nil
    }

    /// Returns the record of a row with its key.
    func record(row: Int64) throws -> (record: SyncRecord, key: [UInt8])? {
        let select = try connection.prepare(Self.selectByRow)
        select.bind(1, row)
        return try select.step() ? (try record(select), select.bytes(Column.key)) : nil
    }

    /// A condition that selects records.
    enum Selection: String, CaseIterable {
        /// All records.
        case all = "1"
        /// Records with a change that can be uploaded now.
        case toSend = "pending = 1 AND pause IS NULL AND attempt IS NULL AND hint = 0"
        /// Records whose document has to be fetched.
        case toLook = "(hint > 0 OR attempt IS NOT NULL) AND pause IS NULL"
        /// Records with a pending change or an open attempt, without paused ones.
        case unsent = "(pending = 1 OR attempt IS NOT NULL) AND pause IS NULL"
        /// Records with a pending change.
        case pending = "pending = 1"
        /// Records of documents that only a query keeps on the device.
        case byQuery = "by_id = 0"
        /// Records of paused documents.
        case paused =
            "pause IS NOT NULL AND instr(pause, CAST('unexplainedAbsence' AS BLOB)) <> 15"
        /// Records of documents that are missing at the remote without evidence of a delete.
        ///
        /// Their pause always has the same bytes, which no other pause has.
        case unexplained =
            "pause IS NOT NULL AND instr(pause, CAST('unexplainedAbsence' AS BLOB)) = 15"

        /// Returns whether a record that an index returned meets the condition.
        fileprivate func holds(_ record: SyncRecord) -> Bool {
            switch self {
            case .all, .unsent, .byQuery: true
            case .toSend, .pending: record.isPending
            case .toLook: record.hint > 0 || record.attempt != nil
            case .paused: record.pause != nil
            case .unexplained: record.isUnexplained
            }
        }

        /// Whether an index returns the records in row order.
        ///
        /// Then the query reads bases, too. Otherwise it scans all rows and must not read the bases
        /// of skipped ones.
        fileprivate var isIndexed: Bool {
            switch self {
            case .toSend, .toLook, .pending, .paused, .unexplained: true
            case .all, .unsent, .byQuery: false
            }
        }
    }

    /// Returns records after a row, in row order.
    ///
    /// - Parameter bytesMax: the number of bytes of bases after which the list ends.
    func records(
        _ selection: Selection, in collection: Int64, after row: Int64 = 0, limit: Int,
        bytesMax: Int = .max
    ) throws -> [SyncRecord] {
        let select = try connection.prepare(Self.selections[selection] ?? "")
        select.bind(1, collection)
        select.bind(2, row)
        select.bind(3, Int64(limit))
        var records: [SyncRecord] = []
        let base = selection.isIndexed ? Column.base : nil
        var byteCount = 0
        var last = row
        while byteCount < bytesMax, try select.step() {
            // A damaged index may return rows repeatedly, or rows of other collections.
            let row = select.int64(Column.id)
            guard row > last else { throw Self.disordered("sync_documents") }
            last = row
            let record = try record(select, base: base)
            guard selection.holds(record) else { throw Self.disordered("sync_documents") }
            byteCount += record.keptBase?.byteCount ?? 0
            records.append(record)
        }
        select.reset()
        return records
    }

    /// Returns the ids of selected records, in row order, and of wanted ids that become such
    /// records.
    func documentIDs(_ selection: Selection, in collection: Int64) throws -> [BSONValue] {
        let select = try connection.prepare(
            """
            SELECT document_id, key FROM sync_documents
            WHERE collection = ? AND \(selection.rawValue) ORDER BY id
            """)
        select.bind(1, collection)
        var ids: [BSONValue] = []
        while try select.step() {
            ids.append(try Self.documentID(select, IDColumn.documentID, key: IDColumn.key))
        }
        switch selection {
        case .all, .toLook: ids += try wanted(in: collection).flatMap(\.ids)
        case .toSend, .unsent, .pending, .byQuery, .paused, .unexplained: break
        }
        return ids
    }

    /// Returns numbers that change with each change of the pending or stale records, by any
    /// process.
    ///
    /// Each pass stores a waiting conflict again with its old stale mark, so that stale records are
    /// represented by the newest mark.
    func workSignature() throws -> [Int64] {
        try numbers(
            """
            SELECT count(*), total(revision & 16777215) FROM sync_documents
            WHERE \(Selection.toSend.rawValue)
            """)
            + numbers(
                """
                SELECT count(*), max(hint & 2305843009213693951) FROM sync_documents
                WHERE \(Selection.toLook.rawValue)
                """) + numbers("SELECT count(*), max(id) FROM sync_wanted")
    }

    private func numbers(_ sql: String) throws -> [Int64] {
        let select = try connection.prepare(sql)
        return try select.step() ? [select.int64(0), select.int64(1)] : []
    }

    /// Returns the number of selected records, including wanted ids that become such records.
    func count(_ selection: Selection, in collection: Int64) throws -> Int {
        let select = try connection.prepare(
            "SELECT count(*) FROM sync_documents WHERE collection = ? AND \(selection.rawValue)")
        select.bind(1, collection)
        let count = try select.step() ? Int(select.int64(0)) : 0
        switch selection {
        case .all: return try count + countOf("sync_wanted", in: collection)
        case .toLook:
            return try count + countOf("sync_wanted", in: collection)
                + countOf("sync_attempts", in: collection)
        case .toSend, .unsent, .pending, .byQuery, .paused, .unexplained: return count
        }
    }

    /// Returns the stale mark of a key's record; `nil` without a record.
    func hint(ofKey key: [UInt8], in collection: Int64) throws -> Int64? {
        let select = try connection.prepare(
            "SELECT hint FROM sync_documents WHERE collection = ? AND key = ?")
        select.bind(1, collection)
        select.bind(2, key)
        return try select.step() ? select.int64(0) : nil
    }

    /// Returns the number of documents to fetch for their content, not only to settle an attempt.
    func downloadCount(in collection: Int64) throws -> Int {
        let select = try connection.prepare(
            """
            SELECT count(*) FROM sync_documents
            WHERE collection = ? AND \(Selection.toLook.rawValue)
                AND hint > 0 AND attempt IS NULL
            """)
        select.bind(1, collection)
        let count = try select.step() ? Int(select.int64(0)) : 0
        return try count + countOf("sync_wanted", in: collection)
    }

    private func countOf(_ table: String, in collection: Int64) throws -> Int {
        let select = try connection.prepare(
            "SELECT total(count) FROM \(table) WHERE collection = ?")
        select.bind(1, collection)
        return try select.step() ? Int(select.int64(0)) : 0
    }

    /// Stores a record with its next revision and returns the stored one.
    @discardableResult
    func save(_ record: SyncRecord, in collection: Int64) throws -> SyncRecord {
        var record = record
        // Without a pending change, base and local document are equal. Each needed base therefore
        // has a pending record, on which ``removeStaleBases(of:)`` relies.
        if !record.isPending, case .stored = record.base { record.base = .sameAsLocal }
        if !record.isPending, record.discarded.isEmpty { record.isDeletedHere = false }
        record.revision += 1
        let row: Int64
        if let known = record.rowID {
            row = known
            try update(record, row: row)
        } else {
            row = try insert(record, in: collection)
            record.rowID = row
        }
        try saveBase(&record, row: row)
        record.noteKept()
        return record
    }

    /// Stores a base in a table of its own, since records are written more often.
    private func saveBase(_ record: inout SyncRecord, row: Int64) throws {
        if case .stored(let base) = record.base {
            if record.keptBase == base { return }
            let insert = try connection.prepare(Self.insertBase)
            insert.bind(1, row)
            insert.bind(2, base)
            try insert.run()
            record.keptBase = base
        } else if record.keptBase != nil {
            try run(Self.deleteBase, row)
            record.keptBase = nil
        }
    }

    /// Removes stored bases that are no longer needed.
    ///
    /// If no record of the store is pending, SQLite truncates the table without writing each page.
    /// Otherwise bases are removed one by one, except those that were stored again meanwhile.
    func removeStaleBases(of rows: [Int64]) throws {
        guard !rows.isEmpty else { return }
        if try connection.int64("SELECT 1 FROM sync_documents WHERE pending = 1 LIMIT 1") == nil {
            return try connection.execute("DELETE FROM sync_bases")
        }
        for row in rows { try run(Self.deleteStaleBase, row) }
    }

    private static let deleteStaleBase = FixedStatement(
        """
        DELETE FROM sync_bases WHERE document = ?1
            AND (SELECT base_kind FROM sync_documents WHERE id = ?1) IS NOT 2
        """)
    private static let insertBase = FixedStatement(
        "INSERT OR REPLACE INTO sync_bases VALUES (?1, ?2)")
    private static let deleteBase = FixedStatement("DELETE FROM sync_bases WHERE document = ?1")
    private static let deleteEarlier = FixedStatement(
        "DELETE FROM sync_earlier WHERE document = ?1")
    private static let insertRecord = FixedStatement(
        """
        INSERT INTO sync_documents(\(Column.inserted.map(\.sql).joined(separator: ", ")))
        VALUES (\(Column.inserted.map { "?\($0.parameter)" }.joined(separator: ", ")))
        """)
    private static let updateUnindexed = FixedStatement(update(of: Column.unindexed))
    private static let updatePending = FixedStatement(update(of: Column.unindexed + [.pending]))
    private static let updateChanging = FixedStatement(update(of: Column.changing))
    private static let deleteRecord = FixedStatement("DELETE FROM sync_documents \(whereExpected)")

    /// The condition of one row, with the expected revision if there is one.
    private static let whereExpected =
        """
        WHERE id = ?\(Column.id.parameter)
            AND (?\(Column.expectedRevision) IS NULL OR revision = ?\(Column.expectedRevision))
        """

    private static func update(of columns: [Column]) -> String {
        """
        UPDATE sync_documents
        SET \(columns.map { "\($0.sql) = ?\($0.parameter)" }.joined(separator: ", "))
        \(whereExpected)
        """
    }

    private func insert(_ record: SyncRecord, in collection: Int64) throws -> Int64 {
        let insert = try connection.prepare(Self.insertRecord)
        Self.bindChanging(record, to: insert)
        insert.bind(Column.collection, collection)
        insert.bind(Column.key, keyOf: record.documentID)
        Self.bind(documentID: record.documentID, to: insert, Column.documentID.parameter)
        insert.bind(Column.byID, record.claim)
        try insert.run()
        return connection.lastInsertedRowID
    }

    private func update(_ record: SyncRecord, row: Int64) throws {
        switch record.listing {
        case .same:
            // No indexed field changes, so that SQLite updates no index.
            let update = try connection.prepare(Self.updateUnindexed)
            Self.bindUnindexed(record, to: update)
            try run(update, row: row, expecting: record.revision - 1)
        case .samePendingApart:
            let update = try connection.prepare(Self.updatePending)
            Self.bindUnindexed(record, to: update)
            update.bind(Column.pending, record.isPending ? 1 : 0)
            try run(update, row: row, expecting: record.revision - 1)
        case .different:
            let update = try connection.prepare(Self.updateChanging)
            Self.bindChanging(record, to: update)
            try run(update, row: row, expecting: record.revision - 1)
        }
    }

    /// Runs a statement with the condition ``whereExpected``.
    ///
    /// - Throws: ``StaleRevision`` where the table trusts its records and this one has changed.
    private func run(
        _ change: borrowing SQLiteStatement, row: Int64, expecting revision: Int64
    ) throws {
        change.bind(Column.id, row)
        if trusts {
            change.bind(Column.expectedRevision, revision)
        } else {
            change.bindNull(Column.expectedRevision)
        }
        try change.run()
        if trusts && connection.changedRowCount == 0 { throw StaleRevision() }
    }

    /// Removes a record; its id is no longer synced.
    func remove(_ record: SyncRecord) throws {
        guard let row = record.rowID else { return }
        let delete = try connection.prepare(Self.deleteRecord)
        try run(delete, row: row, expecting: record.revision)
        // The base is removed even if it is no longer needed.
        try run(Self.deleteBase, row)
        // The row's number may be reused for a write after the pending sets.
        try run(Self.deleteEarlier, row)
    }

    /// Stores whether the app requested the id or only queries keep the document, without a new
    /// revision.
    func setClaim(row: Int64, byID isByID: Bool) throws {
        let update = try connection.prepare("UPDATE sync_documents SET by_id = ? WHERE id = ?")
        update.bind(1, isByID ? SyncRecord.requestedByApp : 0)
        update.bind(2, row)
        try update.run()
    }

    private static let updateHint = FixedStatement(
        "UPDATE sync_documents SET hint = ?1 WHERE id = ?2")

    /// Stores a stale mark, without a new revision.
    func setStale(row: Int64, to hint: Int64) throws { try run(Self.updateHint, hint, row) }

    /// Runs a statement with integer parameters.
    private func run(_ sql: FixedStatement, _ first: Int64, _ second: Int64? = nil) throws {
        let statement = try connection.prepare(sql)
        statement.bind(1, first)
        if let second { statement.bind(2, second) }
        try statement.run()
    }
}
