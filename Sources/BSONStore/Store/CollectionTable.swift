/// Names the table of one collection with the statements that run on it.
final class CollectionTable: Sendable {
    let id: Int64
    let namespace: Namespace
    private let statements: [String]

    /// The statements that run often.
    enum Statement: Int, CaseIterable, Sendable {
        /// Adds key ?1 with document ?2.
        case insert
        /// Gives row and document of key ?1.
        case get
        /// Gives key and document of row ?1.
        case getRow
        /// Puts document ?2 into row ?1.
        case updateRow
        /// Removes row ?1.
        case deleteRow
        /// Gives the document of all rows in the order of insertion.
        case scan
        /// Gives document and row of all rows in the order of insertion.
        case scanRows
        /// Gives the number of rows.
        case count
    }

    init(id: Int64, namespace: Namespace) {
        self.id = id
        self.namespace = namespace
        let table = StoreSchema.tableName(id)
        statements = Statement.allCases.map { Self.sql($0, table) }
    }

    /// The statement's text.
    func sql(_ statement: Statement) -> String { statements[statement.rawValue] }

    private static func sql(_ statement: Statement, _ table: String) -> String {
        switch statement {
        case .insert: "INSERT INTO \(table) (key, doc) VALUES (?1, ?2)"
        case .get: "SELECT id, doc FROM \(table) WHERE key = ?1"
        case .getRow: "SELECT key, doc FROM \(table) WHERE id = ?1"
        case .updateRow: "UPDATE \(table) SET doc = ?2 WHERE id = ?1"
        case .deleteRow: "DELETE FROM \(table) WHERE id = ?1"
        case .scan: "SELECT doc FROM \(table) ORDER BY id"
        case .scanRows: "SELECT doc, id FROM \(table) ORDER BY id"
        case .count: "SELECT count(*) FROM \(table)"
        }
    }
}

extension SQLiteConnection {
    /// A statement of a collection's table; found without looking at its text after the first time.
    func prepare(
        _ statement: CollectionTable.Statement, _ table: CollectionTable
    ) throws(StoreError) -> SQLiteStatement {
        let place = Int(table.id) * CollectionTable.Statement.allCases.count + statement.rawValue
        return try prepare(numbered: place) { table.sql(statement) }
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
