internal import BSONStore

// MARK: - Rows

extension SyncRecordTable {
    /// The columns of a record, in the order in which statements select them.
    enum Column: Int32, CaseIterable, SyncColumn {
        case id
        case documentID
        case revision
        case baseKind
        case version
        case pending
        case staleMark
        case failures
        case attempt
        case discarded
        case pause
        case key
        case byID
        case tombstone
        /// The base, from a table of its own; only in a selection that joins that table.
        case base
        /// The number of the record's collection; only written and compared.
        case collection

        /// The columns that every selection of records reads.
        static let selected = allCases.filter { $0 != .base && $0 != .collection }
        /// The columns to write where a record's place in the indexes stays.
        static let unindexed: [Column] = [.revision, .baseKind, .version, .failures]
        /// The columns that a change of a record may write.
        static let changing =
            unindexed + [.pending, .staleMark, .attempt, .discarded, .pause, .tombstone]
        /// The columns of a new record.
        static let inserted = changing + [.collection, .key, .documentID, .byID]

        /// The parameter of the revision that a write expects; NULL accepts any.
        static let expectedRevision = Int32(allCases.count) + 1

        /// The column's name in the file.
        var sql: String {
            switch self {
            case .id: "id"
            case .documentID: "document_id"
            case .revision: "revision"
            case .baseKind: "base_kind"
            case .version: "version"
            case .pending: "pending"
            case .staleMark: "hint"
            case .failures: "failures"
            case .attempt: "attempt"
            case .discarded: "discarded"
            case .pause: "pause"
            case .key: "key"
            case .byID: "by_id"
            case .tombstone: "tombstone"
            case .base: "base"
            case .collection: "collection"
            }
        }
    }

    /// The columns of a document's id, in the order in which statements select them.
    enum IDColumn: Int32, SyncColumn {
        case documentID
        case key
        /// Only in the selection of foreign versions.
        case version
    }

    /// Binds the columns of ``Column/changing``.
    static func bindChanging(_ record: SyncRecord, to statement: borrowing SQLiteStatement) {
        bindUnindexed(record, to: statement)
        statement.bind(Column.pending, record.isPending ? 1 : 0)
        statement.bind(Column.staleMark, record.staleMark)
        statement.bind(Column.attempt, record.attempt.map(document(of:)))
        statement.bind(Column.discarded, UnresolvedAttempt.document(of: record.discarded))
        statement.bind(Column.pause, record.pause.map(document(of:)))
        statement.bind(Column.tombstone, record.isDeletedHere ? 1 : 0)
    }

    /// The value of `base_kind` for a base that lies in `sync_bases`.
    static let storedBaseKind: Int64 = 2

    /// Binds the columns of ``Column/unindexed``.
    static func bindUnindexed(_ record: SyncRecord, to statement: borrowing SQLiteStatement) {
        statement.bind(Column.revision, record.revision)
        statement.bind(Column.baseKind, kind(of: record.base))
        bind(record.version, to: statement, Column.version.parameter)
        statement.bind(Column.failures, record.failures)
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
        let id = try Self.documentID(row, Column.documentID, key: Column.key)
        var record = SyncRecord(documentID: id)
        record.rowID = row.int64(Column.id)
        record.revision = row.int64(Column.revision)
        switch row.int64(Column.baseKind) {
        case 0: record.base = .absent
        case 1: record.base = .sameAsLocal
        case Self.storedBaseKind:
            let base =
                try column.map { try Self.base(row, $0.rawValue) }
                ?? base(ofRow: row.int64(Column.id))
            record.base = .stored(base)
            record.keptBase = base
        default: throw Self.damaged("base")
        }
        if !row.isNull(Column.version) {
            record.version = try Self.version(row, Column.version)
        }
        record.isPending = row.int64(Column.pending) != 0
        record.staleMark = row.int64(Column.staleMark)
        record.failures = row.int64(Column.failures)
        if !row.isNull(Column.attempt) {
            record.attempt = try Self.attempt(Self.document(row, Column.attempt, "attempt"))
        }
        if !row.isNull(Column.discarded) {
            record.discard(
                UnresolvedAttempt.tries(try Self.document(row, Column.discarded, "discarded")))
        }
        if !row.isNull(Column.pause) {
            record.pause = try Self.pause(Self.document(row, Column.pause, "pause"))
        }
        record.isClaimedByID = row.int64(Column.byID) != 0
        record.isRequestedByApp = row.int64(Column.byID) == SyncRecord.requestedByApp
        record.isDeletedHere = row.int64(Column.tombstone) != 0
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
        _ row: borrowing SQLiteStatement, _ column: some SyncColumn, key: some SyncColumn
    ) throws -> BSONValue {
        if !row.isNull(column) {
            return try document(row, column, "document_id").documentID
        }
        guard let id = row.objectID(ofKey: key.rawValue) else { throw damaged("document_id") }
        return .objectID(id)
    }

    /// Reads a stored version document, or a foreign value in the field `v` of a document.
    private static func version(
        _ row: borrowing SQLiteStatement, _ column: some SyncColumn
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
        case .stored: storedBaseKind
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

    /// Reads a document from a column that is not NULL.
    static func document(
        _ row: borrowing SQLiteStatement, _ column: some SyncColumn, _ name: String
    ) throws -> BSONDocument {
        try document(row, column.rawValue, name)
    }

    /// Reads a document from the only column, or from a column whose place the caller knows.
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
            guard case .foreign = try Self.version(select, IDColumn.version) else { continue }
            ids.append(try Self.documentID(select, IDColumn.documentID, key: IDColumn.key))
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
