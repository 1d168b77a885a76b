extension ReadTransaction {
    /// Verifies that documents not found by their keys do not exist.
    ///
    /// The sync engine calls this before it acts on a missing document. The first call of a
    /// connection compares the collection's index by key with all its rows, O(n log n); later calls
    /// trust the index. A missing collection is searched for a second way as well.
    ///
    /// - Throws: `corrupt` naming file, collection and index where the two differ, and SQLite's
    ///   errors.
    package func confirmAbsent(_ namespace: Namespace) throws(StoreError) {
        guard !connection.isInMemory else { return }
        _ = try tables.onTable(namespace) { (table) throws(StoreError) in
            try connection.catalogCache.compareAll(table, connection)
        }
    }

    /// Returns the `_id`s of a collection's documents that do not match their checksums, by the
    /// keys of their rows; `nil` for an unreadable key.
    ///
    /// O(n).
    ///
    /// - Throws: SQLite's errors.
    package func alteredDocuments(
        _ namespace: Namespace
    ) throws(StoreError) -> [(row: Int64, documentID: BSONValue?)] {
        guard let table = try Catalog.read(namespace, connection) else { return [] }
        let rows = try connection.prepareOnce(
            "SELECT id, key, doc, checksum FROM \(StoreSchema.tableName(table.id)) ORDER BY id")
        var altered: [(row: Int64, documentID: BSONValue?)] = []
        while try rows.step() {
            let checksum = DocumentChecksum.read(rows, 3)
            if rows.withBytes(2, { DocumentChecksum.fits($0, checksum) }) { continue }
            altered.append((rows.int64(0), BSONKey.decode(rows.bytes(1))))
        }
        return altered
    }

    /// Returns how many keys each index of a collection holds, `_id_` first; empty when it does not
    /// exist.
    ///
    /// O(n).
    package func keyCounts(
        _ namespace: Namespace
    ) throws(StoreError) -> [(indexName: String, keys: Int)] {
        guard let table = try Catalog.read(namespace, connection) else { return [] }
        var counts = [("_id_", try count(namespace))]
        for index in try connection.catalogCache.indexes(of: table.id, connection) {
            let keys = StoredIndex.tableName(index.id)
            let count = try connection.int64("SELECT count(*) FROM \(keys)") ?? 0
            counts.append((index.definition.name, Int(count)))
        }
        return counts
    }

    /// Checks the documents and indexes of one collection; O(n log n).
    ///
    /// - Throws: SQLite's errors, except damaged pages, which are reported.
    package func verify(_ namespace: Namespace) throws(StoreError) -> StoreReport {
        var report = StoreReport()
        try StoreCheck(connection: connection).collection(namespace, &report)
        return report
    }
}
