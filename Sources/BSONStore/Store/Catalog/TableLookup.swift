/// The tables of the collections that a connection's transaction sees.
struct TableLookup {
    /// The transaction's connection.
    let connection: SQLiteConnection

    /// Runs a body on the collection's table; returns `nil` when it does not exist.
    func onTable<R>(
        _ namespace: Namespace, _ body: (CollectionTable) throws(StoreError) -> R
    ) throws(StoreError) -> R? {
        let table = try connection.catalogCache.probedTable(namespace, connection)
        guard let table else { return nil }
        return try body(table)
    }

    /// Returns the collection's table; `nil` when it does not exist.
    func table(_ namespace: Namespace) throws(StoreError) -> CollectionTable? {
        try connection.catalogCache.table(namespace, connection)
    }

    /// Returns the indexes of a table in order of creation, without the `_id` index.
    func indexes(of table: CollectionTable) throws(StoreError) -> [StoredIndex] {
        try connection.catalogCache.indexes(of: table.id, connection)
    }

    /// Returns a view's definition; `nil` for a collection.
    func view(_ namespace: Namespace) throws(StoreError) -> CollectionOptions.View? {
        let found = try onTable(namespace) {
            (table) throws(StoreError) -> CollectionOptions.View? in
            guard !table.isPlain, let view = table.options.view else { return nil }
            return view
        }
        return found ?? nil
    }
}
