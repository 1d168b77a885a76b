internal import BSONStore

/// Documents that are new here and their records, which wait to be stored together.
///
/// To begin and end a statement costs as much as to store a row: several go with each. What is
/// stored together is undone together, so that this is only for transactions that end with the first
/// document that stands in the way.
struct BulkInsertBuffer {
    private(set) var records: [SyncRecord] = []
    private(set) var documents: [BSONDocument] = []

    /// Takes a document that is not here with its record, which is not stored; `false` when the record
    /// has more to say than such a record can.
    mutating func take(_ document: BSONDocument, _ record: SyncRecord) -> Bool {
        guard record.rowID == nil, record.isSettled else { return false }
        records.append(record)
        documents.append(document)
        return true
    }
}

extension SyncTransaction {
    /// Stores what waited, if anything.
    func store(_ arrivals: BulkInsertBuffer) throws {
        guard !arrivals.records.isEmpty else { return }
        try transaction.insertBatch(namespace, arrivals.documents)
        try records.insertSettled(
            arrivals.records, revision: firstRevision(), in: collection.rowID)
    }
}

extension SyncRecordTable {
    private static let insertTwo = FixedStatement(insertion(of: 2))
    private static let insertEight = FixedStatement(insertion(of: 8))

    /// Not undone by itself, for which SQLite would copy each page that the statement writes.
    private static func insertion(of count: Int) -> String {
        let row = "(?1, ?2, 1, 0, 0, 0, ?, ?, ?, ?)"
        return """
            INSERT OR FAIL INTO sync_documents(collection, revision, base_kind, pending, hint,
                failures, key, document_id, version, by_id)
            VALUES \(Array(repeating: row, count: count).joined(separator: ", "))
            """
    }

    /// Stores new records that are settled.
    ///
    /// - Throws: what SQLite says; some of them may be stored then.
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
