/// One index of a collection in the file.
final class StoredIndex: Sendable {
    /// The number, which names the table and is never reused.
    let id: Int64
    let definition: IndexDefinition
    /// Whether some document has several keys or an array on a path.
    let isMultikey: Bool
    /// Whether no two documents may have equal keys.
    let refusesEqualKeys: Bool
    private let generator: IndexKeyGenerator
    /// The validator of places, for a geo index.
    private let places: GeoIndexValidator?
    /// The paths that may hold no array: the regular fields of a compound wildcard index.
    private let singlePaths: [[String]]
    /// The fields of a text index.
    private let texts: TextIndexFields?
    /// The collation of the keys; `nil` compares bytes.
    let collation: Collation?
    /// The key generator of a wildcard index.
    let wildcard: WildcardKeyGenerator?
    /// The filter of a partial index.
    let filter: Filter?
    /// The definition's bytes, which reveal a change by another process.
    let specification: [UInt8]
    /// The number of the collection's table.
    let table: Int64
    /// The slot of the statements in each connection; unique to this object.
    private let place: Int?

    /// The statements on the index's table.
    enum Statement: Int, CaseIterable {
        /// Adds key ?1 of row ?2.
        case insert
        /// Removes key ?1 of row ?2.
        case delete
        /// Reads one row of key ?1.
        case row
        /// Reads the rows of key ?1.
        case rows
        /// Reads the rows of the keys from ?1 up to, but excluding, ?2.
        case forward
        /// Reads them in reverse.
        case backward
        /// Reads the documents of the keys from ?1 up to, but excluding, ?2.
        case forwardDocuments
        /// Reads them in reverse.
        case backwardDocuments
        /// Reads documents and rows of the keys from ?1 up to, but excluding, ?2.
        case forwardBoth
        /// Reads them in reverse.
        case backwardBoth
        /// Reads the first row of the keys from ?1 up to, but excluding, ?2.
        case first
        /// Counts the keys from ?1 up to, but excluding, ?2, at most ?3.
        case count
        /// Counts the rows of the keys from ?1 up to, but excluding, ?2.
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
            try Collation(document).unlessSimple
        }
        self.collation = collation
        generator = IndexKeyGenerator(definition, collation)
        places = GeoIndexValidator(definition)
        texts = definition.textFields
        singlePaths =
            definition.wildcardField == nil
            ? []
            : definition.keys.filter { !IndexKeyPatternParser.isWildcard($0.path) }.map {
                $0.path.dottedParts
            }
        wildcard = definition.wildcardField.map {
            WildcardKeyGenerator(field: $0, projection: definition.wildcardProjection)
        }
        filter = try definition.partialFilter.map { (document) throws(StoreError) in
            try Filter(document, options: FilterOptions(collation: collation))
        }
    }

    static func tableName(_ id: Int64) -> String { "index_\(id)" }

    /// Returns the SQL of a statement.
    private func text(_ statement: Statement) -> String {
        let name = Self.tableName(id)
        let range = "FROM \(name) AS i WHERE i.key >= ?1 AND i.key < ?2"
        // A key without its document gives NULL and so is noticed.
        let documents = """
            FROM \(name) AS i LEFT JOIN \(StoreSchema.tableName(table)) AS d ON d.id = i.id
            WHERE i.key >= ?1 AND i.key < ?2 ORDER BY
            """
        return switch statement {
        case .insert: "INSERT OR IGNORE INTO \(name) (key, id) VALUES (?1, ?2)"
        case .delete: "DELETE FROM \(name) WHERE key = ?1 AND id = ?2"
        case .row: "SELECT id FROM \(name) WHERE key = ?1 LIMIT 1"
        case .rows: "SELECT id FROM \(name) WHERE key = ?1"
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

    /// Returns the statement that creates the index's table.
    static func tableStatement(_ id: Int64) -> String {
        "CREATE TABLE \(tableName(id)) (key BLOB NOT NULL, id INTEGER NOT NULL, "
            + "PRIMARY KEY (key, id)) WITHOUT ROWID"
    }

    /// Checks that a document to be written can be in the index.
    ///
    /// Stored documents are indexed without this check, so that invalid ones of an earlier version
    /// can be removed or repaired.
    ///
    /// - Throws: what ``GeoIndexValidator/check(_:)`` throws; 7246301 for an array in a regular
    ///   field of a compound wildcard index; 17261 and 17262 for the language of a text; 16746 for
    ///   a position in an array that is also a name.
    func check(_ document: BSONDocument) throws(StoreError) {
        guard places != nil || texts != nil || !singlePaths.isEmpty || generator.hasPositions,
            try isInScope(document)
        else { return }
        try generator.checkPositions(of: document)
        try places?.check(document)
        try texts?.checkLanguages(of: document)
        for path in singlePaths where Self.meetsArray(path[...], .document(document)) {
            throw StoreError.location(
                7_246_301,
                "The regular fields of a compound wildcard index cannot hold arrays: "
                    + path.joined(separator: "."))
        }
    }

    private static func meetsArray(_ path: ArraySlice<String>, _ value: BSONValue) -> Bool {
        if value.type == .array { return true }
        guard let part = path.first, let next = value.documentValue?[part] else { return false }
        return meetsArray(path.dropFirst(), next)
    }

    /// Whether the index has places as keys.
    var holdsPlaces: Bool { places != nil }

    /// Whether a document is in the index, if that has places as keys.
    ///
    /// - Throws: the budget's error once it is over.
    func holds(_ document: BSONDocument) throws(StoreError) -> Bool {
        guard let places, try isInScope(document) else { return false }
        return places.holds(document)
    }

    /// Whether a document passes the filter of a partial index.
    ///
    /// - Throws: the budget's error once it is over: a match that it cut short proves nothing.
    private func isInScope(_ document: BSONDocument) throws(StoreError) -> Bool {
        guard let filter else { return true }
        let isFound = filter.matches(document)
        try WorkBudget.spend()
        return isFound
    }

    /// Returns the keys of a document; none if it is not in the index.
    func keys(of document: BSONDocument) throws(StoreError) -> IndexKeyGenerator.Keys {
        guard definition.hasKeys, try isInScope(document) else {
            return IndexKeyGenerator.Keys()
        }
        var keys: IndexKeyGenerator.Keys
        if let wildcard {
            keys = wildcard.keys(of: document, collation).sorted
        } else {
            keys = try generator.keys(of: document)
        }
        // An array in a document outside the index does not make the index multikey.
        if keys.keys.isEmpty { keys.isMultikey = false }
        return keys
    }

    /// Returns the keys of a document with their values; a key of a wildcard index begins with its path.
    ///
    /// - Throws: as ``keys(of:)`` does.
    func entries(
        of document: BSONDocument
    ) throws(StoreError) -> [(key: [UInt8], values: [BSONValue])] {
        if let wildcard { return wildcard.entries(of: document, collation) }
        return try generator.entries(of: document)
    }
}
