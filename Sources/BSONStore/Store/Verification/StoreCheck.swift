/// A check of all tables of a store.
struct StoreCheck {
    /// The transaction's connection.
    let connection: SQLiteConnection

    func run() throws(StoreError) -> StoreReport {
        var report = StoreReport()
        try pages(&report)
        let catalog = CatalogReader(connection: connection, access: TransactionAccess(policy: nil))
        for namespace in try catalog.collections() { try collection(namespace, &report) }
        try reporting(.change, nil, &report) { (report) throws(StoreError) in
            try changes(&report)
        }
        return report
    }

    /// Checks the documents of one collection and compares its indexes with them.
    func collection(
        _ namespace: Namespace, _ report: inout StoreReport
    ) throws(StoreError) {
        try reporting(.document, namespace, &report) { (report) throws(StoreError) in
            try documents(namespace, &report)
        }
        try reporting(.index, namespace, &report) { (report) throws(StoreError) in
            try indexes(namespace, &report)
        }
    }

    /// Records a damaged page that ends one part of the check; the other parts continue.
    private func reporting(
        _ place: StoreReport.Fault.Place, _ namespace: Namespace?, _ report: inout StoreReport,
        _ body: (inout StoreReport) throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try body(&report)
        } catch {
            guard error.code == .corrupt else { throw error }
            report.note(place, error.message, namespace: namespace)
        }
    }

    private func pages(_ report: inout StoreReport) throws(StoreError) {
        let statement = try connection.prepare("PRAGMA integrity_check")
        try reporting(.page, nil, &report) { (report) throws(StoreError) in
            while try statement.step() {
                let message = statement.string(0)
                if message != "ok" { report.note(.page, message) }
            }
        }
    }

    private func documents(
        _ namespace: Namespace, _ report: inout StoreReport
    ) throws(StoreError) {
        guard let table = try Catalog.read(namespace, connection) else { return }
        let name = StoreSchema.tableName(table.id)
        let statement = try connection.prepareOnce(
            "SELECT id, key, doc, checksum FROM \(name) ORDER BY id")
        while try statement.step() {
            report.documentCount += 1
            let key = statement.bytes(1)
            let checksum = DocumentChecksum.read(statement, 3)
            let message = statement.withBytes(2) { bytes in
                Self.fault(of: bytes, key: key)
                    ?? (DocumentChecksum.fits(bytes, checksum) ? nil : Self.isAltered)
            }
            guard let message else { continue }
            report.note(
                .document, message, namespace: namespace, documentID: BSONKey.decode(key),
                row: statement.int64(0))
        }
    }

    private static let isAltered =
        "A document does not fit its checksum: its bytes are not those that were written. "
        + "`verify --quarantine` moves it away"

    /// Returns the fault of a document under a key; `nil` for a sound one.
    private static func fault(of bytes: UnsafeRawBufferPointer, key: [UInt8]) -> String? {
        do throws(BSONError) {
            let document = try BSONDocument(validating: bytes)
            guard let id = document["_id"] else { return "A document has no _id" }
            return BSONKey.encode(id) == key ? nil : "A document's _id is not its row's key"
        } catch {
            return "A document is not valid BSON: \(error)"
        }
    }

    private func indexTables(of table: CollectionTable) throws(StoreError) -> [String] {
        let known = try connection.int64(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'store_indexes'")
        guard known == 1 else { return [] }
        let statement = try connection.prepare(
            """
            SELECT name FROM sqlite_schema
            WHERE name IN (SELECT 'index_' || id FROM store_indexes WHERE collection = ?1)
            """)
        statement.bind(1, table.id)
        var names: [String] = []
        while try statement.step() { names.append(statement.string(0)) }
        return names
    }

    private func changes(_ report: inout StoreReport) throws(StoreError) {
        let floor = try ChangeFeed.read(connection).floor
        let statement = try connection.prepare(
            """
            SELECT position, kind, before, after, database, name FROM store_changes
            ORDER BY position
            """)
        var last = floor
        while try statement.step() {
            report.changeCount += 1
            let position = statement.int64(0)
            if position <= last { report.note(.change, "Change \(position) is out of order") }
            last = max(last, position)
            guard let kind = StoreChange.Kind(rawValue: statement.int64(1)) else {
                report.note(.change, "Change \(position) has an unknown kind")
                continue
            }
            do throws(StoreError) {
                try checkImages(of: position, kind, statement)
            } catch {
                guard error.code == .corrupt else { throw error }
                // A damaged document is reported as a fault of its own.
                if error.documentID == nil { report.note(.change, error.message) }
            }
        }
    }

    private func checkImages(
        of position: Int64, _ kind: StoreChange.Kind, _ statement: borrowing SQLiteStatement
    ) throws(StoreError) {
        let namespace = Namespace(statement.string(4), statement.string(5))
        let after = try ChangeImageReader(connection: connection).image(
            statement, 3, after: position, kind, namespace)
        guard let after, !statement.isNull(2) else { return }
        do throws(BSONError) {
            _ = try statement.withBytes(2) { (bytes) throws(BSONError) in
                try ImagePatch.document(bytes, beside: after.document)
            }
        } catch {
            throw ChangeImageReader.damaged(position, namespace, error)
        }
    }

    /// Moves a row out of its collection and its indexes.
    func quarantine(
        _ row: Int64, of namespace: Namespace, because reason: String
    ) throws(StoreError) {
        guard let table = try Catalog.read(namespace, connection) else { return }
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS store_quarantine (
                database TEXT NOT NULL, name TEXT NOT NULL, key BLOB NOT NULL, doc BLOB,
                reason TEXT NOT NULL)
            """)
        let name = StoreSchema.tableName(table.id)
        let copy = try connection.prepare(
            "INSERT INTO store_quarantine SELECT ?1, ?2, key, doc, ?3 FROM \(name) WHERE id = ?4")
        copy.bind(1, namespace.database)
        copy.bind(2, namespace.collection)
        copy.bind(3, reason)
        copy.bind(4, row)
        try copy.run()
        for table in try indexTables(of: table) + [name] {
            let delete = try connection.prepare("DELETE FROM \(table) WHERE id = ?1")
            delete.bind(1, row)
            try delete.run()
        }
    }
}
