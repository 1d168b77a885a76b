/// A reader of rows and their documents by key or row number, regardless of an access policy.
struct RowLookup {
    /// The transaction's connection.
    let connection: SQLiteConnection
    /// Whether a row is read together with its latest change; files of earlier versions lack it.
    let readsChanges: Bool

    var tables: TableLookup { TableLookup(connection: connection) }

    /// Returns the document with an id, or `nil`; O(log n).
    func document(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> BSONDocument? {
        try BSONKey.lend(id) { (key) throws(StoreError) -> BSONDocument? in
            let found = try tables.onTable(namespace) {
                (table) throws(StoreError) -> BSONDocument? in
                try row(lent: key, table)?.document
            }
            return found ?? nil
        }
    }

    /// Returns the stored document with an id and its row, even if hidden.
    func stored(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> StoredDocument? {
        try BSONKey.lend(id) { (key) throws(StoreError) -> StoredDocument? in
            let found = try tables.onTable(namespace) {
                (table) throws(StoreError) -> StoredDocument? in
                try row(lent: key, table)
            }
            return found ?? nil
        }
    }

    /// Returns the stored document of a row, even if hidden.
    func stored(_ namespace: Namespace, row: Int64) throws(StoreError) -> StoredDocument? {
        let found = try tables.onTable(namespace) { (table) throws(StoreError) -> StoredDocument? in
            let statement = try connection.prepare(
                readsChanges ? .getRowToWrite : .getRow, table)
            statement.bind(1, row)
            guard try statement.step() else { return nil }
            let change = readsChanges ? statement.int64(2) : nil
            return try statement.withBytes(1) { (bytes) throws(StoreError) in
                try StoredDocument.check(bytes, key: statement, 0, of: table)
                return StoredDocument(
                    row: row, document: BSONDocument(unchecked: Array(bytes)), change: change)
            }
        }
        return found ?? nil
    }

    /// Returns the row and the document with an id key; the key must stay in place during the call.
    func row(
        lent key: UnsafeRawBufferPointer, _ table: CollectionTable
    ) throws(StoreError) -> StoredDocument? {
        let statement = try connection.prepare(readsChanges ? .getToWrite : .get, table)
        statement.bind(1, lending: key)
        guard try statement.step() else { return nil }
        let row = statement.int64(0)
        let change = readsChanges ? statement.int64(2) : nil
        return try statement.withBytes(1) { (bytes) throws(StoreError) in
            guard BSONValidator.isValid(bytes) else {
                throw StoredDocument.damaged(key: Array(key), of: table)
            }
            return StoredDocument(
                row: row, document: BSONDocument(unchecked: Array(bytes)), change: change)
        }
    }

    /// Returns the row and the document with an id key.
    func row(
        _ key: [UInt8], in table: CollectionTable
    ) throws(StoreError) -> StoredDocument? {
        try key.withLentBytes { (lent) throws(StoreError) -> StoredDocument? in
            try row(lent: lent, table)
        }
    }

    /// Whether a row still exists.
    ///
    /// - Throws: SQLite's errors.
    func hasRow(_ namespace: Namespace, _ row: Int64) throws(StoreError) -> Bool {
        try tables.onTable(namespace) { (table) throws(StoreError) in
            let statement = try connection.prepare(.getRow, table)
            statement.bind(1, row)
            return try statement.step()
        } ?? false
    }

    /// Returns the row of the document with an id, or `nil`.
    ///
    /// - Throws: `corrupt` when the document's bytes are not valid BSON, and SQLite's errors.
    func row(
        of id: BSONValue, in namespace: Namespace
    ) throws(StoreError) -> Int64? {
        try BSONKey.lend(id) { (key) throws(StoreError) -> Int64? in
            let found = try tables.onTable(namespace) { (table) throws(StoreError) -> Int64? in
                try row(lent: key, table)?.row
            }
            return found ?? nil
        }
    }

    /// Whether a collection has no documents or does not exist.
    ///
    /// - Throws: SQLite's errors.
    func isEmpty(_ namespace: Namespace) throws(StoreError) -> Bool {
        try tables.onTable(namespace) { (table) throws(StoreError) in
            let statement = try connection.prepare(.scanRows, table)
            return try !statement.step()
        } ?? true
    }

    /// Returns how many documents a collection has, 0 when it does not exist; O(n) in index
    /// entries.
    func count(_ namespace: Namespace) throws(StoreError) -> Int {
        let count = try tables.onTable(namespace) { (table) throws(StoreError) in
            let statement = try connection.prepare(.count, table)
            return try statement.step() ? statement.int64(0) : 0
        }
        return Int(count ?? 0)
    }

    /// Calls a body with the documents after a row that match a filter, in the order of insertion,
    /// until the body returns false.
    ///
    /// - Parameters:
    ///   - table: the number of the table that the row belongs to; `nil` for any.
    ///   - row: the row; 0 begins with the first.
    /// - Returns: the number of the table; `nil` when the collection does not exist or has another
    ///   table.
    /// - Throws: `corrupt` when a document's bytes are not valid BSON, and what the body throws.
    func visit(
        _ namespace: Namespace, table wanted: Int64?, after row: Int64, _ filter: Filter,
        _ body: (Int64, BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) -> Int64? {
        let found = try tables.onTable(namespace) { (table) throws(StoreError) -> Int64? in
            guard wanted == nil || wanted == table.id else { return nil }
            let statement = try connection.prepare(
                "SELECT id, doc FROM \(StoreSchema.tableName(table.id)) WHERE id > ?1 ORDER BY id")
            statement.bind(1, row)
            while try statement.step() {
                let at = statement.int64(0)
                do throws(StoreError) {
                    let document = try statement.withBytes(1) {
                        (bytes) throws(StoreError) -> BSONDocument? in
                        guard BSONValidator.isValid(bytes) else { throw StoredDocument.damaged }
                        return try filter.evaluate(bytes)
                            ? BSONDocument(unchecked: Array(bytes)) : nil
                    }
                    if let document, !(try body(at, document)) { break }
                } catch {
                    throw error.during(.execution)
                }
            }
            return table.id
        }
        return found ?? nil
    }
}
