public import BSONStore

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
