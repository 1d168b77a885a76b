internal import BSONStore

/// The table of synced documents (`sync_documents`), in one transaction of the store.
///
/// Each row says of one document how far this device and the remote agree. It is read and written as
/// a ``SyncRecord``:
///
/// | field | column | meaning |
/// |---|---|---|
/// | `base` | `base_kind` | the document as the remote confirmed it last; `nil` before the first time |
/// | `isPending` | `pending` | the local document differs from the base, so it has to be uploaded |
/// | `isDeletedHere` | `tombstone` | the pending change is a delete |
/// | `attempt` | `attempt` | an upload that was sent and not answered yet |
/// | `discarded` | `discarded` | earlier uploads whose answer never came |
/// | `staleMark` | `hint` | greater than 0 if the remote changed the document, so it has to be fetched |
/// | `pause` | `pause` | why the document is not synced until the app resumes it |
/// | `revision` | `revision` | the number of the row's changes, by which a later one is noticed |
///
/// ```swift
/// let records = SyncRecordTable(connection: transaction.connection)
/// if var record = try records.record(of: id, in: collection) {
///     record.pause = reason
///     try records.save(record, in: collection)
/// }
/// let next = try records.records(.toUpload, in: collection, limit: 100)
/// ```
///
/// A collection is named by the number of its row in `sync_collections`. A *wanted id* was requested
/// by the app and has no record yet; it lies in `sync_wanted`.
///
/// This file has the calls, `SyncRecordTable+Columns.swift` the stored form of each column.
/// ``RecordStatements`` has the SQL that runs for each document; SQL that runs for a whole
/// collection stands where it is used.
struct SyncRecordTable {
    let connection: SQLiteConnection
    /// Whether a write throws ``StaleRevision`` if the record has changed since it was read.
    ///
    /// Records that were read before the transaction need it.
    var checksRevisions = false

    /// The error of a write to a record that changed since it was read.
    struct StaleRevision: Error {}
}

// MARK: - Find one

extension SyncRecordTable {
    /// Returns the record of a document; `nil` when its id is not synced.
    func record(of id: BSONValue, in collection: Int64) throws -> SyncRecord? {
        let select = try connection.prepare(RecordStatements.selectByKey)
        select.bind(1, collection)
        select.bind(2, keyOf: id)
        return try select.step() ? try record(select) : nil
    }

    /// Returns the record of a row, with the key under which the store keeps its document.
    func record(ofRow row: Int64) throws -> (record: SyncRecord, key: [UInt8])? {
        let select = try connection.prepare(RecordStatements.selectByRow)
        select.bind(1, row)
        return try select.step() ? (try record(select), select.bytes(Column.key)) : nil
    }

    /// Returns the stale mark of a record that is otherwise unchanged; `nil` for a changed one.
    func staleMark(ofUnchanged record: SyncRecord) throws -> Int64? {
        guard let row = record.rowID else { return nil }
        let select = try connection.prepare(RecordStatements.selectRevision)
        select.bind(1, row)
        guard try select.step(), select.int64(0) == record.revision else { return nil }
        return select.int64(1)
    }

    /// Returns the stale mark of a key's record; `nil` without a record.
    func staleMark(ofKey key: [UInt8], in collection: Int64) throws -> Int64? {
        let select = try connection.prepare(RecordStatements.selectStaleMark)
        select.bind(1, collection)
        select.bind(2, key)
        return try select.step() ? select.int64(0) : nil
    }
}

// MARK: - Find many

extension SyncRecordTable {
    /// Returns selected records after a row, in row order.
    ///
    /// Selections with an index of their own are those of a pass, which needs the bases; only they
    /// read them.
    ///
    /// - Parameter bytesMax: the number of bytes of bases after which the list ends.
    func records(
        _ selection: RecordSelection, in collection: Int64, after row: Int64 = 0, limit: Int,
        bytesMax: Int = .max
    ) throws -> [SyncRecord] {
        let select = try connection.prepare(RecordStatements.select(selection))
        select.bind(1, collection)
        select.bind(2, row)
        select.bind(3, Int64(limit))
        // A list that ends before its last row would keep the statement, and its snapshot, open.
        defer { select.reset() }
        var records: [SyncRecord] = []
        var byteCount = 0
        var last = row
        while byteCount < bytesMax, try select.step() {
            let found = try record(select, base: selection.isIndexed ? .base : nil)
            // A damaged index may return rows repeatedly, or rows that do not belong to it.
            guard let next = found.rowID, next > last, selection.mayHold(found) else {
                throw SyncError.disordered("sync_documents")
            }
            last = next
            byteCount += found.storedBase?.byteCount ?? 0
            records.append(found)
        }
        return records
    }

    /// Returns the ids of selected documents, in row order, and then the wanted ids that will become
    /// such documents.
    ///
    /// Attempts that were stored together as one batch are missing here, since a batch lists no ids;
    /// ``count(_:in:)`` counts them.
    func documentIDs(_ selection: RecordSelection, in collection: Int64) throws -> [BSONValue] {
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
        guard selection.includesWantedIDs else { return ids }
        return ids + (try WantedIDTable(connection: connection).rows(in: collection).flatMap(\.ids))
    }

    /// Returns the ids of documents whose version field at the remote has a form that this library
    /// does not write, in row order.
    ///
    /// O(n) of the collection's records.
    func foreignVersionIDs(in collection: Int64) throws -> [BSONValue] {
        let select = try connection.prepare(RecordStatements.selectForeignVersions)
        select.bind(1, collection)
        var ids: [BSONValue] = []
        while try select.step() {
            guard case .foreign = try Self.version(select, IDColumn.version) else { continue }
            ids.append(try Self.documentID(select, IDColumn.documentID, key: IDColumn.key))
        }
        return ids
    }
}

// MARK: - Count

extension SyncRecordTable {
    /// Returns the number of selected records, and of wanted ids that will become such records.
    ///
    /// To fetch are also the documents of a batch of attempts, to see whether they arrived.
    func count(_ selection: RecordSelection, in collection: Int64) throws -> Int {
        var count = try number(
            "SELECT count(*) FROM sync_documents WHERE collection = ? AND \(selection.condition)",
            in: collection)
        if selection.includesWantedIDs {
            count += try number(
                "SELECT total(count) FROM sync_wanted WHERE collection = ?", in: collection)
        }
        if selection == .toFetch {
            count += try number(
                "SELECT total(count) FROM sync_attempts WHERE collection = ?", in: collection)
        }
        return count
    }

    /// Returns the number of documents to fetch for their content, not only to settle an attempt.
    func downloadCount(in collection: Int64) throws -> Int {
        try number(
            """
            SELECT count(*) FROM sync_documents
            WHERE collection = ? AND \(RecordSelection.toFetch.condition)
                AND hint > 0 AND attempt IS NULL
            """, in: collection)
            + number("SELECT total(count) FROM sync_wanted WHERE collection = ?", in: collection)
    }

    /// Returns the number of documents that the remote has confirmed.
    func confirmedCount(in collection: Int64) throws -> Int {
        try number(
            "SELECT count(*) FROM sync_documents WHERE collection = ? AND base_kind > 0",
            in: collection)
    }

    /// What ``holds(_:in:)`` looks for.
    enum Existence: String {
        case any = "1"
        case confirmed = "base_kind > 0"
        case pending = "pending = 1"
        case confirmedOrPending = "(base_kind > 0 OR pending = 1)"
    }

    /// Whether a collection has a record of a kind.
    func holds(_ kind: Existence, in collection: Int64) throws -> Bool {
        try number(
            """
            SELECT EXISTS
                (SELECT 1 FROM sync_documents WHERE collection = ? AND \(kind.rawValue))
            """, in: collection) > 0
    }

    private func number(_ sql: String, in collection: Int64) throws -> Int {
        let select = try connection.prepare(sql)
        select.bind(1, collection)
        return try select.step() ? Int(select.int64(0)) : 0
    }

    /// Returns numbers that change when there is new work, even from another process: when records
    /// became pending or stale, or ids were requested.
    ///
    /// Of stale records only the newest mark counts. Their revisions grow without new work, too:
    /// each pass stores a conflict that waits for a handler again.
    func workSignature() throws -> [Int64] {
        try RecordStatements.selectWork.flatMap { sql in
            let select = try connection.prepare(sql)
            return try select.step() ? [select.int64(0), select.int64(1)] : []
        }
    }
}

// MARK: - Save

extension SyncRecordTable {
    /// Stores a record with its next revision and returns the stored one.
    ///
    /// - Throws: ``StaleRevision`` if the table checks revisions and the record has changed.
    @discardableResult
    func save(_ record: SyncRecord, in collection: Int64) throws -> SyncRecord {
        var record = record
        Self.removeTraces(from: &record)
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
        record.noteStored()
        return record
    }

    /// Removes what only a pending change needs from a record without one.
    private static func removeTraces(from record: inout SyncRecord) {
        guard !record.isPending else { return }
        // Base and local document are equal now. So only pending records have a stored base, and
        // without pending records the table of bases may be emptied.
        if case .stored = record.base { record.base = .sameAsLocal }
        // An earlier delete whose answer never came may still arrive, and has to be known as ours.
        if record.discarded.isEmpty { record.isDeletedHere = false }
    }

    private func insert(_ record: SyncRecord, in collection: Int64) throws -> Int64 {
        let insert = try connection.prepare(RecordStatements.insert)
        Self.bindChanging(record, to: insert)
        insert.bind(Column.collection, collection)
        insert.bind(Column.key, keyOf: record.documentID)
        Self.bind(documentID: record.documentID, to: insert, Column.documentID.parameter)
        insert.bind(Column.reason, record.reason.rawValue)
        try insert.run()
        return connection.lastInsertedRowID
    }

    /// Writes as few columns as possible: an indexed one makes SQLite change its index, too.
    private func update(_ record: SyncRecord, row: Int64) throws {
        switch record.indexedChange {
        case .same:
            let update = try connection.prepare(RecordStatements.updateUnindexed)
            Self.bindUnindexed(record, to: update)
            try run(update, row: row, expecting: record.revision - 1)
        case .onlyPending:
            let update = try connection.prepare(RecordStatements.updatePending)
            Self.bindUnindexed(record, to: update)
            update.bind(Column.pending, record.isPending ? 1 : 0)
            try run(update, row: row, expecting: record.revision - 1)
        case .different:
            let update = try connection.prepare(RecordStatements.updateChanging)
            Self.bindChanging(record, to: update)
            try run(update, row: row, expecting: record.revision - 1)
        }
    }

    /// Runs a statement that changes a row.
    ///
    /// If the table checks revisions, it changes the row only at the expected one; the SQL takes
    /// null for "at any".
    private func run(
        _ change: borrowing SQLiteStatement, row: Int64, expecting revision: Int64
    ) throws {
        change.bind(Column.id, row)
        if checksRevisions {
            change.bind(RecordStatements.expectedRevision, revision)
        } else {
            change.bindNull(RecordStatements.expectedRevision)
        }
        try change.run()
        if checksRevisions && connection.changedRowCount == 0 { throw StaleRevision() }
    }

    /// Stores why a document is synced, without a new revision.
    func setReason(_ reason: SyncReason, ofRow row: Int64) throws {
        try run(RecordStatements.updateReason, reason.rawValue, row)
    }

    /// Stores a stale mark, without a new revision.
    func setStale(row: Int64, to mark: Int64) throws {
        try run(RecordStatements.updateStaleMark, mark, row)
    }

    /// Runs a statement with integer parameters.
    private func run(_ sql: FixedStatement, _ first: Int64, _ second: Int64? = nil) throws {
        let statement = try connection.prepare(sql)
        statement.bind(1, first)
        if let second { statement.bind(2, second) }
        try statement.run()
    }
}

// MARK: - Bases

extension SyncRecordTable {
    /// Stores a base in a table of its own (`sync_bases`), since records are written more often.
    private func saveBase(_ record: inout SyncRecord, row: Int64) throws {
        if case .stored(let base) = record.base {
            if record.storedBase == base { return }
            let insert = try connection.prepare(RecordStatements.insertBase)
            insert.bind(1, row)
            insert.bind(2, base)
            try insert.run()
            record.storedBase = base
        } else if record.storedBase != nil {
            try run(RecordStatements.deleteBase, row)
            record.storedBase = nil
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
        for row in rows { try run(RecordStatements.deleteStaleBase, row) }
    }
}

// MARK: - Remove

extension SyncRecordTable {
    /// Removes a record; its id is no longer synced.
    ///
    /// - Throws: ``StaleRevision`` if the table checks revisions and the record has changed.
    func remove(_ record: SyncRecord) throws {
        guard let row = record.rowID else { return }
        let delete = try connection.prepare(RecordStatements.delete)
        try run(delete, row: row, expecting: record.revision)
        // The base is removed even if it is no longer needed.
        try run(RecordStatements.deleteBase, row)
        // A later record may get the row's number, and must not look older than a subscription.
        try run(RecordStatements.deleteEarlier, row)
    }
}
