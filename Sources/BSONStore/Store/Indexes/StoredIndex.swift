/// One index of a collection as it stands in the file.
final class StoredIndex: Sendable {
    /// The number, which names the table and is never used again.
    let id: Int64
    let definition: IndexDefinition
    /// Some document gave several keys, or has an array on a path.
    let isMultikey: Bool
    /// Whether a key may belong to one document only.
    let refusesEqualKeys: Bool
    private let generator: IndexKeyGenerator
    /// Refuses an invalid place, in an index of places.
    private let places: GeoIndexValidator?
    /// How the keys' texts compare; `nil` by their bytes.
    let collation: Collation?
    /// Makes the keys of a wildcard index.
    let wildcard: WildcardKeyGenerator?
    /// The filter of a partial index.
    let filter: Filter?
    /// The definition's bytes, to notice that another process changed it.
    let specification: [UInt8]
    /// The number of the collection's table.
    let table: Int64
    /// Where a connection keeps the statements; another one for each object.
    private let place: Int?

    /// The statements that run on the index's table.
    enum Statement: Int, CaseIterable {
        /// Adds key ?1 of row ?2.
        case insert
        /// Removes key ?1 of row ?2.
        case delete
        /// Gives one row of key ?1.
        case row
        /// Gives the rows of the keys from ?1 up to, not with, ?2.
        case forward
        /// Gives them from the end.
        case backward
        /// Gives the documents of the keys from ?1 up to, not with, ?2.
        case forwardDocuments
        /// Gives them from the end.
        case backwardDocuments
        /// Gives documents and rows of the keys from ?1 up to, not with, ?2.
        case forwardBoth
        /// Gives them from the end.
        case backwardBoth
        /// Gives the first row of the keys from ?1 up to, not with, ?2.
        case first
        /// Gives the number of keys from ?1 up to, not with, ?2, at most ?3.
        case count
        /// Gives the number of rows of the keys from ?1 up to, not with, ?2.
        case countRows
    }

    init(
        id: Int64, table: Int64, specification: [UInt8], isMultikey: Bool, place: Int? = nil
    ) throws(StoreError) {
        self.id = id
        self.table = table
        self.place = place
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
        refusesEqualKeys = definition.isUnique || definition.preparesUnique
        let collation = try definition.collation.flatMap { (document) throws(StoreError) in
            try Collation(document)
        }
        self.collation = collation
        generator = IndexKeyGenerator(definition, collation)
        places = GeoIndexValidator(definition)
        wildcard = definition.wildcardField.map {
            WildcardKeyGenerator(field: $0, projection: definition.wildcardProjection)
        }
        filter = try definition.partialFilter.map { (document) throws(StoreError) in
            try Filter(document, options: FilterOptions(collation: collation))
        }
    }

    static func tableName(_ id: Int64) -> String { "index_\(id)" }

    /// Returns the text of a statement.
    private func text(_ statement: Statement) -> String {
        let name = Self.tableName(id)
        let range = "FROM \(name) AS i WHERE i.key >= ?1 AND i.key < ?2"
        // A key that leads to no document is noticed: it gives NULL.
        let documents = """
            FROM \(name) AS i LEFT JOIN \(StoreSchema.tableName(table)) AS d ON d.id = i.id
            WHERE i.key >= ?1 AND i.key < ?2 ORDER BY
            """
        return switch statement {
        case .insert: "INSERT OR IGNORE INTO \(name) (key, id) VALUES (?1, ?2)"
        case .delete: "DELETE FROM \(name) WHERE key = ?1 AND id = ?2"
        case .row: "SELECT id FROM \(name) WHERE key = ?1 LIMIT 1"
        case .forward: "SELECT i.id \(range) ORDER BY i.key, i.id"
        case .backward: "SELECT i.id \(range) ORDER BY i.key DESC, i.id DESC"
        case .forwardDocuments: "SELECT d.doc \(documents) i.key, i.id"
        case .backwardDocuments: "SELECT d.doc \(documents) i.key DESC, i.id DESC"
        case .forwardBoth: "SELECT d.doc, i.id \(documents) i.key, i.id"
        case .backwardBoth: "SELECT d.doc, i.id \(documents) i.key DESC, i.id DESC"
        case .first: "SELECT i.id \(range) ORDER BY i.key, i.id LIMIT 1"
        case .count: "SELECT count(*) FROM (SELECT 1 \(range) LIMIT ?3)"
        case .countRows: "SELECT count(DISTINCT i.id) \(range)"
        }
    }

    /// Takes a statement from a connection's cache.
    ///
    /// - Throws: SQLite's errors.
    func prepare(
        _ statement: Statement, _ connection: SQLiteConnection
    ) throws(StoreError) -> SQLiteStatement {
        guard let place else { return try connection.prepare(text(statement)) }
        return try connection.prepare(numbered: place + statement.rawValue) { text(statement) }
    }

    /// Returns the statement that makes the index's table.
    static func tableStatement(_ id: Int64) -> String {
        "CREATE TABLE \(tableName(id)) (key BLOB NOT NULL, id INTEGER NOT NULL, "
            + "PRIMARY KEY (key, id)) WITHOUT ROWID"
    }

    /// Refuses a document that is to be written and cannot be in the index.
    ///
    /// Keys of documents that are there already are made without it, so that what an earlier
    /// version let in can be removed or mended.
    ///
    /// - Throws: what ``GeoIndexValidator/check(_:)`` throws.
    func check(_ document: BSONDocument) throws(StoreError) {
        guard let places, filter?.matches(document) ?? true else { return }
        try places.check(document)
    }

    /// Returns the keys of a document; none where it is not in the index.
    func keys(of document: BSONDocument) throws(StoreError) -> IndexKeyGenerator.Keys {
        guard definition.isFiled, filter?.matches(document) ?? true else {
            return IndexKeyGenerator.Keys()
        }
        var keys: IndexKeyGenerator.Keys
        if let wildcard {
            keys = wildcard.keys(of: document, collation).sorted
        } else {
            keys = try generator.keys(of: document)
        }
        // An array of a document that is not in the index says nothing about it.
        if keys.keys.isEmpty { keys.isMultikey = false }
        return keys
    }
}
