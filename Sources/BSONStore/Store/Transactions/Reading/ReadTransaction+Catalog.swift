extension ReadTransaction {
    /// Returns the options of a collection; `nil` when it does not exist or the access policy hides
    /// it.
    public func options(_ namespace: Namespace) throws(StoreError) -> CollectionOptions? {
        guard isOpen(namespace) else { return nil }
        return try Catalog.read(namespace, connection)?.options
    }

    /// Returns the UUID of a collection as MongoDB shows it; `nil` for a missing collection or a
    /// view.
    package func uuid(_ namespace: Namespace) throws(StoreError) -> BSONValue? {
        guard let table = try Catalog.read(namespace, connection), table.options.view == nil
        else { return nil }
        return try Catalog.uuid(table, connection)
    }

    /// Returns the collections and views of a database as `listCollections` shows them, in name
    /// order.
    ///
    /// - Parameters:
    ///   - filter: the filter on the result's documents; they have `name`, `type`, `options`,
    ///     `info` with the UUID, and `idIndex`.
    ///   - nameOnly: whether to return only `name` and `type`.
    /// - Throws: SQLite's errors.
    public func listCollections(
        _ database: String, filter: Filter = .all, nameOnly: Bool = false
    ) throws(StoreError) -> [BSONDocument] {
        let statement = try connection.prepare(
            "SELECT id, name FROM store_collections WHERE database = ?1 ORDER BY name")
        statement.bind(1, database)
        var found: [BSONDocument] = []
        while try statement.step() {
            let (uuid, options) = try Catalog.options(statement.int64(0), connection)
            let isRestricted = isRestricted(Namespace(database, statement.string(1)))
            let entry = Self.entry(
                statement.string(1), uuid, options, isRestricted: isRestricted)
            guard filter.matches(entry), isOpen(Namespace(database, statement.string(1))) else {
                continue
            }
            found.append(
                nameOnly
                    ? BSONDocument(entry.prefix(2).map { ($0.key, $0.value) }) : entry)
        }
        return found
    }

    /// The options that do not reveal field names, as validators and views do.
    private static let harmless: Set<String> = [
        "capped", "size", "max", "collation", "changeStreamPreAndPostImages",
    ]

    private static func entry(
        _ name: String, _ uuid: [UInt8], _ options: CollectionOptions, isRestricted: Bool
    ) -> BSONDocument {
        let all = options.document
        let told = isRestricted ? BSONDocument(all.filter { harmless.contains($0.key) }) : all
        var entry: BSONDocument = [
            "name": .string(name), "type": options.view == nil ? "collection" : "view",
            "options": .document(told),
        ]
        guard options.view == nil else {
            entry.append("info", ["readOnly": true])
            return entry
        }
        entry.append("info", ["readOnly": false, "uuid": Catalog.shown(uuid)])
        if !options.isClustered {
            entry.append("idIndex", .document(IndexDefinition.id.document))
        }
        return entry
    }

    /// Returns the databases that have a collection, as the command `listDatabases` shows them.
    ///
    /// All databases share the file, so `sizeOnDisk` is the size of the whole file.
    ///
    /// - Throws: SQLite's errors.
    public func listDatabases(
        filter: Filter = .all, nameOnly: Bool = false
    ) throws(StoreError) -> [BSONDocument] {
        // The file's size would reveal how much data the policy hides.
        let pages = accessPolicy == nil ? try connection.int64("PRAGMA page_count") ?? 0 : 0
        let size = pages * (try connection.int64("PRAGMA page_size") ?? 0)
        let statement = try connection.prepare(
            "SELECT DISTINCT database FROM store_collections ORDER BY database")
        var found: [BSONDocument] = []
        while try statement.step() {
            let name = BSONValue.string(statement.string(0))
            let entry: BSONDocument = [
                "name": name, "sizeOnDisk": .int64(size), "empty": false,
            ]
            guard filter.matches(entry), try isOpen(database: statement.string(0)) else { continue }
            found.append(nameOnly ? ["name": name] : entry)
        }
        return found
    }
}

// MARK: - Adapting queries to a collection

extension ReadTransaction {
    /// Completes a filter with the collection's collation (unless it has its own), its text index
    /// and one time for all documents.
    ///
    /// - Throws: `indexNotFound` (27) for `$text` without a text index.
    package func resolved(_ filter: Filter, _ namespace: Namespace) throws(StoreError) -> Filter {
        // An error must not reveal that a hidden collection or its text index exists.
        let filter = filter.timed
        guard isOpen(namespace) else { return filter }
        let found = try onTable(namespace) { (table) throws(StoreError) -> Filter? in
            let waits = filter.waitsForText
            guard table.collation != nil || waits else { return nil }
            guard waits else { return try filter.adapted(to: table.collation, nil) }
            let indexes = try connection.catalogCache.indexes(of: table.id, connection)
            guard let fields = indexes.lazy.compactMap(\.definition.textFields).first else {
                throw StoreError(.indexNotFound, "text index required for $text query")
            }
            return try filter.adapted(to: table.collation, fields)
        }
        return (found ?? nil) ?? filter
    }
}

// MARK: - Views

extension ReadTransaction {
    /// The largest depth of views upon views.
    static let viewDepthMax = 20

    static let tooDeep = StoreError(
        .viewDepthLimitExceeded,
        "View depth too deep or view cycle detected; maximum depth is 20")

    /// Whether a name is that of a view that the access policy shows.
    package func isView(_ namespace: Namespace) throws(StoreError) -> Bool {
        guard isOpen(namespace) else { return false }
        return try view(namespace) != nil
    }

    /// Returns a view's definition; `nil` for a collection.
    func view(_ namespace: Namespace) throws(StoreError) -> CollectionOptions.View? {
        let found = try onTable(namespace) {
            (table) throws(StoreError) -> CollectionOptions.View? in
            guard !table.isPlain, let view = table.options.view else { return nil }
            return view
        }
        return found ?? nil
    }

    /// Calls a body with each matching document of a view until the body returns false.
    func scan(
        _ view: CollectionOptions.View, of database: String, _ filter: Filter,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        // A damaged file may hold views that contain themselves.
        guard viewDepth < Self.viewDepthMax else { throw Self.tooDeep }
        viewDepth += 1
        defer { viewDepth -= 1 }
        let pipeline = try Pipeline(view.pipeline, options: PipelineOptions())
        for document in try aggregate(Namespace(database, view.on), pipeline) {
            let goesOn = try document.withUnsafeBytes { (bytes) throws(StoreError) -> Bool in
                try filter.passes(bytes) ? try body(0, bytes) : true
            }
            guard goesOn else { return }
        }
    }
}
