/// Names the table of one collection with the statements that run on it.
final class CollectionTable: Sendable {
    let id: Int64
    let namespace: Namespace
    let insert: String
    let get: String
    let getRow: String
    let updateRow: String
    let deleteRow: String
    let scan: String
    let count: String

    init(id: Int64, namespace: Namespace) {
        self.id = id
        self.namespace = namespace
        let table = StoreSchema.tableName(id)
        insert = "INSERT INTO \(table) (key, doc) VALUES (?1, ?2)"
        get = "SELECT id, doc FROM \(table) WHERE key = ?1"
        getRow = "SELECT key, doc FROM \(table) WHERE id = ?1"
        updateRow = "UPDATE \(table) SET doc = ?2 WHERE id = ?1"
        deleteRow = "DELETE FROM \(table) WHERE id = ?1"
        scan = "SELECT id, key, doc FROM \(table) ORDER BY id"
        count = "SELECT count(*) FROM \(table)"
    }
}

/// Remembers which table a collection has, for all connections of a store.
///
/// Only what is committed gets in. A number is never used for another collection, so an entry is
/// either true or its table is gone, which SQLite then says.
final class Catalog: Sendable {
    private let tables = Locked<[Namespace: CollectionTable]>([:])

    func known(_ namespace: Namespace) -> CollectionTable? {
        tables.withLock { $0[namespace] }
    }

    func remember(_ table: CollectionTable) {
        tables.withLock { $0[table.namespace] = table }
    }

    func forget(_ namespace: Namespace) {
        tables.withLock { $0[namespace] = nil }
    }

    /// Looks the collection up in the file, as the connection's transaction sees it.
    static func read(
        _ namespace: Namespace, _ connection: SQLiteConnection
    ) throws(StoreError) -> CollectionTable? {
        let statement = try connection.prepare(
            "SELECT id FROM store_collections WHERE database = ?1 AND name = ?2")
        statement.bind(1, namespace.database)
        statement.bind(2, namespace.collection)
        guard try statement.step() else { return nil }
        return CollectionTable(id: statement.int64(0), namespace: namespace)
    }

    /// Makes the collection in the connection's transaction.
    static func create(
        _ namespace: Namespace, _ connection: SQLiteConnection
    ) throws(StoreError) -> CollectionTable {
        try namespace.check()
        let statement = try connection.prepare(
            "INSERT INTO store_collections (database, name) VALUES (?1, ?2)")
        statement.bind(1, namespace.database)
        statement.bind(2, namespace.collection)
        try statement.run()
        let id = connection.lastInsertedRowID
        try connection.executeOnce(StoreSchema.tableStatement(id))
        return CollectionTable(id: id, namespace: namespace)
    }
}
