public import BSONStore

extension SyncCollection {
    /// Creates a local index, such as `["age": 1, "name": -1]`; does nothing when the same index
    /// exists.
    ///
    /// - Returns: the index's name.
    /// - Throws: `StoreError` with MongoDB's codes for an invalid or conflicting specification.
    @discardableResult
    public func createIndex(
        _ keys: BSONDocument, _ options: BSONDocument = [:]
    ) async throws -> String {
        var specification: BSONDocument = ["key": .document(keys)]
        for (key, value) in options { specification.append(key, value) }
        let definition = try IndexDefinition(specification)
        try await engine.store.write { try $0.createIndex(namespace, definition) }
        return definition.name
    }
}

extension SyncCollection where Document: TypedDocument {
    /// Creates a local index on fields; does nothing when the same index exists.
    ///
    /// ```swift
    /// try await todos.createIndex { $0.due.ascending }
    /// ```
    ///
    /// - Returns: the index's name.
    /// - Throws: as ``createIndex(_:_:)-(BSONDocument,_)`` does.
    @discardableResult
    public func createIndex(
        _ options: BSONDocument = [:],
        @TypedListBuilder<TypedSort> _ keys: (Document.Fields) throws -> [TypedSort]
    ) async throws -> String {
        try await createIndex(try Document.sort(keys).bson, options)
    }
}
