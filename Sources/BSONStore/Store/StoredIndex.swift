/// One index of a collection as it stands in the file.
final class StoredIndex: Sendable {
    /// The number, which names the table and is never used again.
    let id: Int64
    let definition: IndexDefinition
    /// Some document gave several keys, or has an array on a path.
    let isMultikey: Bool
    private let generator: IndexKeyGenerator
    /// How the keys' texts compare; `nil` by their bytes.
    let collation: Collation?
    /// Makes the keys of a wildcard index.
    let wildcard: WildcardKeys?
    /// The filter of a partial index.
    let filter: Filter?
    /// The definition's bytes, to notice that another process changed it.
    let specification: [UInt8]
    let statements: Statements

    /// The texts of the statements that run on the index's table.
    struct Statements: Sendable {
        let insert: String
        let delete: String
        let row: String
        let forward: String
        let backward: String
        let count: String
        let countRows: String
        let first: String

        init(_ id: Int64) {
            let table = StoredIndex.tableName(id)
            insert = "INSERT OR IGNORE INTO \(table) (key, id) VALUES (?1, ?2)"
            delete = "DELETE FROM \(table) WHERE key = ?1 AND id = ?2"
            row = "SELECT id FROM \(table) WHERE key = ?1 LIMIT 1"
            let range = "FROM \(table) WHERE key >= ?1 AND key < ?2"
            forward = "SELECT id \(range) ORDER BY key, id"
            backward = "SELECT id \(range) ORDER BY key DESC, id DESC"
            countRows = "SELECT count(DISTINCT id) \(range)"
            first = "SELECT id \(range) ORDER BY key, id LIMIT 1"
            count = "SELECT count(*) FROM (SELECT 1 \(range) LIMIT ?3)"
        }
    }

    init(
        id: Int64, specification: [UInt8], isMultikey: Bool
    ) throws(StoreError) {
        self.id = id
        self.isMultikey = isMultikey
        self.specification = specification
        let document: BSONDocument
        do throws(BSONError) {
            document = try BSONDocument(validating: specification)
        } catch {
            throw StoreError(
                .corrupt, "The definition of index \(id) cannot be read", underlying: error)
        }
        let definition = try IndexDefinition(document)
        self.definition = definition
        let collation = try definition.collation.flatMap { (document) throws(StoreError) in
            try Collation(document)
        }
        self.collation = collation
        generator = IndexKeyGenerator(definition, collation)
        wildcard = definition.wildcardField.map {
            WildcardKeys(field: $0, projection: definition.wildcardProjection)
        }
        filter = try definition.partialFilter.map { (document) throws(StoreError) in
            try Filter(document, options: FilterOptions(collation: collation))
        }
        statements = Statements(id)
    }

    static func tableName(_ id: Int64) -> String { "index_\(id)" }

    /// The statement that makes the index's table.
    static func tableStatement(_ id: Int64) -> String {
        "CREATE TABLE \(tableName(id)) (key BLOB NOT NULL, id INTEGER NOT NULL, "
            + "PRIMARY KEY (key, id)) WITHOUT ROWID"
    }

    /// The keys of a document; none where it is not in the index.
    func keys(of document: BSONDocument) throws(StoreError) -> IndexKeyGenerator.Keys {
        guard definition.isFiled, filter?.matches(document) ?? true else {
            return IndexKeyGenerator.Keys()
        }
        guard let wildcard else { return try generator.keys(of: document) }
        return wildcard.keys(of: document, collation).sorted
    }

    /// The error for a document whose key is there already.
    func duplicate(of document: BSONDocument, in namespace: Namespace) -> StoreError {
        let values = definition.keys.map { key in
            (key.path, document[path: key.path] ?? .null)
        }
        let text = values.map { "\($0.0): \(ShellText.text(of: $0.1))" }.joined(separator: ", ")
        var error = StoreError(
            .duplicateKey,
            "E11000 duplicate key error collection: \(namespace) index: \(definition.name) "
                + "dup key: { \(text) }",
            namespace: namespace, documentID: document["_id"])
        error.keyPattern = definition.keyPattern
        error.keyValue = BSONDocument(values)
        return error
    }
}

/// Remembers the indexes that one connection sees.
final class IndexCache {
    private var version: UInt32?
    private var indexes: [Int64: [StoredIndex]] = [:]
    /// Read before; an index that did not change is not read again.
    private var known: [Int64: StoredIndex] = [:]

    /// Forgets what another commit may have changed.
    func validate(_ version: UInt32) {
        guard self.version != version else { return }
        self.version = version
        indexes.removeAll(keepingCapacity: true)
    }

    /// Notes that the connection's own commit left the file at a version.
    func adopt(_ version: UInt32) { self.version = version }

    /// Forgets what a transaction that is undone may have changed.
    func invalidate() {
        version = nil
        indexes.removeAll(keepingCapacity: true)
    }

    /// Forgets one collection's indexes.
    func forget(_ table: Int64) { indexes[table] = nil }

    /// The indexes of a collection's table in the order in which they were made, `_id`'s apart.
    func indexes(
        of table: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) -> [StoredIndex] {
        if let found = indexes[table] { return found }
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
                index.specification == bytes
            {
                found.append(index)
            } else {
                let index = try StoredIndex(
                    id: id, specification: bytes, isMultikey: isMultikey)
                known[id] = index
                found.append(index)
            }
        }
        indexes[table] = found
        return found
    }
}
