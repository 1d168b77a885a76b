/// Remembers the collections and indexes that one connection sees in its transaction.
///
/// What it gives is true in the state that the transaction sees: a number of SQLite's, which every
/// change of the schema raises, tells whether the tables of collections are still the same.
final class CatalogCache {
    private var version: UInt32?
    private var tables: [Namespace: CollectionTable] = [:]
    /// The schema that the tables belong to.
    private var schema: Int64?
    /// Whether the transaction was asked for its schema.
    private var isSchemaKnown = false
    /// See ``syncedQuery(_:)``; empty where nothing is synced.
    private var syncedQuery: String?
    private var indexes: [Int64: [StoredIndex]] = [:]
    /// The table that was asked about last with its indexes.
    private var last: (table: Int64, indexes: [StoredIndex])?
    /// Tables whose indexes were compared with a few rows, or with all; a number is never used again.
    private var probed: Set<Int64> = []
    private var lastProbed: Int64 = -1
    private var compared: Set<Int64> = []
    /// Tables of which a whole read found as many rows as the index has keys.
    private var counted: Set<Int64> = []
    private var isCatalogChecked = false
    /// Read before; an index that did not change is not read again.
    private var known: [Int64: StoredIndex] = [:]

    /// Forgets what another commit may have changed.
    func validate(_ version: UInt32) {
        guard self.version != version else { return }
        invalidate()
        self.version = version
    }

    /// Notes that the connection's own commit left the file at a version.
    func adopt(_ version: UInt32) { self.version = version }

    /// Looks again, because the next transaction may see another state.
    func invalidate() {
        version = nil
        last = nil
        indexes.removeAll(keepingCapacity: true)
        isSchemaKnown = false
    }

    /// Forgets what a transaction that is undone may have made.
    func invalidateAll() {
        invalidate()
        forgetTables()
    }

    /// Forgets the tables, because the transaction itself made, dropped or renamed one.
    func forgetTables() {
        tables.removeAll(keepingCapacity: true)
        schema = nil
        syncedQuery = nil
        isSchemaKnown = false
    }

    /// Returns the collection's table in the state that the transaction sees, `nil` when it is not
    /// there.
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

    /// Forgets what belongs to another schema.
    private func readSchema(_ connection: SQLiteConnection) throws(StoreError) {
        let schema = try connection.int64("PRAGMA schema_version")
        if schema != self.schema {
            tables.removeAll(keepingCapacity: true)
            syncedQuery = nil
            self.schema = schema
        }
        isSchemaKnown = true
    }

    /// Returns the statement that tells whether a sync engine keeps a collection in step; `nil`
    /// where the file has no engine's tables.
    func syncedQuery(_ connection: SQLiteConnection) throws(StoreError) -> String? {
        if !isSchemaKnown { try readSchema(connection) }
        let query: String
        if let known = syncedQuery {
            query = known
        } else {
            query = try Self.syncedQuery(connection)
            syncedQuery = query
        }
        return query.isEmpty ? nil : query
    }

    /// Compares a table with its indexes in a few places, once per connection.
    ///
    /// - Throws: `corrupt` naming the collection and the index.
    func probe(_ table: CollectionTable, _ connection: SQLiteConnection) throws(StoreError) {
        // Most calls are about the table of the call before.
        guard table.id != lastProbed else { return }
        defer { lastProbed = table.id }
        guard !probed.contains(table.id), !connection.isInMemory else { return }
        try TableCheck(table: table, connection: connection).probe()
        probed.insert(table.id)
    }

    /// Compares how many rows a read of a whole table found with how many keys its index has, once per
    /// connection: where a page was lost, one of the two has fewer.
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

    /// Forgets one collection's indexes.
    func forget(_ table: Int64) {
        last = nil
        indexes[table] = nil
    }

    /// Returns the indexes of a collection's table in the order in which they were made, `_id`'s
    /// apart.
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
            // A file of schema version 1 that is open for reading only.
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
