/// A comparison of a collection's table with its index by key, because SQLite trusts an index that
/// has lost rows.
///
/// An index with an emptied page reports "absent" for rows that exist.
struct TableCheck {
    /// The largest number of rows to look up when a connection first uses a collection.
    private static let probesMax: Int64 = 32
    /// The total size of the documents to read for the secondary indexes, in bytes.
    private static let bytesMax = 512 * 1024

    let table: CollectionTable
    let connection: SQLiteConnection
    private var name: String { StoreSchema.tableName(table.id) }

    /// Looks up some rows by key and some keys by row; O(log n).
    ///
    /// - Throws: `corrupt` naming the collection and the index.
    func probe() throws(StoreError) {
        guard let first = try edge("id"), let last = try edge("id DESC") else {
            if try edge("key") != nil { throw damaged("_id_", "a key has no document") }
            return
        }
        for order in ["key", "key DESC"] {
            guard let row = try edge(order) else {
                throw damaged("_id_", "it is empty and the collection is not")
            }
            guard try isThere(row) else { throw damaged("_id_", "a key has no document") }
        }
        let next = try connection.prepare(
            "SELECT id, key FROM \(name) NOT INDEXED WHERE id >= ?1 ORDER BY id LIMIT 1")
        let byKey = try connection.prepare("SELECT id FROM \(name) WHERE key = ?1")
        let indexes = try connection.catalogCache.indexes(of: table.id, connection)
        let step = max(1, (last &- first) / Self.probesMax)
        var (at, byteCount) = (first, 0)
        while at <= last {
            next.bind(1, at)
            guard try next.step() else { break }
            let row = next.int64(0)
            guard row >= at else { throw damaged("the table's own", "its rows are out of order") }
            try compare(row, next.bytes(1), byKey)
            if !indexes.isEmpty, byteCount < Self.bytesMax {
                byteCount += try compare(row, indexes)
            }
            next.reset()
            // The file supplies the row numbers.
            let (following, isOver) = max(row, at).addingReportingOverflow(step)
            if isOver { break }
            at = following
        }
    }

    /// Looks every row up by key; O(n log n).
    ///
    /// - Throws: `corrupt` naming the collection, the index and a document.
    func compareAll() throws(StoreError) {
        let rows = try connection.prepare("SELECT id, key FROM \(name) NOT INDEXED ORDER BY id")
        let byKey = try connection.prepare("SELECT id FROM \(name) WHERE key = ?1")
        var count: Int64 = 0
        while try rows.step() {
            try compare(rows.int64(0), rows.bytes(1), byKey)
            count += 1
        }
        try compare(count)
    }

    /// Compares the number of rows with the number of keys in the index; O(n), reading small pages.
    ///
    /// - Throws: `corrupt` naming the collection and the index.
    func compare(_ rows: Int64) throws(StoreError) {
        let keys = try connection.int64("SELECT count(*) FROM \(name) WHERE key >= x''") ?? 0
        if keys != rows {
            throw damaged("_id_", "keys: \(keys), documents: \(rows)")
        }
    }

    private func edge(_ order: String) throws(StoreError) -> Int64? {
        let (hint, test) = order.hasBytePrefix("id") ? ("NOT INDEXED", "1") : ("", "key >= x''")
        return try connection.int64(
            "SELECT id FROM \(name) \(hint) WHERE \(test) ORDER BY \(order) LIMIT 1")
    }

    private func isThere(_ row: Int64) throws(StoreError) -> Bool {
        let statement = try connection.prepare("SELECT 1 FROM \(name) NOT INDEXED WHERE id = ?1")
        statement.bind(1, row)
        return try statement.step()
    }

    private func compare(
        _ row: Int64, _ key: [UInt8], _ byKey: borrowing SQLiteStatement
    ) throws(StoreError) {
        byKey.bind(1, key)
        guard try byKey.step(), byKey.int64(0) == row else {
            var error = damaged("_id_", "a document is not found by its key")
            error.documentID = BSONKey.decode(key)
            throw error
        }
        byKey.reset()
    }

    /// Looks up the keys of a row's document in the secondary indexes; returns the document's size.
    private func compare(_ row: Int64, _ indexes: [StoredIndex]) throws(StoreError) -> Int {
        let statement = try connection.prepare(.getRow, table)
        statement.bind(1, row)
        guard try statement.step() else { return 0 }
        // A damaged document is reported when it is read.
        guard statement.withBytes(1, { BSONValidator.isValid($0) }) else { return 0 }
        let document = BSONDocument(unchecked: statement.bytes(1))
        for index in indexes {
            let there = try connection.prepare(
                "SELECT 1 FROM \(StoredIndex.tableName(index.id)) WHERE key = ?1 AND id = ?2")
            let keys: [[UInt8]]
            do throws(StoreError) {
                keys = try index.keys(of: document).keys
            } catch {
                // `verify()` reports documents that cannot be indexed.
                continue
            }
            for key in keys.prefix(4) {
                there.bind(1, key)
                there.bind(2, row)
                guard try there.step() else {
                    var error = damaged(index.definition.name, "a document's key is missing")
                    error.documentID = document["_id"]
                    throw error
                }
                there.reset()
            }
        }
        return document.byteCount
    }

    private func damaged(_ index: String, _ what: String) -> StoreError {
        StoreError(
            .corrupt,
            "\(connection.fileDescription) is damaged: index \(index) does not fit its documents, "
                + "\(what). Run `verify`, and put a backup back or fetch the documents again",
            namespace: table.namespace)
    }
}
