/// The list of the file's collections.
enum Catalog {
    /// Reads a collection's table as the connection's transaction sees it.
    static func read(
        _ namespace: Namespace, _ connection: SQLiteConnection
    ) throws(StoreError) -> CollectionTable? {
        let statement = try connection.prepare(
            "SELECT id FROM store_collections WHERE database = ?1 AND name = ?2")
        statement.bind(1, namespace.database)
        statement.bind(2, namespace.collection)
        guard try statement.step() else {
            try confirmAbsent(namespace, connection)
            return nil
        }
        let id = statement.int64(0)
        return try CollectionTable(
            id: id, namespace: namespace, options: try options(id, connection).options)
    }

    /// Searches for a collection without the index by name, which reports "absent" where it is
    /// damaged.
    private static func confirmAbsent(
        _ namespace: Namespace, _ connection: SQLiteConnection
    ) throws(StoreError) {
        let scan = try connection.prepare(
            """
            SELECT 1 FROM store_collections NOT INDEXED
            WHERE +database = ?1 AND +name = ?2 LIMIT 1
            """)
        scan.bind(1, namespace.database)
        scan.bind(2, namespace.collection)
        if try scan.step() {
            throw damaged("the index by name of store_collections", namespace, connection)
        }
    }

    /// Compares the lists of collections and indexes with each other and with the tables; O(n) in
    /// the collections.
    ///
    /// - Throws: `corrupt` naming the difference.
    static func check(_ connection: SQLiteConnection) throws(StoreError) {
        func count(_ sql: String) throws(StoreError) -> Int64 {
            try connection.int64("SELECT count(*) FROM \(sql)") ?? 0
        }
        let ofTables = "sqlite_schema WHERE type = 'table' AND name GLOB"
        let collections = try count("\(ofTables) 'collection_[0-9]*'")
        guard try count("store_collections NOT INDEXED") == collections,
            try count("store_collections WHERE database >= ''") == collections
        else { throw damaged("store_collections", nil, connection) }
        guard try count("\(ofTables) 'store_options'") == 1 else { return }
        guard try count("store_options") == collections else {
            throw damaged("store_options", nil, connection)
        }
        let indexes = try count("\(ofTables) 'index_[0-9]*'")
        guard try count("store_indexes NOT INDEXED") == indexes,
            try count("store_indexes WHERE collection >= 0") == indexes
        else { throw damaged("store_indexes", nil, connection) }
    }

    private static func damaged(
        _ what: String, _ namespace: Namespace?, _ connection: SQLiteConnection
    ) -> StoreError {
        StoreError(
            .corrupt,
            "\(connection.fileDescription) is damaged: \(what) does not fit the tables that are "
                + "there. Run `verify`, and put a backup back or fetch the documents again",
            namespace: namespace)
    }

    /// Returns the UUID and the options of the collection with a number.
    static func options(
        _ id: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) -> (uuid: [UInt8], options: CollectionOptions) {
        let statement: SQLiteStatement
        do throws(StoreError) {
            statement = try connection.prepare(
                "SELECT uuid, options FROM store_options WHERE collection = ?1")
        } catch {
            // A file of schema version 1 that is open read-only has no such table.
            guard error.code == .namespaceNotFound else { throw error }
            return (Array(repeating: 0, count: 16), .none)
        }
        statement.bind(1, id)
        guard try statement.step() else {
            throw StoreError(.corrupt, "The options of collection \(id) are missing")
        }
        let document: BSONDocument
        do throws(BSONError) {
            document = try BSONDocument(validating: statement.bytes(1))
        } catch {
            throw StoreError(
                .corrupt, "The options of collection \(id) cannot be read", underlying: error)
        }
        let uuid = statement.bytes(0)
        guard uuid.count == 16 else {
            throw StoreError(
                .corrupt, "The UUID of collection \(id) has \(uuid.count) bytes instead of 16")
        }
        return (uuid, try CollectionOptions(document))
    }

    /// Returns the UUID of a collection, as MongoDB shows it.
    static func uuid(
        _ table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) -> BSONValue {
        shown(try options(table.id, connection).uuid)
    }

    /// Returns a UUID with the version bits of a random UUID.
    static func shown(_ uuid: [UInt8]) -> BSONValue {
        var uuid = uuid
        uuid[6] = uuid[6] & 0x0F | 0x40
        uuid[8] = uuid[8] & 0x3F | 0x80
        return .binary(BSONBinary(uuid, subtype: 4))
    }

    /// Creates the collection in the connection's transaction.
    ///
    /// - Throws: `invalidNamespace` (73).
    static func create(
        _ namespace: Namespace, _ options: CollectionOptions, _ connection: SQLiteConnection
    ) throws(StoreError) -> CollectionTable {
        let id = try register(namespace, options, uuid: randomUUID(), connection)
        try connection.executeOnce(StoreSchema.tableStatement(id))
        return try CollectionTable(id: id, namespace: namespace, options: options)
    }

    /// Changes a collection's name or options, and with them its table number.
    static func renew(
        _ table: CollectionTable, as namespace: Namespace, _ options: CollectionOptions,
        _ connection: SQLiteConnection
    ) throws(StoreError) {
        let uuid = try self.options(table.id, connection).uuid
        try unregister(table, connection)
        let id = try register(namespace, options, uuid: uuid, connection)
        try connection.executeOnce(
            "ALTER TABLE \(StoreSchema.tableName(table.id)) RENAME TO \(StoreSchema.tableName(id))")
        let indexes = try connection.prepare(
            "UPDATE store_indexes SET collection = ?2 WHERE collection = ?1")
        indexes.bind(1, table.id)
        indexes.bind(2, id)
        try indexes.run()
        let tombstones = try connection.prepare(
            "UPDATE store_tombstones SET collection = ?2 WHERE collection = ?1")
        tombstones.bind(1, table.id)
        tombstones.bind(2, id)
        try tombstones.run()
    }

    /// Removes the collection with its documents and indexes.
    static func remove(
        _ table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) {
        try unregister(table, connection)
        for index in try connection.catalogCache.indexes(of: table.id, connection) {
            try connection.executeOnce("DROP TABLE \(StoredIndex.tableName(index.id))")
        }
        try run("DELETE FROM store_indexes WHERE collection = ?1", table.id, connection)
        try run("DELETE FROM store_tombstones WHERE collection = ?1", table.id, connection)
        try connection.executeOnce("DROP TABLE \(StoreSchema.tableName(table.id))")
    }

    private static func register(
        _ namespace: Namespace, _ options: CollectionOptions, uuid: [UInt8],
        _ connection: SQLiteConnection
    ) throws(StoreError) -> Int64 {
        try namespace.check()
        let statement = try connection.prepare(
            "INSERT INTO store_collections (database, name) VALUES (?1, ?2)")
        statement.bind(1, namespace.database)
        statement.bind(2, namespace.collection)
        try statement.run()
        let id = connection.lastInsertedRowID
        let details = try connection.prepare(
            "INSERT INTO store_options (collection, uuid, options) VALUES (?1, ?2, ?3)")
        details.bind(1, id)
        details.bind(2, uuid)
        details.bind(3, options.document.bytes)
        try details.run()
        return id
    }

    private static func unregister(
        _ table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) {
        try run("DELETE FROM store_collections WHERE id = ?1", table.id, connection)
        try run("DELETE FROM store_options WHERE collection = ?1", table.id, connection)
    }

    private static func run(
        _ sql: String, _ id: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) {
        let statement = try connection.prepare(sql)
        statement.bind(1, id)
        try statement.run()
    }

    private static func randomUUID() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}
