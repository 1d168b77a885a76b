extension StoreCheck {
    /// Compares each index with the keys of the documents; O(n log n).
    ///
    /// An index that holds every key of every document, and the same number of keys, holds no
    /// others.
    func indexes(
        _ namespace: Namespace, _ report: inout StoreReport
    ) throws(StoreError) {
        guard let table = try Catalog.read(namespace, connection) else { return }
        for index in try connection.catalogCache.indexes(of: table.id, connection) {
            var check = IndexCheck(index: index, namespace: namespace, report: report)
            defer { report = check.report }
            try check.lost(table, connection)
            try check.documents(table, connection)
            if index.definition.isUnique { try check.duplicates(connection) }
        }
    }
}

/// A check of one index.
private struct IndexCheck {
    let index: StoredIndex
    let namespace: Namespace
    var report: StoreReport

    private var name: String { index.definition.name }
    private var keys: String { StoredIndex.tableName(index.id) }

    /// Records a fault.
    private mutating func note(_ message: String, id: BSONValue? = nil) {
        report.note(.index, message, namespace: namespace, documentID: id, indexName: name)
    }

    /// Finds keys without a document.
    mutating func lost(
        _ table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) {
        let lost = try connection.int64(
            "SELECT count(*) FROM \(keys) WHERE id NOT IN "
                + "(SELECT id FROM \(StoreSchema.tableName(table.id)))")
        if let lost, lost > 0 { note("rows of \(keys) without a document: \(lost)") }
    }

    /// Looks up every key of every document, and counts the other keys.
    mutating func documents(
        _ table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) {
        let rows = try connection.prepareOnce(
            "SELECT id, key, doc FROM \(StoreSchema.tableName(table.id)) ORDER BY id")
        let there = try connection.prepare("SELECT 1 FROM \(keys) WHERE key = ?1 AND id = ?2")
        let ofRow = try connection.prepare("SELECT count(*) FROM \(keys) WHERE id = ?1")
        var expected: Int64 = 0
        while try rows.step() {
            let row = rows.int64(0)
            guard let wanted = expectedKeys(rows) else {
                // The keys of an unreadable document are unknown.
                ofRow.bind(1, row)
                if try ofRow.step() { expected += ofRow.int64(0) }
                ofRow.reset()
                continue
            }
            for key in wanted {
                there.bind(1, key)
                there.bind(2, row)
                if try there.step() {
                    expected += 1
                } else {
                    note(
                        "A document's key is missing in index \(name)",
                        id: BSONKey.decode(rows.bytes(1)))
                }
                there.reset()
            }
        }
        let orphans = "id IN (SELECT id FROM \(StoreSchema.tableName(table.id)))"
        let found = try connection.int64("SELECT count(*) FROM \(keys) WHERE \(orphans)") ?? 0
        if found > expected {
            note("Index \(name) holds \(found - expected) keys that no document gives")
        }
    }

    /// Returns the keys of the document of a row; `nil` when it is damaged.
    private mutating func expectedKeys(_ rows: borrowing SQLiteStatement) -> [[UInt8]]? {
        let document: BSONDocument
        do throws(BSONError) {
            document = try rows.withBytes(2) { (bytes) throws(BSONError) in
                try BSONDocument(validating: bytes)
            }
        } catch {
            // The check of documents reports it.
            return nil
        }
        let id = document["_id"]
        do throws(StoreError) {
            let found = try index.keys(of: document)
            if found.isMultikey, !index.isMultikey {
                note("Index \(name) is not marked as multikey", id: id)
            }
            return found.keys
        } catch {
            note("A document cannot be in index \(name): \(error.message)", id: id)
            return []
        }
    }

    /// Finds keys of a unique index that belong to several documents.
    mutating func duplicates(_ connection: SQLiteConnection) throws(StoreError) {
        let count = try connection.int64(
            "SELECT count(*) FROM (SELECT 1 FROM \(keys) GROUP BY key HAVING count(*) > 1)")
        guard let count, count > 0 else { return }
        note("\(count) keys of the unique index \(name) belong to several documents")
    }
}
