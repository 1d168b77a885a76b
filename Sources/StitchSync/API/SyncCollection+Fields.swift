public import BSONStore

/// Local reads whose filters are closures over the type's fields.
extension SyncCollection where Document: TypedDocument {
    /// Returns the documents that fulfil a condition.
    ///
    /// ```swift
    /// let open = try await todos.find(limit: 10) { !$0.done } sort: { $0.due.ascending }
    /// ```
    ///
    /// - Parameters:
    ///   - skip: the number of documents to skip.
    ///   - limit: the maximum number of documents; 0 for all.
    ///   - sort: the order; without one the order of insertion.
    /// - Throws: as `TypedFilter/bson(with:)` does; `StoreError` of code 2 for a negative number.
    public func find(
        skip: Int = 0, limit: Int = 0,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> FoundDocuments<Document> {
        try await find(
            try Document.filter(filter).bson,
            options: FindOptions(sort: try Self.order(sort), skip: skip, limit: limit))
    }

    /// Returns the first document that fulfils a condition, or `nil`.
    ///
    /// - Throws: as ``find(skip:limit:_:sort:)`` does; `SyncError` of code `.decodingFailed` if the
    ///   document does not decode.
    public func findOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Document? {
        try await findOne(try Document.filter(filter).bson, sort: try Self.order(sort))
    }

    /// Returns the number of documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` does.
    public func count(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Int { try await count(try Document.filter(filter).bson) }

    /// Runs a pipeline on the documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` and `aggregate(_:options:as:)` do.
    public func aggregate<Output: Decodable & Sendable>(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        _ stages: [BSONDocument], as type: Output.Type
    ) async throws -> [Output] {
        let match: BSONDocument = ["$match": .document(try Document.filter(filter).bson)]
        return try await aggregate([match] + stages, as: type)
    }

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

    private static func order(
        _ sort: (Document.Fields) throws -> [TypedSort]
    ) throws -> SortOrder? {
        let document = try Document.sort(sort).bson
        return document.isEmpty ? nil : try SortOrder(document)
    }
}

/// Local writes whose filters and updates are closures over the type's fields.
extension SyncCollection where Document: TypedDocument {
    /// Updates the first document that fulfils a condition.
    ///
    /// ```swift
    /// try await todos.updateOne({ $0.id == id }) { $0.done.set(true); $0.edits.increment() }
    /// ```
    ///
    /// - Throws: as `TypedFilter/bson(with:)`, `TypedUpdate/bson(with:)` and the form with BSON
    ///   documents do.
    @discardableResult
    public func updateOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) async throws -> UpdateResult {
        try await updateOne(
            try Document.filter(filter).bson, try Document.update(update).bson, upsert: upsert)
    }

    /// Updates every document that fulfils a condition, in one transaction.
    ///
    /// - Throws: as the form for one document does.
    @discardableResult
    public func updateMany(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) async throws -> UpdateResult {
        try await updateMany(
            try Document.filter(filter).bson, try Document.update(update).bson, upsert: upsert)
    }

    /// Replaces the first document that fulfils a condition; its `_id` and the fields that the type
    /// does not know stay.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` and the form with a BSON filter do.
    @discardableResult
    public func replaceOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        with document: Document, upsert: Bool = false
    ) async throws -> UpdateResult {
        try await replaceOne(try Document.filter(filter).bson, document, upsert: upsert)
    }

    /// Deletes the first document that fulfils a condition.
    ///
    /// - Returns: the number of deleted documents: 0 or 1.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Int { try await deleteOne(try Document.filter(filter).bson) }

    /// Deletes every document that fulfils a condition, in one transaction.
    ///
    /// - Returns: the number of deleted documents.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteMany(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Int { try await deleteMany(try Document.filter(filter).bson) }

    /// Updates the first document that fulfils a condition and returns it.
    ///
    /// - Parameters:
    ///   - returnsAfter: whether to return the document as it is after the update.
    ///   - sort: the order that decides which document is the first.
    /// - Returns: the document; `nil` when none matches, and before an upsert.
    /// - Throws: as the form of `updateOne` does; `SyncError` of code `.decodingFailed`.
    @discardableResult
    public func findOneAndUpdate(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false, returnsAfter: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Document? {
        let options = FindOneAndOptions(
            sort: try Self.order(sort), upsert: upsert, returnsAfter: returnsAfter)
        return try await findOneAndUpdate(
            try Document.filter(filter).bson, try Document.update(update).bson, options: options)
    }

    /// Deletes the first document that fulfils a condition and returns it, or `nil`.
    ///
    /// - Parameter sort: the order that decides which document is the first.
    /// - Throws: as `TypedFilter/bson(with:)` does; `SyncError` of code `.decodingFailed`.
    @discardableResult
    public func findOneAndDelete(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Document? {
        try await findOneAndDelete(
            try Document.filter(filter).bson, sort: try Self.order(sort))
    }
}

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
