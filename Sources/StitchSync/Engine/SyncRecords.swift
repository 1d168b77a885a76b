internal import BSONStore

/// Reads and writes the engine's tables inside of one transaction of the store.
struct SyncRecords {
    let connection: SQLiteConnection

    private static let columns =
        """
        id, document_id, revision, base_kind, base, version, pending, hint, failures, attempt,
        discarded, pause
        """

    // Texts that are built once: finding a statement costs less than building its text.
    private static let selectByKey =
        "SELECT \(columns) FROM sync_documents WHERE collection = ? AND key = ?"
    private static let selections = Dictionary(
        uniqueKeysWithValues: Selection.allCases.map { selection in
            (
                selection,
                """
                SELECT \(columns) FROM sync_documents
                WHERE collection = ? AND id > ? AND \(selection.rawValue) ORDER BY id LIMIT ?
                """
            )
        })

    /// Whether a record is still as it was read, hints apart; gives its hint then.
    func hint(ofUnchanged record: SyncedDocument) throws -> Int64? {
        let select = try connection.prepare(
            "SELECT revision, hint FROM sync_documents WHERE id = ?")
        select.bind(1, record.rowID ?? 0)
        guard try select.step(), select.int64(0) == record.revision else { return nil }
        return select.int64(1)
    }

    /// The record of a document; `nil` when its id is not synced.
    func record(_ collection: Int64, id: BSONValue) throws -> SyncedDocument? {
        let select = try connection.prepare(Self.selectByKey)
        select.bind(1, collection)
        select.bind(2, BSONKey.encode(id))
        return try select.step() ? Self.record(select) : nil
    }

    /// The record of a row, with the key that it is filed under.
    func record(row: Int64) throws -> (record: SyncedDocument, key: [UInt8])? {
        let select = try connection.prepare(
            "SELECT \(Self.columns), key FROM sync_documents WHERE id = ?")
        select.bind(1, row)
        return try select.step() ? (try Self.record(select), select.bytes(12)) : nil
    }

    /// Which records a list is about.
    enum Selection: String, CaseIterable {
        /// All.
        case all = "1"
        /// Those with a change to send that may be sent.
        case toSend = "pending = 1 AND pause IS NULL AND attempt IS NULL AND hint = 0"
        /// Those to be looked at.
        case toLook = "(hint > 0 OR attempt IS NOT NULL) AND pause IS NULL"
        /// Those with a change to send or an answer to come, that are not paused.
        case unsent = "(pending = 1 OR attempt IS NOT NULL) AND pause IS NULL"
        /// Those with a change to send.
        case pending = "pending = 1"
        /// Those that neither direction touches.
        case paused = "pause IS NOT NULL"
    }

    /// Records in row order after a row.
    func records(
        _ selection: Selection, in collection: Int64, after row: Int64 = 0, limit: Int
    ) throws -> [SyncedDocument] {
        let select = try connection.prepare(Self.selections[selection] ?? "")
        select.bind(1, collection)
        select.bind(2, row)
        select.bind(3, Int64(limit))
        var records: [SyncedDocument] = []
        while try select.step() { records.append(try Self.record(select)) }
        return records
    }

    /// The ids of a kind of records, in row order.
    func documentIDs(_ selection: Selection, in collection: Int64) throws -> [BSONValue] {
        let select = try connection.prepare(
            """
            SELECT document_id FROM sync_documents
            WHERE collection = ? AND \(selection.rawValue) ORDER BY id
            """)
        select.bind(1, collection)
        var ids: [BSONValue] = []
        while try select.step() {
            ids.append(try Self.document(select.bytes(0), "document_id").documentID)
        }
        return ids
    }

    /// A number that changes whenever what may be sent does, by any process.
    func sendingSignature() throws -> [Int64] {
        let select = try connection.prepare(
            "SELECT count(*), total(revision & 16777215) FROM sync_documents WHERE \(Selection.toSend.rawValue)"
        )
        return try select.step() ? [select.int64(0), select.int64(1)] : []
    }

    /// How many records there are of a kind.
    func count(_ selection: Selection, in collection: Int64) throws -> Int {
        let select = try connection.prepare(
            "SELECT count(*) FROM sync_documents WHERE collection = ? AND \(selection.rawValue)")
        select.bind(1, collection)
        return try select.step() ? Int(select.int64(0)) : 0
    }

    /// Stores a record under its next revision and returns it as stored.
    @discardableResult
    func save(_ record: SyncedDocument, in collection: Int64) throws -> SyncedDocument {
        var record = record
        record.revision += 1
        if let row = record.rowID {
            try update(record, row: row)
        } else {
            record.rowID = try insert(record, in: collection)
        }
        return record
    }

    private func insert(_ record: SyncedDocument, in collection: Int64) throws -> Int64 {
        let insert = try connection.prepare(
            """
            INSERT INTO sync_documents(revision, base_kind, base, version, pending, hint, failures,
                attempt, discarded, pause, collection, key, document_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        bind(record, to: insert)
        insert.bind(11, collection)
        insert.bind(12, BSONKey.encode(record.documentID))
        insert.bind(13, BSONDocument([("_id", record.documentID)]).bytes)
        try insert.run()
        return connection.lastInsertedRowID
    }

    private func update(_ record: SyncedDocument, row: Int64) throws {
        let update = try connection.prepare(
            """
            UPDATE sync_documents SET revision = ?, base_kind = ?, base = ?, version = ?,
                pending = ?, hint = ?, failures = ?, attempt = ?,
                discarded = ?, pause = ? WHERE id = ?
            """)
        bind(record, to: update)
        update.bind(11, row)
        try update.run()
    }

    /// Removes a record; its id is no longer synced.
    func remove(_ record: SyncedDocument) throws {
        guard let row = record.rowID else { return }
        try run("DELETE FROM sync_documents WHERE id = ?", row)
    }

    /// Notes that the remote is to be looked at for a document; not a change of the record.
    func setHint(row: Int64, to hint: Int64) throws {
        try run("UPDATE sync_documents SET hint = ? WHERE id = ?", hint, row)
    }

    /// Runs a statement that binds whole numbers.
    private func run(_ sql: String, _ values: Int64...) throws {
        let statement = try connection.prepare(sql)
        for (index, value) in values.enumerated() { statement.bind(Int32(index + 1), value) }
        try statement.run()
    }
}

// MARK: - Rows

extension SyncRecords {
    private func bind(_ record: SyncedDocument, to statement: borrowing SQLiteStatement) {
        let (kind, base) = Self.row(of: record.base)
        statement.bind(1, record.revision)
        statement.bind(2, kind)
        statement.bind(3, base)
        statement.bind(4, record.version.value.map { BSONDocument([("v", $0)]).bytes })
        statement.bind(5, Int64(record.isPending ? 1 : 0))
        statement.bind(6, record.hint)
        statement.bind(7, record.failures)
        statement.bind(8, record.attempt.map { Self.document(of: $0).bytes })
        statement.bind(9, Self.bytes(of: record.discarded))
        statement.bind(10, record.pause.map { Self.document(of: $0).bytes })
    }

    private static func record(_ row: borrowing SQLiteStatement) throws -> SyncedDocument {
        let id = try document(row.bytes(1), "document_id")["_id"] ?? .null
        var record = SyncedDocument(documentID: id)
        record.rowID = row.int64(0)
        record.revision = row.int64(2)
        record.base = try content(row.int64(3), row.isNull(4) ? nil : row.bytes(4))
        if !row.isNull(5) {
            let value = try document(row.bytes(5), "version")["v"] ?? .null
            record.version = DocumentVersion(value).map(VersionField.version) ?? .foreign(value)
        }
        record.isPending = row.int64(6) != 0
        record.hint = row.int64(7)
        record.failures = row.int64(8)
        if !row.isNull(9) { record.attempt = try attempt(document(row.bytes(9), "attempt")) }
        if !row.isNull(10) {
            record.discard(Self.operations(try document(row.bytes(10), "discarded")))
        }
        if !row.isNull(11) { record.pause = try pause(document(row.bytes(11), "pause")) }
        return record
    }

    /// One name stands by itself, several in an array.
    private static func bytes(of discarded: [OperationID]) -> [UInt8]? {
        guard let first = discarded.first else { return nil }
        let value =
            discarded.count == 1
            ? first.value : .array(BSONArray(discarded.map(\.value)))
        return BSONDocument([("op", value)]).bytes
    }

    private static func operations(_ document: BSONDocument) -> [OperationID] {
        guard let value = document["op"] else { return [] }
        return (value.arrayValue?.values ?? [value]).compactMap(OperationID.init)
    }

    private static func row(of content: StoredContent) -> (kind: Int64, bytes: [UInt8]?) {
        switch content {
        case .absent: (0, nil)
        case .sameAsLocal: (1, nil)
        case .stored(let document): (2, document.bytes)
        }
    }

    private static func content(_ kind: Int64, _ bytes: [UInt8]?) throws -> StoredContent {
        switch (kind, bytes) {
        case (0, nil): .absent
        case (1, nil): .sameAsLocal
        case (2, let bytes?): .stored(try document(bytes, "base"))
        default: throw damaged("base")
        }
    }

    private static func document(of attempt: Attempt) -> BSONDocument {
        var document: BSONDocument = ["op": attempt.operation.value]
        let (kind, _) = row(of: attempt.intended)
        document.append("kind", .int64(kind))
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
            intended: try content(kind, document["intended"]?.documentValue?.bytes),
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

    private static func document(_ bytes: [UInt8], _ column: String) throws -> BSONDocument {
        do throws(BSONError) {
            return try BSONDocument(validating: bytes, limits: .ofWrappers)
        } catch {
            throw damaged(column, error)
        }
    }

    private static func damaged(_ column: String, _ error: (any Error)? = nil) -> SyncError {
        SyncError(
            .storeFailed, "a sync record's \(column) cannot be read", underlying: error)
    }
}

extension BSONLimits {
    /// Bounds of the engine's own columns, which hold documents inside of others.
    static let ofWrappers = BSONLimits(depthMax: 110, documentBytesMax: 64 * 1024 * 1024)
}
