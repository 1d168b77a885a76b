internal import BSONStore

// MARK: - Columns

extension SyncRecordTable {
    /// The columns of a record, in the order in which statements select them.
    enum Column: Int32, CaseIterable, SyncColumn {
        /// The row's number.
        case id
        /// The document's `_id` in a document; NULL if `key` contains the whole of it.
        case documentID
        /// Grows with each save.
        case revision
        /// The place of the base: 0 nowhere, 1 it equals the local document, 2 in `sync_bases`.
        case baseKind
        /// The version that the base had at the remote.
        case version
        /// 1 if the local document differs from the base.
        case pending
        /// Greater than 0 if the remote changed the document.
        case staleMark
        /// The number of consecutive failed uploads.
        case failures
        /// The upload without an answer; NULL without one.
        case attempt
        /// The unresolved attempts, which the remote may still apply.
        case discarded
        /// The reason of the document's pause; NULL if it is not paused.
        case pause
        /// The key under which the store keeps the document.
        case key
        /// Why the document is synced: a ``SyncReason``.
        case reason
        /// 1 if the document was deleted on this device.
        case tombstone
        /// The base, from a table of its own; only in a selection that joins that table.
        case base
        /// The number of the record's collection; only written and compared.
        case collection

        /// The columns that every selection of records reads.
        static let selected = allCases.filter { $0 != .base && $0 != .collection }
        /// The columns to write where a record's place in the indexes stays.
        static let unindexed: [Column] = [.revision, .baseKind, .version, .failures]
        /// The columns to write where only the pending mark changes the record's place.
        static let unindexedAndPending = unindexed + [.pending]
        /// The columns that a change of a record may write.
        static let changing =
            unindexedAndPending + [.staleMark, .attempt, .discarded, .pause, .tombstone]
        /// The columns of a new record that the record determines: all but the collection.
        static let inserted = changing + [.key, .documentID, .reason]

        /// The column set to its parameter, or compared with it.
        var equalsParameter: String { "\(sql) = ?\(parameter)" }

        /// The column's name in the file, where earlier versions gave some another name.
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
            case .reason: "by_id"
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

    /// Conditions on a row in SQL, named like the properties of ``SyncRecord``.
    ///
    /// SQLite uses a partial index only for the condition with which it was created.
    enum Condition {
        static let isPending = "pending = 1"
        static let isStale = "hint > 0"
        static let isNotStale = "hint = 0"
        static let hasAttempt = "attempt IS NOT NULL"
        static let hasNoAttempt = "attempt IS NULL"
        static let isPaused = "pause IS NOT NULL"
        static let isNotPaused = "pause IS NULL"
        static let isConfirmed = "base_kind > 0"
        static let isOnlyByQuery = "by_id = \(SyncReason.query.rawValue)"
    }
}

// MARK: - Writing columns

extension SyncRecordTable {
    /// The value of `base_kind` for a base that lies in `sync_bases`.
    static let storedBaseKind: Int64 = 2

    /// Binds columns of a record to their parameters.
    static func bind(
        _ columns: [Column], of record: SyncRecord, to statement: borrowing SQLiteStatement
    ) {
        for column in columns { bind(column, of: record, to: statement) }
    }

    private static func bind(
        _ column: Column, of record: SyncRecord, to statement: borrowing SQLiteStatement
    ) {
        switch column {
        case .documentID: bind(documentID: record.documentID, to: statement, column.parameter)
        case .revision: statement.bind(column, record.revision)
        case .baseKind: statement.bind(column, kind(of: record.base))
        case .version: bind(record.version, to: statement, column.parameter)
        case .pending: statement.bind(column, record.isPending ? 1 : 0)
        case .staleMark: statement.bind(column, record.staleMark)
        case .failures: statement.bind(column, record.failures)
        case .attempt: statement.bind(column, record.attempt.map(document(of:)))
        case .discarded:
            statement.bind(column, UnresolvedAttempt.document(of: record.unresolved))
        case .pause: statement.bind(column, record.pause.map(document(of:)))
        case .key: statement.bind(column, keyOf: record.documentID)
        case .reason: statement.bind(column, record.reason.rawValue)
        case .tombstone: statement.bind(column, record.isDeletedHere ? 1 : 0)
        case .id, .base, .collection:
            preconditionFailure("the column \(column) is bound where it is used")
        }
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
}

// MARK: - Reading columns

extension SyncRecordTable {
    /// Returns the record of a statement's current row.
    ///
    /// - Parameter column: the column of the base, where the statement joins the bases; `nil` reads
    ///   the base by a query of its own.
    func decode(
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
            record.storedBase = base
        default: throw SyncError.unreadable("base")
        }
        if !row.isNull(Column.version) {
            record.version = try Self.version(row, Column.version)
        }
        record.isPending = row.int64(Column.pending) != 0
        record.staleMark = row.int64(Column.staleMark)
        record.failures = row.int64(Column.failures)
        if !row.isNull(Column.attempt) {
            record.attempt = try Self.attempt(row.document(Column.attempt, named: "attempt"))
        }
        if !row.isNull(Column.discarded) {
            record.addUnresolved(
                UnresolvedAttempt.attempts(
                    in: try row.document(Column.discarded, named: "discarded")))
        }
        if !row.isNull(Column.pause) {
            record.pause = try Self.pause(row.document(Column.pause, named: "pause"))
        }
        record.reason = SyncReason(rawValue: row.int64(Column.reason)) ?? .localWrite
        record.isDeletedHere = row.int64(Column.tombstone) != 0
        record.noteStored()
        return record
    }

    private func base(ofRow row: Int64) throws -> BSONDocument {
        let select = try connection.prepare(RecordStatements.selectBase)
        select.bind(Column.id, row)
        guard try select.step() else { throw SyncError.unreadable("base") }
        return try Self.base(select, 0)
    }

    private static func base(
        _ row: borrowing SQLiteStatement, _ column: Int32
    ) throws -> BSONDocument {
        guard !row.isNull(column) else { throw SyncError.unreadable("base") }
        return try row.document(at: column, named: "base")
    }

    /// Returns an `_id` from its column, or from the key that contains the whole value.
    static func documentID(
        _ row: borrowing SQLiteStatement, _ column: some SyncColumn, key: some SyncColumn
    ) throws -> BSONValue {
        if !row.isNull(column) {
            return try row.document(column, named: "document_id").documentID
        }
        guard let id = row.objectID(ofKey: key.rawValue) else {
            throw SyncError.unreadable("document_id")
        }
        return .objectID(id)
    }

    /// Reads a stored version document, or a foreign value in the field `v` of a document.
    static func version(
        _ row: borrowing SQLiteStatement, _ column: some SyncColumn
    ) throws -> VersionField {
        let stored = try row.document(column, named: "version")
        if let version = DocumentVersion(understanding: stored) { return .version(version) }
        let value = stored["v"] ?? .null
        return DocumentVersion(value).map(VersionField.version) ?? .foreign(value)
    }
}

// MARK: - Values that are stored as documents

extension SyncRecordTable {
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
        default: throw SyncError.unreadable("attempt")
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
        else { throw SyncError.unreadable("attempt") }
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
        else { throw SyncError.unreadable("pause") }
        return PauseReason(code, message)
    }
}
