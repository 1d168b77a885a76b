internal import BSONStore

// MARK: - Rows

extension SyncRecordTable {
    /// The selected columns of a record, in order: a column's raw value is its place in a result.
    enum Column: Int32, CaseIterable {
        case id
        case documentID
        case revision
        case baseKind
        case version
        case pending
        /// The stale mark.
        case hint
        case failures
        case attempt
        case discarded
        case pause
        case key
        case byID
        case tombstone
        /// The base, from a table of its own; only in a selection that joins that table.
        case base

        /// The columns of the records' own table.
        static let stored = allCases.filter { $0 != .base }

        /// The column's name in the file.
        var sql: String {
            switch self {
            case .id: "id"
            case .documentID: "document_id"
            case .revision: "revision"
            case .baseKind: "base_kind"
            case .version: "version"
            case .pending: "pending"
            case .hint: "hint"
            case .failures: "failures"
            case .attempt: "attempt"
            case .discarded: "discarded"
            case .pause: "pause"
            case .key: "key"
            case .byID: "by_id"
            case .tombstone: "tombstone"
            case .base: "base"
            }
        }
    }

    /// Binds the first ten parameters of a statement that inserts or updates a record.
    func bind(_ record: SyncRecord, to statement: borrowing SQLiteStatement) {
        statement.bind(1, record.revision)
        statement.bind(2, Self.kind(of: record.base))
        Self.bind(record.version, to: statement, 3)
        statement.bind(4, Int64(record.isPending ? 1 : 0))
        statement.bind(5, record.hint)
        statement.bind(6, record.failures)
        statement.bind(7, record.attempt.map(Self.document(of:)))
        statement.bind(8, UnresolvedAttempt.document(of: record.discarded))
        statement.bind(9, record.pause.map(Self.document(of:)))
        statement.bind(10, Int64(record.isDeletedHere ? 1 : 0))
    }

    static func bind(
        documentID: BSONValue, to statement: borrowing SQLiteStatement, _ parameter: Int32
    ) {
        // The key of an ObjectId contains the whole value.
        if case .objectID = documentID { return statement.bindNull(parameter) }
        statement.bind(parameter, BSONDocument([("_id", documentID)]))
    }

    static func bind(
        _ version: VersionField, to statement: borrowing SQLiteStatement, _ parameter: Int32
    ) {
        switch version {
        case .absent: statement.bindNull(parameter)
        case .version(let version): statement.bind(parameter, version.document)
        case .foreign(let value): statement.bind(parameter, BSONDocument([("v", value)]))
        }
    }

    /// Reads a record.
    ///
    /// - Parameter column: the column of the base; `nil` reads the base by a query of its own.
    func record(
        _ row: borrowing SQLiteStatement, base column: Column? = nil
    ) throws -> SyncRecord {
        let id = try Self.documentID(
            row, Column.documentID.rawValue, key: Column.key.rawValue)
        var record = SyncRecord(documentID: id)
        record.rowID = row.int64(.id)
        record.revision = row.int64(.revision)
        switch row.int64(.baseKind) {
        case 0: record.base = .absent
        case 1: record.base = .sameAsLocal
        case 2:
            let base =
                try column.map { try Self.base(row, $0.rawValue) } ?? base(ofRow: row.int64(.id))
            record.base = .stored(base)
            record.keptBase = base
        default: throw Self.damaged("base")
        }
        if !row.isNull(.version) {
            record.version = try Self.version(row, Column.version.rawValue)
        }
        record.isPending = row.int64(.pending) != 0
        record.hint = row.int64(.hint)
        record.failures = row.int64(.failures)
        if !row.isNull(.attempt) {
            record.attempt = try Self.attempt(
                Self.document(row, Column.attempt.rawValue, "attempt"))
        }
        if !row.isNull(.discarded) {
            record.discard(
                UnresolvedAttempt.tries(
                    try Self.document(row, Column.discarded.rawValue, "discarded")))
        }
        if !row.isNull(.pause) {
            record.pause = try Self.pause(Self.document(row, Column.pause.rawValue, "pause"))
        }
        record.isClaimedByID = row.int64(.byID) != 0
        record.isRequestedByApp = row.int64(.byID) == SyncRecord.requestedByApp
        record.isDeletedHere = row.int64(.tombstone) != 0
        record.noteKept()
        return record
    }

    private static let selectBase = FixedStatement(
        "SELECT base FROM sync_bases WHERE document = ?1")

    private func base(ofRow row: Int64) throws -> BSONDocument {
        let select = try connection.prepare(Self.selectBase)
        select.bind(1, row)
        guard try select.step() else { throw Self.damaged("base") }
        return try Self.base(select, 0)
    }

    private static func base(
        _ row: borrowing SQLiteStatement, _ column: Int32
    ) throws -> BSONDocument {
        guard !row.isNull(column) else { throw damaged("base") }
        return try document(row, column, "base")
    }

    /// Returns an `_id` from its column, or from the key that contains the whole value.
    static func documentID(
        _ row: borrowing SQLiteStatement, _ column: Int32, key: Int32
    ) throws -> BSONValue {
        if !row.isNull(column) {
            return try document(row, column, "document_id").documentID
        }
        guard let id = row.objectID(ofKey: key) else { throw damaged("document_id") }
        return .objectID(id)
    }

    /// Reads a stored version document, or a foreign value in the field `v` of a document.
    private static func version(
        _ row: borrowing SQLiteStatement, _ column: Int32
    ) throws -> VersionField {
        let stored = try document(row, column, "version")
        if let version = DocumentVersion(understanding: stored) { return .version(version) }
        let value = stored["v"] ?? .null
        return DocumentVersion(value).map(VersionField.version) ?? .foreign(value)
    }

    static func kind(of content: StoredContent) -> Int64 {
        switch content {
        case .absent: 0
        case .sameAsLocal: 1
        case .stored: 2
        }
    }

    private static func content(_ kind: Int64, _ document: BSONDocument?) throws -> StoredContent {
        switch (kind, document) {
        case (0, nil): .absent
        case (1, nil): .sameAsLocal
        case (2, let document?): .stored(document)
        default: throw damaged("attempt")
        }
    }

    private static func document(of attempt: Attempt) -> BSONDocument {
        var document: BSONDocument = ["op": attempt.operation.value]
        document.append("kind", .int64(kind(of: attempt.intended)))
        if case .stored(let intended) = attempt.intended {
            document.append("intended", .document(intended))
        }
        if let version = attempt.version.value { document.append("version", version) }
        if let token = attempt.token { document.append("token", .document(token.document)) }
        return document
    }

    private static func attempt(_ document: BSONDocument) throws -> Attempt {
        guard let operation = document["op"].flatMap(OperationID.init),
            let kind = document["kind"]?.int64Value
        else { throw damaged("attempt") }
        let version = document["version"].map {
            DocumentVersion($0).map(VersionField.version) ?? .foreign($0)
        }
        return Attempt(
            operation: operation,
            intended: try content(kind, document["intended"]?.documentValue),
            version: version ?? .absent,
            token: document["token"]?.documentValue.map(ResumeToken.init))
    }

    private static func document(of pause: PauseReason) -> BSONDocument {
        ["code": .string(pause.code.rawValue), "message": .string(pause.message)]
    }

    private static func pause(_ document: BSONDocument) throws -> PauseReason {
        guard let code = document["code"]?.stringValue.flatMap(SyncError.Code.init),
            let message = document["message"]?.stringValue
        else { throw damaged("pause") }
        return PauseReason(code, message)
    }

    static func document(
        _ row: borrowing SQLiteStatement, _ column: Int32, _ name: String
    ) throws -> BSONDocument {
        do throws(BSONError) {
            return try row.document(column, limits: .ofWrappers)
        } catch {
            throw damaged(name, error)
        }
    }

    /// Returns the error of an index with rows out of order or wrong rows.
    static func disordered(_ table: String) -> SyncError {
        SyncError(
            .storeFailed,
            "the file is damaged: an index of \(table) gives wrong rows. Run `verify`, and put a "
                + "backup back or sync into a new file")
    }

    static func damaged(_ column: String, _ error: (any Error)? = nil) -> SyncError {
        SyncError(
            .storeFailed, "a sync record's \(column) cannot be read", underlying: error)
    }
}

extension SQLiteStatement {
    fileprivate borrowing func int64(_ column: SyncRecordTable.Column) -> Int64 {
        int64(column.rawValue)
    }

    fileprivate borrowing func isNull(_ column: SyncRecordTable.Column) -> Bool {
        isNull(column.rawValue)
    }
}

extension BSONLimits {
    /// The limits of the engine's own columns, which hold documents inside other documents.
    static let ofWrappers = BSONLimits(depthMax: 110, documentBytesMax: 64 * 1024 * 1024)
}

extension SyncRecordTable {
    /// Returns the ids of documents with a foreign version field, in row order.
    ///
    /// O(n) of the collection's records.
    func foreignVersionIDs(in collection: Int64) throws -> [BSONValue] {
        // A foreign value is stored as the field `v` of a document, and few versions begin with
        // `v`.
        let select = try connection.prepare(
            """
            SELECT document_id, key, version FROM sync_documents
            WHERE collection = ? AND substr(version, 6, 2) = x'7600' ORDER BY id
            """)
        select.bind(1, collection)
        var ids: [BSONValue] = []
        while try select.step() {
            guard case .foreign = try Self.version(select, 2) else { continue }
            ids.append(try Self.documentID(select, 0, key: 1))
        }
        return ids
    }
}

extension SyncRecordTable {
    /// Whether a collection has a record that meets an SQL condition.
    func holds(_ test: String, in collection: Int64) throws -> Bool {
        let select = try connection.prepare(
            "SELECT 1 FROM sync_documents WHERE collection = ? AND \(test) LIMIT 1")
        select.bind(1, collection)
        defer { select.reset() }
        return try select.step()
    }

    /// Returns the number of a collection's confirmed documents.
    func confirmedCount(in collection: Int64) throws -> Int {
        let select = try connection.prepare(
            "SELECT count(*) FROM sync_documents WHERE collection = ? AND base_kind > 0")
        select.bind(1, collection)
        return try select.step() ? Int(select.int64(0)) : 0
    }
}
