extension WriteTransaction {
    /// Creates a collection or view.
    ///
    /// - Throws: `namespaceExists` (48), `invalidNamespace` (73), `invalidOptions` (72) for a
    ///   validator in one of the server's own databases.
    public func createCollection(
        _ namespace: Namespace, _ options: CollectionOptions = .none
    ) throws(StoreError) {
        try namespace.check()
        if let there = try collectionTable(namespace) {
            throw StoreError(
                .namespaceExists,
                there.options.view == nil
                    ? "Collection \(namespace) already exists."
                    : "A view already exists. NS: \(namespace)",
                namespace: namespace)
        }
        if options.validator != nil,
            ["admin", "config", "local"].contains(namespace.database)
        {
            throw StoreError(
                .invalidOptions,
                "Document validators are not allowed on collection \(namespace) in the "
                    + "\(namespace.database) internal database")
        }
        if let view = options.view { try check(view, named: namespace) }
        if let validator = options.validator { try Self.check(validator) }
        _ = try makeTable(namespace, options)
    }

    /// Removes a collection or view with its documents and indexes.
    ///
    /// The feed records it as one change.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    public func dropCollection(_ namespace: Namespace) throws(StoreError) -> Bool {
        guard let table = try collectionTable(namespace) else { return false }
        if table.options.view == nil {
            try checkMayWrite(namespace)
            let uuid = try Catalog.uuid(table, connection)
            try record(
                .drop, namespace, before: nil, after: nil, remarks: Self.remarks([.uuid: uuid]))
        } else {
            try record(.dropView, table, [:])
        }
        try remove(table)
        return true
    }

    /// Renames a collection, also to another database; its indexes stay.
    ///
    /// - Parameter dropTarget: whether to drop a collection that has the new name.
    /// - Throws: `namespaceNotFound` (26), `namespaceExists` (48), `illegalOperation` (20) for the
    ///   same name, `invalidNamespace` (73), 166 for a view.
    public func renameCollection(
        _ namespace: Namespace, to target: Namespace, dropTarget: Bool = false
    ) throws(StoreError) {
        try target.check()
        guard namespace != target else {
            throw StoreError(.illegalOperation, "Can't rename a collection to itself")
        }
        guard let table = try collectionTable(namespace) else {
            throw StoreError(
                .namespaceNotFound, "Source collection \(namespace) does not exist")
        }
        guard table.options.view == nil else {
            throw StoreError(.commandNotSupportedOnView, "cannot rename view: \(namespace)")
        }
        try checkMayWrite(namespace)
        try checkMayWrite(target)
        var remarks: [StoreChange.Annotation: BSONValue] = [
            .uuid: try Catalog.uuid(table, connection)
        ]
        if let there = try collectionTable(target) {
            guard there.options.view == nil else {
                throw StoreError(
                    .namespaceExists, "a view already exists with that name: \(target)")
            }
            guard dropTarget else {
                throw StoreError(.namespaceExists, "target namespace exists")
            }
            remarks[.dropTarget] = try Catalog.uuid(there, connection)
            try remove(there)
        }
        try keepImages(of: table)
        try Catalog.renew(table, as: target, table.options, connection)
        abandon(table)
        try record(
            .rename, namespace, before: nil,
            after: ["to": ["db": .string(target.database), "coll": .string(target.collection)]],
            remarks: Self.remarks(remarks))
        try record(
            .renameTarget, target, before: nil,
            after: [
                "from": ["db": .string(namespace.database), "coll": .string(namespace.collection)]
            ],
            remarks: Self.remarks(remarks))
    }

    /// Removes a collection with its documents and indexes, but keeps its changes in the feed.
    private func remove(_ table: CollectionTable) throws(StoreError) {
        try keepImages(of: table)
        try Catalog.remove(table, connection)
        abandon(table)
    }

    private static func remarks(_ remarks: [StoreChange.Annotation: BSONValue]) -> BSONDocument {
        BSONDocument(remarks.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 })
    }

    /// Removes all collections of a database.
    ///
    /// - Returns: whether the database had a collection.
    @discardableResult
    public func dropDatabase(_ database: String) throws(StoreError) -> Bool {
        let names = try collections().filter { $0.database == database }
        for name in names { try dropCollection(name) }
        guard !names.isEmpty else { return false }
        try record(.dropDatabase, Namespace(database, ""), before: nil, after: nil)
        return true
    }

    /// Changes options of a collection as the command `collMod` does: `validator`,
    /// `validationLevel`, `validationAction`, `changeStreamPreAndPostImages`, `cappedSize`,
    /// `cappedMax`, `viewOn`, `pipeline`, and `expireAfterSeconds` or `hidden` of an `index`.
    ///
    /// - Returns: an index's options before and after, as the command answers.
    /// - Throws: `namespaceNotFound` (26), `indexNotFound` (27), `invalidOptions` (72), and as
    ///   ``CollectionOptions/init(_:)`` does.
    @discardableResult
    public func modifyCollection(
        _ namespace: Namespace, _ changes: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        guard let table = try collectionTable(namespace) else {
            throw StoreError(.namespaceNotFound, "ns does not exist: \(namespace)")
        }
        let modification = CollectionModification(changes)
        let options = try modification.options(table.options)
        if let view = options.view, view != table.options.view {
            try check(view, named: namespace)
        }
        if let validator = options.validator, validator != table.options.validator {
            try Self.check(validator)
        }
        let isDry = try modification.isDry()
        let answer = try modification.index.map { (change) throws(StoreError) in
            try self.change(change, table, isDry: isDry)
        }
        // The answer of a dry run shows that the change is possible.
        if isDry { return answer ?? [:] }
        if table.options.view == nil {
            try record(
                .modify, table, modification.description,
                before: try self.before(modification, table, answer ?? [:]))
        } else {
            // A view is recorded as a whole, without its earlier definition.
            try record(.modify, table, options.description)
        }
        if options != table.options {
            try Catalog.renew(table, as: namespace, options, connection)
            abandon(table)
        }
        return answer ?? [:]
    }

    /// Returns the earlier values of the options that a modification changes, including those of
    /// its index.
    private func before(
        _ modification: CollectionModification, _ table: CollectionTable, _ answer: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        let options = BSONDocument(
            [("uuid", try Catalog.uuid(table, connection))] + table.options.document)
        var before: BSONDocument = ["collectionOptions": .document(options)]
        guard try modification.index != nil else { return before }
        let old = answer.compactMap { (key, value) in
            key.hasSuffix("_old") ? (String(key.dropLast(4)), value) : nil
        }
        before.append("indexOptions", .document(BSONDocument(old)))
        return before
    }

    private func change(
        _ change: IndexModification, _ table: CollectionTable, isDry: Bool
    ) throws(StoreError) -> BSONDocument {
        let indexes = try connection.catalogCache.indexes(of: table.id, connection)
        if change.isFor(IndexDefinition.id) { throw change.refusalForID }
        if table.options.capped != nil, change.expires {
            throw StoreError(
                .invalidOptions, "TTL indexes are not supported for capped collections.")
        }
        guard let index = indexes.first(where: { change.isFor($0.definition) }) else {
            throw StoreError(
                .indexNotFound,
                "cannot find index \(change.nameText) for ns \(table.namespace)")
        }
        let (specification, answer) = try change.apply(to: index.definition)
        _ = try IndexDefinition(specification)
        if change.becomesUnique { try checkIsUnique(index) }
        if isDry { return answer }
        let statement = try connection.prepare(
            "UPDATE store_indexes SET specification = ?2 WHERE id = ?1")
        statement.bind(1, index.id)
        statement.bind(2, specification.bytes)
        try statement.run()
        connection.catalogCache.forget(table.id)
        return answer
    }

    /// Throws when an index that is to become unique has equal keys.
    private func checkIsUnique(_ index: StoredIndex) throws(StoreError) {
        let statement = try connection.prepare(
            "SELECT 1 FROM \(StoredIndex.tableName(index.id)) GROUP BY key HAVING count(*) > 1")
        guard try statement.step() else { return }
        throw StoreError(
            .cannotConvertIndexToUnique,
            "Cannot convert the index to unique. Please resolve conflicting documents before "
                + "running collMod again.")
    }

    /// Checks a new validator; stored ones of earlier versions may break these rules.
    private static func check(_ validator: BSONDocument) throws(StoreError) {
        var options = FilterOptions.none
        options.isOfQuery = false
        options.allowsText = false
        _ = try Filter(validator, options: options)
    }
}
