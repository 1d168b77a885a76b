/// A cache of the collections and indexes that one connection sees in its transaction.
///
/// SQLite's schema version, which every change of the schema raises, decides whether cached tables
/// are still valid in the transaction.
final class CatalogCache {
    private var version: UInt32?
    private var tables: [Namespace: CollectionTable] = [:]
    /// The schema version that the cached tables belong to.
    private var schema: Int64?
    /// The most recently requested table; most transactions use one.
    @exclusivity(unchecked) private var lastTable: CollectionTable?
    /// Whether the transaction has read its schema version.
    private var isSchemaKnown = false
    /// The statement of ``syncedQuery(_:)``; empty where nothing is synced.
    private var syncedQuery: String?
    private var indexes: [Int64: [StoredIndex]] = [:]
    /// The most recently requested table with its indexes.
    private var last: (table: Int64, indexes: [StoredIndex])?
    /// The tables that were compared with their indexes, in samples or completely; numbers are
    /// never reused.
    private var probed: Set<Int64> = []
    private var lastProbed: Int64 = -1
    private var compared: Set<Int64> = []
    /// The tables where a full read found as many rows as the index has keys.
    private var counted: Set<Int64> = []
    private var isCatalogChecked = false
    /// Indexes by number; an unchanged index is not read again.
    private var known: [Int64: StoredIndex] = [:]

    /// Discards what another commit may have changed.
    func validate(_ version: UInt32) {
        guard self.version != version else { return }
        invalidate()
        self.version = version
    }

    /// Records the file version after the connection's own commit.
    func adopt(_ version: UInt32) { self.version = version }

    /// Requires a new look, because the next transaction may see another state.
    func invalidate() {
        version = nil
        last = nil
        lastTable = nil
        indexes.removeAll(keepingCapacity: true)
        isSchemaKnown = false
    }

    /// Discards what an undone transaction may have created.
    func invalidateAll() {
        invalidate()
        forgetTables()
    }

    /// Discards the tables, because the transaction itself created, dropped or renamed one.
    func forgetTables() {
        tables.removeAll(keepingCapacity: true)
        lastTable = nil
        schema = nil
        syncedQuery = nil
        isSchemaKnown = false
    }

    /// Returns the collection's table as the transaction sees it; `nil` when it does not exist.
    func table(
        _ namespace: Namespace, _ connection: SQLiteConnection
    ) throws(StoreError) -> CollectionTable? {
        if !isSchemaKnown { try readSchema(connection) }
        if let known = tables[namespace] { return known }
        if !isCatalogChecked, !connection.isInMemory {
            try Catalog.check(connection)
            isCatalogChecked = true
        }
        guard let found = try Catalog.read(namespace, connection) else { return nil }
        tables[namespace] = found
        return found
    }

    /// Returns the collection's table as ``table(_:_:)`` does, after its first use compared samples
    /// of it with its indexes.
    @inline(__always)
    func probedTable(
        _ namespace: Namespace, _ connection: SQLiteConnection
    ) throws(StoreError) -> CollectionTable? {
        if let lastTable, lastTable.namespace == namespace { return lastTable }
        guard let table = try table(namespace, connection) else { return nil }
        try probe(table, connection)
        lastTable = table
        return table
    }

    /// Discards what belongs to another schema version.
    private func readSchema(_ connection: SQLiteConnection) throws(StoreError) {
        let schema = try connection.int64("PRAGMA schema_version")
        if schema != self.schema {
            tables.removeAll(keepingCapacity: true)
            syncedQuery = nil
            self.schema = schema
        }
        isSchemaKnown = true
    }

    /// Returns the statement that decides whether a collection is synced; `nil` where the file has
    /// no engine's tables.
    func syncedQuery(_ connection: SQLiteConnection) throws(StoreError) -> String? {
        if !isSchemaKnown { try readSchema(connection) }
        let query: String
        if let known = syncedQuery {
            query = known
        } else {
            query = try SyncedCollections.query(connection)
            syncedQuery = query
        }
        return query.isEmpty ? nil : query
    }

    /// Compares samples of a table with its indexes, once per connection; a table whose comparison
    /// failed is compared again.
    ///
    /// - Throws: `corrupt` naming the collection and the index.
    func probe(_ table: CollectionTable, _ connection: SQLiteConnection) throws(StoreError) {
        // Most calls use the table of the call before.
        guard table.id != lastProbed else { return }
        if !probed.contains(table.id), !connection.isInMemory {
            try TableCheck(table: table, connection: connection).probe()
            probed.insert(table.id)
        }
        lastProbed = table.id
    }

    /// Compares the rows that a full read found with the number of keys in the index, once per
    /// connection: a lost page makes one of the two smaller.
    ///
    /// - Throws: `corrupt` naming the collection and the index.
    func compare(
        _ rows: Int64, with table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) {
        guard !counted.contains(table.id), !connection.isInMemory else { return }
        try TableCheck(table: table, connection: connection).compare(rows)
        counted.insert(table.id)
    }

    /// Compares all rows of a table with its index by key, once per connection.
    ///
    /// - Throws: `corrupt` naming the collection and the index.
    func compareAll(_ table: CollectionTable, _ connection: SQLiteConnection) throws(StoreError) {
        guard !compared.contains(table.id) else { return }
        try TableCheck(table: table, connection: connection).compareAll()
        compared.insert(table.id)
    }

    /// Discards one collection's indexes.
    func forget(_ table: Int64) {
        last = nil
        indexes[table] = nil
    }

    /// Returns the indexes of a collection's table in order of creation, without the `_id` index.
    func indexes(
        of table: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) -> [StoredIndex] {
        if let last, last.table == table { return last.indexes }
        if let found = indexes[table] {
            last = (table, found)
            return found
        }
        let statement: SQLiteStatement
        do throws(StoreError) {
            statement = try connection.prepare(
                """
                SELECT id, specification, multikey FROM store_indexes
                WHERE collection = ?1 ORDER BY id
                """)
        } catch {
            // A file of schema version 1 that is open read-only has no such table.
            guard error.code == .namespaceNotFound else { throw error }
            return []
        }
        statement.bind(1, table)
        var found: [StoredIndex] = []
        while try statement.step() {
            let id = statement.int64(0)
            let bytes = statement.bytes(1)
            let isMultikey = statement.int64(2) != 0
            if let index = known[id], index.isMultikey == isMultikey,
                index.table == table, index.specification == bytes
            {
                found.append(index)
            } else {
                let index = try StoredIndex(
                    id: id, table: table, specification: bytes, isMultikey: isMultikey,
                    place: connection.reserveNumbers(StoredIndex.Statement.allCases.count))
                known[id] = index
                found.append(index)
            }
        }
        indexes[table] = found
        return found
    }
}
