internal import BSONStore

/// The table of sync records in one transaction of the store.
struct SyncRecordTable {
    let connection: SQLiteConnection
    /// Whether a write throws ``StaleRevision`` if the record has changed since it was read.
    ///
    /// Records that were read before the transaction need it.
    var checksRevisions = false

    /// The error of a write to a record that changed since it was read.
    struct StaleRevision: Error {}

    private static let columns = Column.selected.map(\.sql).joined(separator: ", ")

    private static let selectByKey = FixedStatement(
        "SELECT \(columns) FROM sync_documents WHERE collection = ?1 AND key = ?2")
    private static let selectByRow = FixedStatement(
        "SELECT \(columns) FROM sync_documents WHERE id = ?1")
    private static let selectState = FixedStatement(
        "SELECT revision, hint FROM sync_documents WHERE id = ?1")
    /// The base of each record that has a stored one; the others have no row in `sync_bases`.
    private static let joinOfBases =
        """
        LEFT JOIN sync_bases ON document = CASE base_kind WHEN \(storedBaseKind) THEN id END
        """
    private static let selections = Dictionary(
        uniqueKeysWithValues: Selection.allCases.map { selection in
            let (base, join) =
                selection.isIndexed ? (", \(Column.base.sql)", joinOfBases) : ("", "")
            // The plus sign keeps SQLite from using the index by key, which is not in row order:
            // each page would sort the whole collection.
            let collection = selection.isIndexed ? "collection" : "+collection"
            return (
                selection,
                """
                SELECT \(columns)\(base) FROM sync_documents \(join)
                WHERE \(collection) = ? AND id > ? AND \(selection.condition) ORDER BY id LIMIT ?
                """
            )
        })

    /// The columns of a record's state, in the order in which ``selectState`` selects them.
    private enum StateColumn: Int32, SyncColumn {
        case revision
        case staleMark
    }

    /// Returns the stale mark of a record that is otherwise unchanged; `nil` for a changed one.
    func staleMark(ofUnchanged record: SyncRecord) throws -> Int64? {
        guard let row = record.rowID else { return nil }
        let select = try connection.prepare(Self.selectState)
        select.bind(1, row)
        guard try select.step(), select.int64(StateColumn.revision) == record.revision else {
            return nil
        }
        return select.int64(StateColumn.staleMark)
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
    enum Selection: CaseIterable {
        /// All records.
        case all
        /// Records with a change that can be uploaded now.
        ///
        /// The column `hint` holds the stale mark.
        case toSend
        /// Records whose document has to be fetched.
        case toLook
        /// Records with a pending change or an open attempt, without paused ones.
        case unsent
        /// Records with a pending change.
        case pending
        /// Records of documents that only a query keeps on the device.
        case byQuery
        /// Records of paused documents.
        case paused
        /// Records of documents that are missing at the remote without evidence of a delete.
        case unexplained

        /// The condition in SQL, of which some are those of the table's partial indexes.
        fileprivate var condition: String {
            switch self {
            case .all: "1"
            case .toSend: "pending = 1 AND pause IS NULL AND attempt IS NULL AND hint = 0"
            case .toLook: "(hint > 0 OR attempt IS NOT NULL) AND pause IS NULL"
            case .unsent: "(pending = 1 OR attempt IS NOT NULL) AND pause IS NULL"
            case .pending: "pending = 1"
            case .byQuery: "by_id = 0"
            case .paused: "pause IS NOT NULL AND NOT \(Self.pauseIsUnexplained)"
            case .unexplained: "pause IS NOT NULL AND \(Self.pauseIsUnexplained)"
            }
        }

        /// A pause is a BSON document that begins with the text field `code`.
        ///
        /// Before the text are the document's length (4 bytes), the type (1), the name with its
        /// end (5) and the text's length (4); SQLite counts bytes from 1. No other code begins with
        /// this one.
        private static let pauseIsUnexplained =
            "instr(pause, CAST('\(SyncError.Code.unexplainedAbsence.rawValue)' AS BLOB)) = 15"

        /// Whether a record may meet the condition, by the fields that are cheap to test.
        ///
        /// A record that an index returned and that cannot meet the condition shows damage.
        fileprivate func mayHold(_ record: SyncRecord) -> Bool {
            switch self {
            case .all, .unsent, .byQuery: true
            case .toSend, .pending: record.isPending
            case .toLook: record.staleMark > 0 || record.attempt != nil
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
    /// - Parameter bytesMax: the number of bytes of bases after which the list ends; selections
    ///   without an index read no bases.
    func records(
        _ selection: Selection, in collection: Int64, after row: Int64 = 0, limit: Int,
        bytesMax: Int = .max
    ) throws -> [SyncRecord] {
        guard let sql = Self.selections[selection] else {
            preconditionFailure("every selection has a statement")
        }
        let select = try connection.prepare(sql)
        select.bind(1, collection)
        select.bind(2, row)
        select.bind(3, Int64(limit))
        var records: [SyncRecord] = []
        let base = selection.isIndexed ? Column.base : nil
        var byteCount = 0
        var last = row
        // A list that ended before its last row would keep the statement, and its snapshot, open.
        defer { select.reset() }
        while byteCount < bytesMax, try select.step() {
            // A damaged index may return rows repeatedly, or rows that do not belong to it.
            let next = select.int64(Column.id)
            guard next > last else { throw Self.disordered("sync_documents") }
            last = next
            let record = try record(select, base: base)
            guard selection.mayHold(record) else { throw Self.disordered("sync_documents") }
            byteCount += record.keptBase?.byteCount ?? 0
            records.append(record)
        }
        return records
    }

    /// Returns the ids of selected records, in row order, and of wanted ids that become such
    /// records.
    ///
    /// Attempts without a record have no id here; ``count(_:in:)`` counts them.
    func documentIDs(_ selection: Selection, in collection: Int64) throws -> [BSONValue] {
        let select = try connection.prepare(
            """
            SELECT document_id, key FROM sync_documents
            WHERE collection = ? AND \(selection.condition) ORDER BY id
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

    /// Returns a value that changes when there is new work, even from another process: when records
    /// became pending or stale, or ids were requested.
    ///
    /// A pass stores a waiting conflict again and again, with another revision but with the same
    /// stale mark. So the newest mark stands for the stale records, and their revisions do not
    /// count.
    func workSignature() throws -> [Int64] {
        try numbers(
            """
            SELECT count(*), total(revision & \(Self.revisionMask)) FROM sync_documents
            WHERE \(Selection.toSend.condition)
            """)
            + numbers(
                """
                SELECT count(*), max(hint & \(AbsenceCause.numberBits)) FROM sync_documents
                WHERE \(Selection.toLook.condition)
                """) + numbers("SELECT count(*), max(id) FROM sync_wanted")
    }

    /// The bits of a revision that a record's own writes change; a sum of them does not overflow.
    private static let revisionMask = (1 << SyncRecord.revisionBits) - 1

    private func numbers(_ sql: String) throws -> [Int64] {
        let select = try connection.prepare(sql)
        return try select.step() ? [select.int64(0), select.int64(1)] : []
    }

    /// Returns the number of selected records, including wanted ids that become such records, and
    /// attempts without a record that have to be settled.
    func count(_ selection: Selection, in collection: Int64) throws -> Int {
        let select = try connection.prepare(
            "SELECT count(*) FROM sync_documents WHERE collection = ? AND \(selection.condition)")
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
    func staleMark(ofKey key: [UInt8], in collection: Int64) throws -> Int64? {
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
            WHERE collection = ? AND \(Selection.toLook.condition)
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
            AND (SELECT base_kind FROM sync_documents WHERE id = ?1) IS NOT \(storedBaseKind)
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
    /// - Throws: ``StaleRevision`` if the table checks revisions and this record has changed.
    private func run(
        _ change: borrowing SQLiteStatement, row: Int64, expecting revision: Int64
    ) throws {
        change.bind(Column.id, row)
        if checksRevisions {
            change.bind(Column.expectedRevision, revision)
        } else {
            change.bindNull(Column.expectedRevision)
        }
        try change.run()
        if checksRevisions && connection.changedRowCount == 0 { throw StaleRevision() }
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

    private static let updateStaleMark = FixedStatement(
        "UPDATE sync_documents SET hint = ?1 WHERE id = ?2")

    /// Stores a stale mark, without a new revision.
    func setStale(row: Int64, to mark: Int64) throws { try run(Self.updateStaleMark, mark, row) }

    /// Runs a statement with integer parameters.
    private func run(_ sql: FixedStatement, _ first: Int64, _ second: Int64? = nil) throws {
        let statement = try connection.prepare(sql)
        statement.bind(1, first)
        if let second { statement.bind(2, second) }
        try statement.run()
    }
}
