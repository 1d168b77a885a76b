internal import BSONStore

/// The table of synced documents (`sync_documents`), in one transaction of the store.
///
/// Each row says of one document how far this device and the remote agree. It is read and written as
/// a ``SyncRecord``:
///
/// | field | column | meaning |
/// |---|---|---|
/// | `reason` | `by_id` | why the document is synced: by the app's request, its write, or a query |
/// | `base` | `base_kind` | the document as the remote confirmed it last; `nil` before the first time |
/// | `version` | `version` | the version field that the base had at the remote |
/// | `isPending` | `pending` | the local document differs from the base, so it has to be uploaded |
/// | `isDeletedHere` | `tombstone` | the pending change, or a discarded upload, is a delete |
/// | `attempt` | `attempt` | an upload that was sent and not answered yet |
/// | `discarded` | `discarded` | earlier uploads whose answer never came |
/// | `failures` | `failures` | the number of uploads that failed in a row |
/// | `staleMark` | `hint` | greater than 0 if the remote changed the document, so it has to be fetched |
/// | `pause` | `pause` | why the document is not synced until the app resumes it |
/// | `revision` | `revision` | grows with each save, so that an outdated decision is noticed |
///
/// ```swift
/// let records = SyncRecordTable(connection: transaction.connection)
/// if var record = try records.record(of: id, in: collection) {
///     record.pause = reason
///     record = try records.save(record, in: collection)  // with its next revision
/// }
/// let next = try records.page(of: .toUpload, in: collection, limit: 100)
/// ```
///
/// A collection is named by the number of its row in `sync_collections`. A *wanted id* was requested
/// by the app and has no record yet; it lies in `sync_wanted`.
///
/// `SyncRecordTable+Columns.swift` has the columns, their stored form and conditions on them.
/// ``RecordStatements`` has the SQL that runs for each document; SQL that runs for a whole
/// collection stands where it is used.
struct SyncRecordTable {
    fileprivate typealias SQL = RecordStatements

    let connection: SQLiteConnection
    /// Whether a write throws ``OutdatedRevision`` if the record was saved since it was read.
    ///
    /// Records that were read before the transaction need it.
    var checksRevisions = false

    /// The error of a write to a record that was removed, or saved again, since it was read.
    struct OutdatedRevision: Error {}
}

// MARK: - Find one

extension SyncRecordTable {
    /// Returns the record of a document; `nil` when its id is not synced.
    func record(of id: BSONValue, in collection: Int64) throws -> SyncRecord? {
        let select = try connection.prepare(SQL.selectByKey)
        select.bind(Column.collection, collection)
        select.bind(Column.key, keyOf: id)
        return try select.step() ? try decode(select) : nil
    }

    /// Returns the record in a row, with the key under which the store keeps its document.
    func entry(inRow row: Int64) throws -> (record: SyncRecord, key: [UInt8])? {
        let select = try connection.prepare(SQL.selectByRow)
        select.bind(Column.id, row)
        return try select.step() ? (try decode(select), select.bytes(Column.key)) : nil
    }

    /// Returns the stale mark of a record that was not saved since it was read; `nil` for others.
    func staleMark(ofUnchanged record: SyncRecord) throws -> Int64? {
        guard let row = record.rowID else { return nil }
        let select = try connection.prepare(SQL.selectRevision)
        select.bind(Column.id, row)
        guard try select.step(), select.int64(0) == record.revision else { return nil }
        return select.int64(1)
    }

    /// Returns the stale mark of a key's record; `nil` without a record.
    func staleMark(ofKey key: [UInt8], in collection: Int64) throws -> Int64? {
        let select = try connection.prepare(SQL.selectStaleMark)
        select.bind(Column.collection, collection)
        select.bind(Column.key.parameter, key)
        return try select.step() ? select.int64(0) : nil
    }
}

// MARK: - Find many

extension SyncRecordTable {
    /// Returns the next selected records after a row, in row order.
    ///
    /// - Parameter bytesMax: the number of bytes of bases after which the page ends.
    func page(
        of selection: RecordSelection, in collection: Int64, after row: Int64 = 0, limit: Int,
        bytesMax: Int = .max
    ) throws -> [SyncRecord] {
        let select = try connection.prepare(SQL.select(selection))
        select.bind(Column.collection, collection)
        select.bind(Column.id, row)
        select.bind(SQL.pageSize, Int64(limit))
        var page: [SyncRecord] = []
        var byteCount = 0
        var last = row
        while byteCount < bytesMax, try select.step() {
            let found = try decode(select, base: selection.joinsBases ? .base : nil)
            // A damaged index may return rows repeatedly, or rows that do not belong to it.
            guard let next = found.rowID, next > last, selection.mayHold(found) else {
                throw SyncError.disordered("sync_documents")
            }
            last = next
            byteCount += found.storedBase?.byteCount ?? 0
            page.append(found)
        }
        return page
    }

    /// Returns the ids of selected documents, in row order, and then the wanted ids that will become
    /// such documents.
    func documentIDs(_ selection: RecordSelection, in collection: Int64) throws -> [BSONValue] {
        let select = try connection.prepare(
            """
            SELECT document_id, key FROM sync_documents
            WHERE \(SQL.isInCollection) AND \(selection.condition) ORDER BY id
            """)
        select.bind(Column.collection, collection)
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
        let select = try connection.prepare(SQL.selectForeignVersions)
        select.bind(Column.collection, collection)
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
    /// Uploads that were sent together and not answered are stored as one batch (`sync_attempts`).
    /// A pass fetches their documents, to see whether they arrived, so `.toFetch` counts them.
    /// ``documentIDs(_:in:)`` does not list them, since a batch stores no ids.
    func count(_ selection: RecordSelection, in collection: Int64) throws -> Int {
        var count = try integer(
            "count(*) FROM sync_documents", in: collection, where: selection.condition)
        if selection.includesWantedIDs {
            count += try integer("total(count) FROM sync_wanted", in: collection)
        }
        if selection == .toFetch {
            count += try integer("total(count) FROM sync_attempts", in: collection)
        }
        return count
    }

    private func integer(
        _ valueAndTable: String, in collection: Int64, where condition: String = "1"
    ) throws -> Int {
        let select = try connection.prepare(
            "SELECT \(valueAndTable) WHERE \(SQL.isInCollection) AND \(condition)")
        select.bind(Column.collection, collection)
        return try select.step() ? Int(select.int64(0)) : 0
    }

    /// Whether a collection has a selected record; wanted ids do not count.
    func holds(_ selection: RecordSelection, in collection: Int64) throws -> Bool {
        let select = try connection.prepare(
            """
            SELECT 1 FROM sync_documents
            WHERE \(SQL.isInCollection) AND \(selection.condition) LIMIT 1
            """)
        select.bind(Column.collection, collection)
        return try select.step()
    }
}

// MARK: - Notice new work

extension SyncRecordTable {
    /// Numbers that change whenever there is new work for a pass, also by another process.
    struct WorkSignature: Equatable {
        /// The number of rows, and a mark that changes when one of them is saved again.
        struct Rows: Equatable {
            var count: Int64 = 0
            var mark: Int64 = 0
        }

        let uploads, fetches, wantedIDs: Rows
        /// The version of the newest subscription set.
        let newestSet: Int64?
    }

    /// Returns the signature of the work that waits now.
    func workSignature() throws -> WorkSignature {
        func rows(_ sql: String) throws -> WorkSignature.Rows {
            let select = try connection.prepare(sql)
            guard try select.step() else { return WorkSignature.Rows() }
            return WorkSignature.Rows(count: select.int64(0), mark: select.int64(1))
        }
        return WorkSignature(
            uploads: try rows(SQL.selectUploads), fetches: try rows(SQL.selectFetches),
            wantedIDs: try rows(SQL.selectWantedIDs),
            newestSet: try connection.int64(SQL.selectNewestSet))
    }
}

// MARK: - Save

extension SyncRecordTable {
    /// Stores a record with its next revision and returns the stored one.
    ///
    /// Without a pending change the base equals the local document, so the table of bases
    /// (`sync_bases`) has no row for the record. It may be emptied once no record is pending
    /// (``removeOutdatedBases(of:)``).
    ///
    /// - Throws: ``OutdatedRevision`` if the record was removed, or if the table checks revisions and
    ///   the record was saved since it was read.
    @discardableResult
    func save(_ record: SyncRecord, in collection: Int64) throws -> SyncRecord {
        var next = record
        next.revision += 1
        if !next.isPending { Self.endPendingChange(of: &next) }
        let row: Int64
        if let stored = record.rowID {
            row = stored
            try update(next, row: row, expecting: record.revision)
        } else {
            row = try insert(next, in: collection)
            next.rowID = row
        }
        try saveBase(&next, row: row)
        next.noteStored()
        return next
    }

    /// Removes from a record what only a pending change needs.
    private static func endPendingChange(of record: inout SyncRecord) {
        if case .stored = record.base { record.base = .sameAsLocal }
        // An earlier delete whose answer never came may still arrive, and has to be known as ours.
        if record.unresolved.isEmpty { record.isDeletedHere = false }
    }

    private func insert(_ record: SyncRecord, in collection: Int64) throws -> Int64 {
        let insert = try connection.prepare(SQL.insert)
        Self.bind(Column.inserted, of: record, to: insert)
        insert.bind(Column.collection, collection)
        try insert.run()
        return connection.lastInsertedRowID
    }

    /// Writes as few columns as possible: an indexed one makes SQLite change its index, too.
    ///
    /// The record tells which columns differ: it keeps the indexed fields as they were when it was
    /// last read or saved (``SyncRecord/noteStored()``).
    private func update(_ record: SyncRecord, row: Int64, expecting revision: Int64) throws {
        let (columns, sql) =
            switch record.indexedChange {
            case .same: (Column.unindexed, SQL.updateUnindexed)
            case .onlyPending: (Column.unindexedAndPending, SQL.updatePending)
            case .different: (Column.changing, SQL.updateChanging)
            }
        let update = try connection.prepare(sql)
        Self.bind(columns, of: record, to: update)
        try change(row, by: update, expecting: revision)
    }

    /// Updates or deletes a row; throws as ``save(_:in:)`` does.
    private func change(
        _ row: Int64, by statement: borrowing SQLiteStatement, expecting revision: Int64
    ) throws {
        statement.bind(Column.id, row)
        if checksRevisions {
            statement.bind(SQL.expectedRevision, revision)
        } else {
            statement.bindNull(SQL.expectedRevision)
        }
        try statement.run()
        if connection.changedRowCount == 0 { throw OutdatedRevision() }
    }

    /// Stores why a document is synced.
    ///
    /// The revision stays, since the document does not change; later saves keep the reason.
    func setReason(of record: SyncRecord, to reason: SyncReason) throws {
        try set(Column.reason, of: record, to: reason.rawValue, by: SQL.updateReason)
    }

    /// Stores a stale mark.
    ///
    /// The revision stays, so that an answer that is under way can still be stored. It keeps the new
    /// mark (``staleMark(ofUnchanged:)``), and the document is fetched again afterwards.
    func setStaleMark(of record: SyncRecord, to mark: Int64) throws {
        try set(Column.staleMark, of: record, to: mark, by: SQL.updateStaleMark)
    }

    private func set(
        _ column: Column, of record: SyncRecord, to value: Int64, by sql: FixedStatement
    ) throws {
        guard let row = record.rowID else { return }
        let update = try connection.prepare(sql)
        update.bind(column, value)
        update.bind(Column.id, row)
        try update.run()
    }
}

// MARK: - Bases

extension SyncRecordTable {
    /// Stores a base in a table of its own (`sync_bases`), since records are written more often.
    private func saveBase(_ record: inout SyncRecord, row: Int64) throws {
        if case .stored(let base) = record.base {
            if record.storedBase == base { return }
            let insert = try connection.prepare(SQL.insertBase)
            insert.bind(Column.id, row)
            insert.bind(Column.base, base)
            try insert.run()
            record.storedBase = base
        } else if record.storedBase != nil {
            try run(SQL.deleteBase, ofRow: row)
            record.storedBase = nil
        }
    }

    /// Removes stored bases that are no longer needed.
    ///
    /// If no record of the store is pending, SQLite truncates the table without writing each page.
    /// Otherwise bases are removed one by one, except those that were stored again meanwhile.
    func removeOutdatedBases(of rows: [Int64]) throws {
        guard !rows.isEmpty else { return }
        let firstPending = "SELECT 1 FROM sync_documents WHERE \(Condition.isPending) LIMIT 1"
        if try connection.int64(firstPending) == nil {
            return try connection.execute("DELETE FROM sync_bases")
        }
        for row in rows { try run(SQL.deleteOutdatedBase, ofRow: row) }
    }

    /// Runs a statement that deletes what another table has of a record.
    private func run(_ sql: FixedStatement, ofRow row: Int64) throws {
        let delete = try connection.prepare(sql)
        delete.bind(Column.id, row)
        try delete.run()
    }
}

// MARK: - Remove

extension SyncRecordTable {
    /// Removes a record; its id is no longer synced.
    ///
    /// - Throws: as ``save(_:in:)`` does.
    func remove(_ record: SyncRecord) throws {
        guard let row = record.rowID else { return }
        let delete = try connection.prepare(SQL.delete)
        try change(row, by: delete, expecting: record.revision)
        // The base is removed even if it is no longer needed.
        try run(SQL.deleteBase, ofRow: row)
        // A later record may get the row's number, and must not look older than a subscription.
        try run(SQL.deleteEarlier, ofRow: row)
    }
}
