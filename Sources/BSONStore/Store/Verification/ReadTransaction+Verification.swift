extension ReadTransaction {
    /// Makes sure that documents which were not found by their keys are not there.
    ///
    /// For whoever draws conclusions from absence, as the sync engine does. The first call of a
    /// connection compares the collection's index by key with all its rows, O(n log n); the later
    /// ones trust it. A collection that is not there is looked for a second way too.
    ///
    /// - Throws: `corrupt` naming file, collection and index where the two differ, and what SQLite
    ///   says.
    package func confirmAbsent(_ namespace: Namespace) throws(StoreError) {
        guard !connection.isInMemory else { return }
        _ = try onTable(namespace) { (table) throws(StoreError) in
            try connection.catalogCache.compareAll(table, connection)
        }
    }
}

extension ReadTransaction {
    /// The `_id`s of the documents of a collection that do not fit their checksums, by the keys of their
    /// rows; `nil` for a key that cannot be read.
    ///
    /// O(n).
    ///
    /// - Throws: what SQLite says.
    package func alteredDocuments(
        _ namespace: Namespace
    ) throws(StoreError) -> [(row: Int64, documentID: BSONValue?)] {
        guard let table = try Catalog.read(namespace, connection) else { return [] }
        let checksum = try DocumentChecksum.column(of: table, connection)
        let rows = try connection.prepare(
            "SELECT id, key, doc, \(checksum) FROM \(StoreSchema.tableName(table.id)) ORDER BY id")
        var altered: [(row: Int64, documentID: BSONValue?)] = []
        while try rows.step() {
            let checksum = DocumentChecksum.read(rows, 3)
            if rows.withBytes(2, { DocumentChecksum.fits($0, checksum) }) { continue }
            altered.append((rows.int64(0), BSONKey.decode(rows.bytes(1))))
        }
        return altered
    }
}
