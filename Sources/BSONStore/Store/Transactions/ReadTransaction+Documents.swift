extension ReadTransaction {
    /// Returns the document with an id, or `nil`; O(log n).
    ///
    /// - Throws: `corrupt` naming the document when its bytes are not valid BSON, and SQLite's
    ///   errors.
    public func get(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> BSONDocument? {
        guard let restricted = restricted(namespace) else {
            return try rows.document(namespace, id: id)
        }
        return try restricted.document(namespace, id: id)
    }

    /// Returns the document with an id as the access policy shows it, and its stored row.
    ///
    /// - Throws: as ``get(_:id:)`` does.
    package func found(
        _ namespace: Namespace, id: BSONValue
    ) throws(StoreError) -> StoredDocument? {
        let found = try rows.stored(namespace, id: id)
        guard let found, let gate = access.gate(namespace) else { return found }
        return gate.visible(found.document).map { StoredDocument(row: found.row, document: $0) }
    }

    /// Returns the documents with these ids, in the order of the ids; `nil` for each missing one.
    ///
    /// - Throws: `corrupt` naming the first document whose bytes are not valid BSON.
    public func getMany(
        _ namespace: Namespace, ids: some Sequence<BSONValue>
    ) throws(StoreError) -> [BSONDocument?] {
        try getFirst(namespace, ids: Array(ids), bytesMax: .max)
    }

    /// Reads documents as ``getMany(_:ids:)`` does until they reach a number of bytes.
    ///
    /// - Throws: as ``getMany(_:ids:)`` does.
    package func getFirst(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int
    ) throws(StoreError) -> [BSONDocument?] {
        guard let restricted = restricted(namespace) else {
            return try rows.documents(namespace, ids: ids, bytesMax: bytesMax)
        }
        return try restricted.documents(namespace, ids: ids, bytesMax: bytesMax)
    }

    /// Whether a collection has no documents or does not exist.
    ///
    /// - Throws: SQLite's errors.
    package func isEmpty(_ namespace: Namespace) throws(StoreError) -> Bool {
        guard access.isRestricted(namespace) else { return try rows.isEmpty(namespace) }
        return try executor.count(namespace) == 0
    }

    /// Returns how many documents a collection has, 0 when it does not exist; O(n) in index
    /// entries.
    public func count(_ namespace: Namespace) throws(StoreError) -> Int {
        try executor.count(namespace)
    }

    /// Whether a row still exists, regardless of the access policy.
    ///
    /// It is for a row that ``visitRows(_:table:after:_:_:)`` has given.
    ///
    /// - Throws: SQLite's errors.
    package func hasRow(_ namespace: Namespace, _ row: Int64) throws(StoreError) -> Bool {
        try rows.hasRow(namespace, row)
    }

    /// Returns the row of the document with an id, or `nil`, regardless of the access policy.
    ///
    /// It is for a document that a query has shown.
    ///
    /// - Throws: `corrupt` when the document's bytes are not valid BSON, and SQLite's errors.
    package func row(
        of id: BSONValue, in namespace: Namespace
    ) throws(StoreError) -> Int64? {
        try rows.row(of: id, in: namespace)
    }

    /// Calls a body with the documents after a row that match a filter, in the order of insertion,
    /// until the body returns false.
    ///
    /// It does not ask the access policy, and is for a query that ``isInInsertionOrder(_:)`` accepts.
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
        let filter = try executor.completed(filter, namespace)
        return try rows.visit(namespace, table: wanted, after: row, filter, body)
    }
}
