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
    /// The parameters of one inserted row, in order; those that all rows share come before them.
    private enum RowParameter: Int32, CaseIterable {
        case key
        case documentID
        case version
        case reason

        /// Returns the parameter's number in a row of a statement.
        func number(inRow index: Int) -> Int32 {
            SharedParameter.count + Int32(index * Self.allCases.count) + rawValue + 1
        }
    }

    /// The parameters that all rows of a statement share.
    private enum SharedParameter {
        static let collection: Int32 = 1
        static let revision: Int32 = 2
        static let count: Int32 = 2
    }

    private static let insertTwo = FixedStatement(insertion(of: 2))
    private static let insertEight = FixedStatement(insertion(of: 8))

    /// Returns the statement that inserts rows.
    ///
    /// `OR FAIL` avoids the rollback of the single statement, for which SQLite would copy each
    /// written page.
    private static func insertion(of count: Int) -> String {
        let shared = "?\(SharedParameter.collection), ?\(SharedParameter.revision)"
        let rows = (0..<count).map { index in
            let own = RowParameter.allCases.map { "?\($0.number(inRow: index))" }
            return "(\(shared), 1, 0, 0, 0, \(own.joined(separator: ", ")))"
        }
        return """
            INSERT OR FAIL INTO sync_documents(collection, revision, base_kind, pending, hint,
                failures, key, document_id, version, by_id)
            VALUES \(rows.joined(separator: ", "))
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
                insert.bind(SharedParameter.collection, collection)
                insert.bind(SharedParameter.revision, revision)
                for (index, record) in rest.prefix(count).enumerated() {
                    bindSettled(record, to: insert, row: index)
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
        _ record: SyncRecord, to statement: borrowing SQLiteStatement, row index: Int
    ) {
        statement.bind(RowParameter.key.number(inRow: index), keyOf: record.documentID)
        Self.bind(
            documentID: record.documentID, to: statement,
            RowParameter.documentID.number(inRow: index))
        Self.bind(record.version, to: statement, RowParameter.version.number(inRow: index))
        statement.bind(RowParameter.reason.number(inRow: index), record.reason.rawValue)
    }
}
