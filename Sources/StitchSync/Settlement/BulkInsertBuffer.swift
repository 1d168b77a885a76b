internal import BSONStore

/// New local documents and their records, buffered to be inserted together.
///
/// Starting and ending a statement costs as much as storing a row, so that each statement inserts
/// several rows. They can only be rolled back together, so this is only for transactions that end
/// with the first failed document.
struct BulkInsertBuffer {
    private(set) var records: [SyncRecord] = []
    private(set) var documents: [BSONDocument] = []

    /// Buffers a new document with its new record; returns `false` when the record is not a settled
    /// one.
    mutating func take(_ document: BSONDocument, _ record: SyncRecord) -> Bool {
        guard record.rowID == nil, record.isSettled else { return false }
        records.append(record)
        documents.append(document)
        return true
    }
}

extension BulkInsertBuffer {
    /// Stores the buffered documents and records.
    func store(in sync: SyncTransaction) throws {
        guard !records.isEmpty else { return }
        try sync.transaction.insertBatch(sync.namespace, documents)
        try sync.records.insertSettled(
            records, revision: sync.firstRevision(), in: sync.collection.rowID)
    }
}

extension SyncRecordTable {
    private static let insertTwo = FixedStatement(insertion(of: 2))
    private static let insertEight = FixedStatement(insertion(of: 8))

    /// Returns the statement that inserts rows.
    ///
    /// `OR FAIL` avoids the rollback of the single statement, for which SQLite would copy each
    /// written page.
    private static func insertion(of count: Int) -> String {
        let row = "(?1, ?2, 1, 0, 0, 0, ?, ?, ?, ?)"
        return """
            INSERT OR FAIL INTO sync_documents(collection, revision, base_kind, pending, hint,
                failures, key, document_id, version, by_id)
            VALUES \(Array(repeating: row, count: count).joined(separator: ", "))
            """
    }

    /// Stores new settled records.
    ///
    /// - Throws: SQLite's error; some records may be stored then.
    fileprivate func insertSettled(
        _ records: [SyncRecord], revision: Int64, in collection: Int64
    ) throws {
        var rest = records[...]
        for (count, sql) in [(8, Self.insertEight), (2, Self.insertTwo)] {
            while rest.count >= count {
                let insert = try connection.prepare(sql)
                insert.bind(1, collection)
                insert.bind(2, revision)
                for (index, record) in rest.prefix(count).enumerated() {
                    bindSettled(record, to: insert, Int32(3 + 4 * index))
                }
                try insert.run()
                rest = rest.dropFirst(count)
            }
        }
        for var record in rest {
            record.revision = revision - 1
            try save(record, in: collection)
        }
    }

    private func bindSettled(
        _ record: SyncRecord, to statement: borrowing SQLiteStatement, _ first: Int32
    ) {
        statement.bind(first, keyOf: record.documentID)
        Self.bind(documentID: record.documentID, to: statement, first + 1)
        Self.bind(record.version, to: statement, first + 2)
        statement.bind(first + 3, record.claim)
    }
}
