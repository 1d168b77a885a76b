extension Filter {
    /// Whether the filter asks for one document by its `_id` and for nothing else.
    package var asksForOneID: Bool { isDeterminedByID }
}

extension ReadTransaction {
    /// Whether a row still exists.
    ///
    /// - Throws: SQLite's errors.
    package func hasRow(_ namespace: Namespace, _ row: Int64) throws(StoreError) -> Bool {
        try onTable(namespace) { (table) throws(StoreError) in
            let statement = try connection.prepare(.getRow, table)
            statement.bind(1, row)
            return try statement.step()
        } ?? false
    }

    /// Returns the row of the document with an id, or `nil`.
    ///
    /// - Throws: `corrupt` when the document's bytes are not valid BSON, and SQLite's errors.
    package func row(
        of id: BSONValue, in namespace: Namespace
    ) throws(StoreError) -> Int64? {
        try BSONKey.lend(id) { (key) throws(StoreError) -> Int64? in
            let found = try onTable(namespace) { (table) throws(StoreError) -> Int64? in
                try row(lent: key, table)?.row
            }
            return found ?? nil
        }
    }

    /// Whether a query scans all documents in the order of insertion, so that it can resume after
    /// any document.
    ///
    /// - Throws: `badValue` (2) for a hint that names no index.
    package func isInInsertionOrder(
        _ namespace: Namespace, _ filter: Filter, _ options: FindOptions
    ) throws(StoreError) -> Bool {
        // A text score depends on the text index, which is looked up with the query.
        guard options.sort == nil, filter.impliedOrder == nil, filter.textSearch == nil,
            !isRestricted(namespace), try view(namespace) == nil
        else { return false }
        let filter = try resolved(filter, namespace)
        switch try plan(namespace, filter, nil, options).access {
        case .keys, .index, .union: return false
        case .range(let range):
            guard !range.isByKey, range.order == .inserted else { return false }
            return try onTable(namespace) { !$0.isClustered } ?? true
        }
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
    package func visitRows(
        _ namespace: Namespace, table wanted: Int64?, after row: Int64, _ filter: Filter,
        _ body: (Int64, BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) -> Int64? {
        let filter = try resolved(filter, namespace)
        let found = try onTable(namespace) { (table) throws(StoreError) -> Int64? in
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
                        return try filter.passes(bytes)
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
