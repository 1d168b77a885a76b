extension SQLiteConnection {
    /// The cache of the store's collections and indexes.
    var catalogCache: CatalogCache {
        @inline(__always)
        get {
            // Only this property stores an attachment.
            if let attachment { return unsafeDowncast(attachment, to: CatalogCache.self) }
            let made = CatalogCache()
            attachment = made
            return made
        }
    }

    /// Prepares a statement of a collection's table; later calls find it without its SQL.
    func prepare(
        _ statement: CollectionTable.Statement, _ table: CollectionTable
    ) throws(StoreError) -> SQLiteStatement {
        let count = CollectionTable.Statement.allCases.count
        // The file supplies the number.
        guard table.id > 0, table.id < Self.collectionStatementsMax / count else {
            return try prepare(table.sql(statement))
        }
        return try prepare(numbered: Int(table.id) * count + statement.rawValue) {
            table.sql(statement)
        }
    }
}
