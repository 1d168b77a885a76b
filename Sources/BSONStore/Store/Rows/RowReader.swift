/// A reader of documents by row.
final class RowReader {
    private let statement: SQLiteStatement
    private let table: CollectionTable

    init(_ table: CollectionTable, _ connection: SQLiteConnection) throws(StoreError) {
        self.table = table
        statement = try connection.prepare(.getRow, table)
    }

    /// Returns the document of a row.
    ///
    /// - Throws: `corrupt` when the document is missing or not valid BSON.
    func document(_ row: Int64) throws(StoreError) -> BSONDocument {
        statement.bind(1, row)
        defer { statement.reset() }
        guard try statement.step() else { throw Self.dangling(table) }
        return try statement.withBytes(1) { (bytes) throws(StoreError) in
            try StoredDocument.check(bytes, key: statement, 0, of: table)
            return BSONDocument(unchecked: Array(bytes))
        }
    }

    /// Returns the error for a row whose document is invalid or missing.
    static func damaged(
        _ row: Int64, isThere: Bool, _ table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) -> StoreError {
        guard isThere else { return dangling(table) }
        let statement = try connection.prepare(.getRow, table)
        statement.bind(1, row)
        guard try statement.step() else { return dangling(table) }
        return StoredDocument.damaged(key: statement.bytes(0), of: table)
    }

    static func dangling(_ table: CollectionTable) -> StoreError {
        StoreError(
            .corrupt, "An index names a document that is not there", namespace: table.namespace)
    }
}
