/// The changes of the list of collections.
struct CatalogWriter {
    /// The writer, which creates tables and records changes.
    let writer: DocumentWriter

    private var connection: SQLiteConnection { writer.connection }
    private var images: ChangeImageKeeper {
        ChangeImageKeeper(connection: connection, feed: writer.recorder.feed)
    }

    /// Creates a collection or view.
    ///
    /// - Throws: `namespaceExists` (48), `invalidNamespace` (73), `invalidOptions` (72) for a
    ///   validator in one of the server's own databases.
    func createCollection(
        _ namespace: Namespace, _ options: CollectionOptions
    ) throws(StoreError) {
        try namespace.check()
        if let there = try writer.tables.table(namespace) {
            throw StoreError(
                .namespaceExists,
                there.options.view == nil
                    ? "Collection \(namespace) already exists."
                    : "A view already exists. NS: \(namespace)",
                namespace: namespace)
        }
        if options.validator != nil { try Self.checkMayValidate(namespace) }
        if let view = options.view {
            try ViewDefinitionCheck(connection: connection).check(
                view, collation: options.collation, named: namespace)
        }
        if let validator = options.validator { try Self.check(validator) }
        _ = try writer.makeTable(namespace, options)
    }

    /// Removes a collection or view with its documents and indexes.
    ///
    /// The feed records it as one change.
    ///
    /// - Returns: whether it existed.
    func dropCollection(_ namespace: Namespace) throws(StoreError) -> Bool {
        guard let table = try writer.tables.table(namespace) else { return false }
        if table.options.view == nil {
            try writer.checkMayWrite(namespace)
            let uuid = try Catalog.uuid(table, connection)
            try writer.recorder.record(
                .drop, namespace, before: nil, after: nil, remarks: Self.remarks([.uuid: uuid]))
        } else {
            try writer.recorder.record(.dropView, table, [:])
        }
        try remove(table)
        return true
    }

    /// Renames a collection, also to another database; its indexes stay.
    ///
    /// - Parameter dropTarget: whether to drop a collection that has the new name.
    /// - Throws: `namespaceNotFound` (26), `namespaceExists` (48), `illegalOperation` (20) for the
    ///   same name, `invalidNamespace` (73), 166 for a view.
    func renameCollection(
        _ namespace: Namespace, to target: Namespace, dropTarget: Bool
    ) throws(StoreError) {
        try target.check()
        guard namespace != target else {
            throw StoreError(.illegalOperation, "Can't rename a collection to itself")
        }
        guard let table = try writer.tables.table(namespace) else {
            throw StoreError(
                .namespaceNotFound, "Source collection \(namespace) does not exist")
        }
        guard table.options.view == nil else {
            throw StoreError(.commandNotSupportedOnView, "cannot rename view: \(namespace)")
        }
        try writer.checkMayWrite(namespace)
        try writer.checkMayWrite(target)
        var remarks: [StoreChange.Annotation: BSONValue] = [
            .uuid: try Catalog.uuid(table, connection)
        ]
        if let there = try writer.tables.table(target) {
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
        try images.keepImages(of: table)
        try Catalog.renew(table, as: target, table.options, connection)
        writer.abandon(table)
        try recordRename(of: namespace, to: target, Self.remarks(remarks))
    }

    /// Records a rename at the old name and at the new one.
    ///
    /// Within a database the old name comes first. In another database the collection is there
    /// before it is gone here, as in MongoDB, which copies it.
    private func recordRename(
        of namespace: Namespace, to target: Namespace, _ remarks: BSONDocument
    ) throws(StoreError) {
        func record(
            _ kind: StoreChange.Kind, _ place: Namespace, _ field: String, _ other: Namespace
        ) throws(StoreError) {
            let name: BSONValue = [
                "db": .string(other.database), "coll": .string(other.collection),
            ]
            try writer.recorder.record(
                kind, place, before: nil, after: [field: name], remarks: remarks)
        }
        if !namespace.database.hasSameBytes(as: target.database) {
            try record(.renameTarget, target, "from", namespace)
            return try record(.rename, namespace, "to", target)
        }
        try record(.rename, namespace, "to", target)
        try record(.renameTarget, target, "from", namespace)
    }

    /// Removes a collection with its documents and indexes, but keeps its changes in the feed.
    private func remove(_ table: CollectionTable) throws(StoreError) {
        try images.keepImages(of: table)
        try Catalog.remove(table, connection)
        writer.abandon(table)
    }

    private static func remarks(_ remarks: [StoreChange.Annotation: BSONValue]) -> BSONDocument {
        BSONDocument(remarks.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 })
    }

    /// Removes all collections of a database.
    ///
    /// - Returns: whether the database had a collection.
    func dropDatabase(
        _ database: String, among collections: [Namespace]
    ) throws(StoreError) -> Bool {
        let names = collections.filter { $0.database.hasSameBytes(as: database) }
        for name in names { _ = try dropCollection(name) }
        guard !names.isEmpty else { return false }
        try writer.recorder.record(.dropDatabase, Namespace(database, ""), before: nil, after: nil)
        return true
    }

    /// Changes options of a collection as the command `collMod` does: `validator`,
    /// `validationLevel`, `validationAction`, `changeStreamPreAndPostImages`, `cappedSize`,
    /// `cappedMax`, `viewOn`, `pipeline`, and `expireAfterSeconds` or `hidden` of an `index`.
    ///
    /// - Returns: an index's options before and after, as the command answers.
    /// - Throws: `namespaceNotFound` (26), `indexNotFound` (27), `invalidOptions` (72), and as
    ///   ``CollectionOptions/init(_:)`` does.
    func modifyCollection(
        _ namespace: Namespace, _ changes: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        guard let table = try writer.tables.table(namespace) else {
            throw StoreError(.namespaceNotFound, "ns does not exist: \(namespace)")
        }
        let modification = CollectionModification(changes)
        let options = try modification.options(table.options)
        if let view = options.view, view != table.options.view {
            try ViewDefinitionCheck(connection: connection).check(
                view, collation: options.collation, named: namespace)
        }
        if let validator = options.validator, validator != table.options.validator {
            try Self.checkMayValidate(namespace)
            try Self.check(validator)
        }
        let isDry = try modification.isDry()
        let answer = try modification.index.map { (change) throws(StoreError) in
            try change.perform(on: table, isDry: isDry, connection)
        }
        // The answer of a dry run shows that the change is possible.
        if isDry { return answer ?? [:] }
        if table.options.view == nil {
            try writer.recorder.record(
                .modify, table, try description(of: modification, table),
                before: try self.before(modification, table, answer ?? [:]))
        } else {
            // A view is recorded as a whole, without its earlier definition.
            try writer.recorder.record(.modify, table, options.description)
        }
        if options != table.options {
            try Catalog.renew(table, as: namespace, options, connection)
            writer.abandon(table)
        }
        return answer ?? [:]
    }

    /// Returns the changes with the index by its name, as change streams show them.
    ///
    /// Source: the server's `op_observer_util.cpp`, `makeCollModCmdObj`.
    private func description(
        of modification: CollectionModification, _ table: CollectionTable
    ) throws(StoreError) -> BSONDocument {
        var description = modification.description
        guard let change = try modification.index,
            let index = try writer.tables.indexes(of: table)
                .first(where: { change.isFor($0.definition) })
        else { return description }
        let given = description["index"]?.documentValue ?? [:]
        let changed = given.filter { !["name", "keyPattern"].contains($0.key) }
        var named: BSONDocument = ["name": .string(index.definition.name)]
        for (field, value) in changed { named.append(field, value) }
        description.set("index", to: .document(named))
        return description
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
            key.hasByteSuffix("_old") ? (key.droppingLastBytes(4), value) : nil
        }
        before.append("indexOptions", .document(BSONDocument(old)))
        return before
    }

    /// Checks that a collection may have a validator, which those of the server itself may not.
    ///
    /// - Throws: `invalidOptions` (72).
    private static func checkMayValidate(_ namespace: Namespace) throws(StoreError) {
        guard !["admin", "config", "local"].contains(namespace.database) else {
            throw StoreError(
                .invalidOptions,
                "Document validators are not allowed on collection \(namespace) in the "
                    + "\(namespace.database) internal database")
        }
        guard !namespace.collection.hasBytePrefix("system.") else {
            throw StoreError(
                .invalidOptions,
                "Document validators are not allowed on system collection \(namespace)")
        }
    }

    /// Checks a new validator; stored ones of earlier versions may break these rules.
    private static func check(_ validator: BSONDocument) throws(StoreError) {
        var options = FilterOptions.none
        options.isOfQuery = false
        options.allowsText = false
        _ = try Filter(validator, options: options)
    }
}
