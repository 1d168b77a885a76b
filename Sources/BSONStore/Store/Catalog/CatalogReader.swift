/// A reader of the list of collections, which shows what the access policy allows.
struct CatalogReader {
    /// The transaction's connection.
    let connection: SQLiteConnection
    /// The transaction's access to collections.
    let access: TransactionAccess

    private var tables: TableLookup { TableLookup(connection: connection) }

    /// Returns the collections of the file in order of creation.
    ///
    /// - Throws: SQLite's errors.
    func collections() throws(StoreError) -> [Namespace] {
        let statement = try connection.prepare(
            "SELECT database, name FROM store_collections ORDER BY id")
        var names: [Namespace] = []
        while try statement.step() {
            names.append(Namespace(statement.string(0), statement.string(1)))
        }
        return names
    }

    /// Returns the options of a collection; `nil` when it does not exist or the access policy hides
    /// it.
    func options(_ namespace: Namespace) throws(StoreError) -> CollectionOptions? {
        guard access.isOpen(namespace) else { return nil }
        return try Catalog.read(namespace, connection)?.options
    }

    /// Returns the UUID of a collection as MongoDB shows it; `nil` for a missing collection or a
    /// view.
    func uuid(_ namespace: Namespace) throws(StoreError) -> BSONValue? {
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
    ///   - nameOnly: whether the result's documents have only `name` and `type`.
    /// - Throws: the errors of the filter's expressions, and SQLite's errors.
    func listCollections(
        _ database: String, filter: Filter, nameOnly: Bool
    ) throws(StoreError) -> [BSONDocument] {
        let statement = try connection.prepare(
            "SELECT id, name FROM store_collections WHERE database = ?1 ORDER BY name")
        statement.bind(1, database)
        var found: [BSONDocument] = []
        while try statement.step() {
            let (uuid, options) = try Catalog.options(statement.int64(0), connection)
            let isRestricted = access.isRestricted(Namespace(database, statement.string(1)))
            let whole = Self.entry(
                statement.string(1), uuid, options, isRestricted: isRestricted)
            let entry =
                nameOnly ? BSONDocument(whole.prefix(2).map { ($0.key, $0.value) }) : whole
            guard access.isOpen(Namespace(database, statement.string(1))),
                try filter.evaluate(entry)
            else { continue }
            found.append(entry)
        }
        return found
    }

    /// The options that do not reveal field names, as validators and views do.
    private static let optionsShownToUsers: Set<String> = [
        "capped", "size", "max", "collation", "changeStreamPreAndPostImages",
    ]

    private static func entry(
        _ name: String, _ uuid: [UInt8], _ options: CollectionOptions, isRestricted: Bool
    ) -> BSONDocument {
        let all = options.document
        let shown =
            isRestricted ? BSONDocument(all.filter { optionsShownToUsers.contains($0.key) }) : all
        var entry: BSONDocument = [
            "name": .string(name), "type": options.view == nil ? "collection" : "view",
            "options": .document(shown),
        ]
        guard options.view == nil else {
            entry.append("info", ["readOnly": true])
            return entry
        }
        entry.append("info", ["readOnly": false, "uuid": Catalog.shown(uuid)])
        if !options.isClustered {
            let index = IndexDefinition.ofIDs(collatedBy: options.collation)
            entry.append("idIndex", .document(index.document))
        }
        return entry
    }

    /// Returns the databases that have a collection, as the command `listDatabases` shows them.
    ///
    /// All databases share the file, so `sizeOnDisk` is the size of the whole file.
    ///
    /// - Throws: SQLite's errors.
    func listDatabases(
        filter: Filter, nameOnly: Bool
    ) throws(StoreError) -> [BSONDocument] {
        // The file's size would reveal how much data the policy hides.
        let pages = access.policy == nil ? try connection.int64("PRAGMA page_count") ?? 0 : 0
        let size = pages * (try connection.int64("PRAGMA page_size") ?? 0)
        let statement = try connection.prepare(
            "SELECT DISTINCT database FROM store_collections ORDER BY database")
        var found: [BSONDocument] = []
        while try statement.step() {
            let name = BSONValue.string(statement.string(0))
            let entry: BSONDocument =
                nameOnly
                ? ["name": name] : ["name": name, "sizeOnDisk": .int64(size), "empty": false]
            guard try isOpen(database: statement.string(0)), try filter.evaluate(entry) else {
                continue
            }
            found.append(entry)
        }
        return found
    }

    /// Whether any documents of a database may be visible.
    private func isOpen(database: String) throws(StoreError) -> Bool {
        guard access.policy != nil else { return true }
        return try collections().contains {
            $0.database.hasSameBytes(as: database) && access.isOpen($0)
        }
    }

    /// Returns the indexes of a collection, the `_id` index first; an empty array when it does not
    /// exist or the access policy hides it.
    func indexes(_ namespace: Namespace) throws(StoreError) -> [IndexDefinition] {
        guard access.isOpen(namespace) else { return [] }
        let found = try tables.onTable(namespace) { (table) throws(StoreError) in
            [IndexDefinition.ofIDs(collatedBy: table.options.collation)]
                + (try tables.indexes(of: table)).map(\.definition)
        }
        return found ?? []
    }

    /// Returns the unique UUID of a collection; renaming it or copying the file keeps the UUID, a
    /// ``DocumentStore/backup(to:)`` gets another one.
    ///
    /// - Returns: `nil` when the collection does not exist, is a view or is hidden by the access
    ///   policy.
    /// - Throws: SQLite's errors.
    func collectionUUID(_ namespace: Namespace) throws(StoreError) -> BSONBinary? {
        guard access.isOpen(namespace), case .binary(let uuid)? = try uuid(namespace) else {
            return nil
        }
        return uuid
    }

    /// Whether a name is that of a view that the access policy shows.
    func isView(_ namespace: Namespace) throws(StoreError) -> Bool {
        guard access.isOpen(namespace) else { return false }
        return try tables.view(namespace) != nil
    }
}
