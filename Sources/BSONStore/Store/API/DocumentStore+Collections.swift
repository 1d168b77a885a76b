extension DocumentStore {
    /// Returns a handle for a collection, whether or not it exists.
    public func collection(_ namespace: Namespace) -> DocumentCollection<BSONDocument> {
        DocumentCollection(store: self, namespace: namespace, coding: .raw)
    }

    /// Returns a handle for a collection whose documents are values of a `Codable` type, whether or
    /// not it exists.
    ///
    /// - Parameters:
    ///   - encoder: writes the values, and names the fields of closures.
    ///   - decoder: reads what the encoder writes.
    public func collection<Document: Codable & Sendable>(
        _ namespace: Namespace, of type: Document.Type, encoder: BSONEncoder = BSONEncoder(),
        decoder: BSONDecoder = BSONDecoder()
    ) -> DocumentCollection<Document> {
        DocumentCollection(
            store: self, namespace: namespace, coding: DocumentCoding(encoder, decoder))
    }

    /// Runs a pipeline without a collection; it must begin with `$documents`.
    ///
    /// - Throws: as `DocumentCollection/aggregate(_:options:)` does.
    public func aggregate(
        database: String, _ pipeline: [BSONDocument],
        options: PipelineOptions = PipelineOptions()
    ) throws -> [BSONDocument] {
        let namespace = Namespace(database, Namespace.databaseAggregate)
        return try collection(namespace).aggregate(pipeline, options: options)
    }
}

// MARK: - Catalog

extension DocumentStore {
    /// Creates a collection or view with the options of the command `create`: `["validator": [...],
    /// "capped": true, "size": 4096]`.
    ///
    /// - Throws: as ``WriteTransaction/createCollection(_:_:)`` and ``CollectionOptions/init(_:)``.
    public func createCollection(
        _ namespace: Namespace, _ options: BSONDocument = [:]
    ) throws {
        let options = try CollectionOptions(options)
        try write { try $0.createCollection(namespace, options) }
    }

    /// Removes a collection or view with its documents and indexes.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    public func dropCollection(_ namespace: Namespace) throws -> Bool {
        try write { try $0.dropCollection(namespace) }
    }

    /// Renames a collection; its indexes stay.
    ///
    /// - Throws: as ``WriteTransaction/renameCollection(_:to:dropTarget:)``.
    public func renameCollection(
        _ namespace: Namespace, to target: Namespace, dropTarget: Bool = false
    ) throws {
        try write { try $0.renameCollection(namespace, to: target, dropTarget: dropTarget) }
    }

    /// Removes all collections of a database.
    ///
    /// - Returns: whether the database had a collection.
    @discardableResult
    public func dropDatabase(_ database: String) throws -> Bool {
        try write { try $0.dropDatabase(database) }
    }

    /// Changes options of a collection as the command `collMod` does.
    ///
    /// - Throws: as ``WriteTransaction/modifyCollection(_:_:)``.
    @discardableResult
    public func modifyCollection(
        _ namespace: Namespace, _ changes: BSONDocument
    ) throws -> BSONDocument {
        try write { try $0.modifyCollection(namespace, changes) }
    }

    /// Returns the collections and views of a database as the command `listCollections` shows them.
    ///
    /// - Throws: for an invalid filter, and SQLite's errors.
    public func listCollections(
        _ database: String, filter: BSONDocument = [:], nameOnly: Bool = false
    ) throws -> [BSONDocument] {
        let filter = try Filter(filter)
        return try read { try $0.listCollections(database, filter: filter, nameOnly: nameOnly) }
    }

    /// Returns the databases that have a collection, as the command `listDatabases` shows them.
    ///
    /// - Throws: for an invalid filter, and SQLite's errors.
    public func listDatabases(
        filter: BSONDocument = [:], nameOnly: Bool = false
    ) throws -> [BSONDocument] {
        let filter = try Filter(filter)
        return try read { try $0.listDatabases(filter: filter, nameOnly: nameOnly) }
    }
}
