/// The indexes of a file whose keys depend on how this version compares texts.
///
/// ```swift
/// try CollatedIndexes(connection: connection).refill()
/// ```
struct CollatedIndexes {
    /// The transaction's connection.
    let connection: SQLiteConnection

    /// Computes the keys of all indexes with a collation anew, after a change of the order of
    /// letters; O(n log n) in their documents.
    ///
    /// Documents that an index refuses today get no key in it, as damaged ones; equal keys of a
    /// unique index stay.
    func refill() throws(StoreError) {
        let collections = try connection.prepareOnce("SELECT database, name FROM store_collections")
        var namespaces: [Namespace] = []
        while try collections.step() {
            namespaces.append(Namespace(collections.string(0), collections.string(1)))
        }
        for namespace in namespaces {
            guard let table = try Catalog.read(namespace, connection) else { continue }
            let indexes = try connection.catalogCache.indexes(of: table.id, connection)
            for index in indexes where index.collation != nil { try refill(index, table) }
        }
    }

    private func refill(
        _ index: StoredIndex, _ table: CollectionTable
    ) throws(StoreError) {
        let name = StoredIndex.tableName(index.id)
        try connection.executeOnce("DELETE FROM \(name)")
        let insert = try connection.prepareOnce(
            "INSERT OR IGNORE INTO \(name) (key, id) VALUES (?1, ?2)")
        let rows = try connection.prepareOnce(
            "SELECT id, doc FROM \(StoreSchema.tableName(table.id))")
        while try rows.step() {
            guard let keys = keys(of: rows.bytes(1), in: index) else { continue }
            for key in keys {
                insert.bind(1, key)
                insert.bind(2, rows.int64(0))
                try insert.run()
            }
        }
    }

    private func keys(of bytes: [UInt8], in index: StoredIndex) -> [[UInt8]]? {
        do {
            return try index.keys(of: try BSONDocument(validating: bytes)).keys
        } catch {
            // The check of documents reports it.
            return nil
        }
    }
}
