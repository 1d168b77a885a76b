/// Writes whose filters and updates are closures over the type's fields.
///
/// Each call has a form that commits on the calling thread and one that commits on the store's
/// writer thread.
extension TypedCollection where Document: TypedDocument {
    /// Updates the first document that fulfils a condition.
    ///
    /// ```swift
    /// try todos.updateOne({ $0.id == id }) { $0.done.set(true); $0.edits.increment() }
    /// ```
    ///
    /// - Throws: as `TypedFilter/bson(with:)`, `TypedUpdate/bson(with:)` and
    ///   `DocumentCollection/updateOne(_:_:upsert:arrayFilters:)` do.
    @discardableResult
    public func updateOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) throws -> UpdateResult {
        try documents.updateOne(try bson(filter), try bson(update), upsert: upsert)
    }

    /// Updates every document that fulfils a condition.
    ///
    /// - Throws: as the form for one document does, and
    ///   `DocumentCollection/updateMany(_:_:upsert:arrayFilters:)`.
    @discardableResult
    public func updateMany(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) throws -> UpdateResult {
        try documents.updateMany(try bson(filter), try bson(update), upsert: upsert)
    }

    /// Replaces the first document that fulfils a condition with a value; fields that the type does
    /// not know are kept.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` and the form with a BSON filter do.
    @discardableResult
    public func replaceOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        with document: Document, upsert: Bool = false
    ) throws -> UpdateResult {
        try replaceOne(try bson(filter), document, upsert: upsert)
    }

    /// Removes the first document that fulfils a condition.
    ///
    /// - Returns: how many were removed, 0 or 1.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) throws -> Int {
        try documents.deleteOne(try bson(filter))
    }

    /// Removes every document that fulfils a condition.
    ///
    /// - Returns: how many were removed.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteMany(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) throws -> Int {
        try documents.deleteMany(try bson(filter))
    }

    /// Updates the first document that fulfils a condition and returns it.
    ///
    /// - Parameters:
    ///   - returnsAfter: whether to return the document as it is after the update.
    ///   - sort: the order that decides which document is the first.
    /// - Returns: the document; `nil` when none matches, and before an upsert.
    /// - Throws: as the form of `updateOne` does; `DocumentDecodingFailure` after the update if the
    ///   document does not decode.
    @discardableResult
    public func findOneAndUpdate(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false, returnsAfter: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> Document? {
        let options = FindOneAndOptions(
            sort: try order(sort), upsert: upsert, returnsAfter: returnsAfter)
        return try documents.findOneAndUpdate(
            try bson(filter), try bson(update), options: options
        ).map(decode)
    }

    /// Removes the first document that fulfils a condition and returns it, or `nil`.
    ///
    /// - Parameter sort: the order that decides which document is the first.
    /// - Throws: as `TypedFilter/bson(with:)` does; `DocumentDecodingFailure` after the delete if
    ///   the document does not decode.
    @discardableResult
    public func findOneAndDelete(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> Document? {
        let options = FindOneAndOptions(sort: try order(sort))
        return try documents.findOneAndDelete(try bson(filter), options: options).map(decode)
    }

    /// Updates the first document that fulfils a condition.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: as `TypedFilter/bson(with:)`, `TypedUpdate/bson(with:)` and
    ///   `DocumentCollection/updateOne(_:_:upsert:arrayFilters:)` do.
    @discardableResult
    public func updateOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) async throws -> UpdateResult {
        try await documents.updateOne(try bson(filter), try bson(update), upsert: upsert)
    }

    /// Updates every document that fulfils a condition.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: as the form for one document does, and
    ///   `DocumentCollection/updateMany(_:_:upsert:arrayFilters:)`.
    @discardableResult
    public func updateMany(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) async throws -> UpdateResult {
        try await documents.updateMany(try bson(filter), try bson(update), upsert: upsert)
    }

    /// Replaces the first document that fulfils a condition with a value; fields that the type does
    /// not know are kept.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` and the form with a BSON filter do.
    @discardableResult
    public func replaceOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        with document: Document, upsert: Bool = false
    ) async throws -> UpdateResult {
        try await replaceOne(try bson(filter), document, upsert: upsert)
    }

    /// Removes the first document that fulfils a condition.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Returns: how many were removed, 0 or 1.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Int {
        try await documents.deleteOne(try bson(filter))
    }

    /// Removes every document that fulfils a condition.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Returns: how many were removed.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteMany(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Int {
        try await documents.deleteMany(try bson(filter))
    }

    /// Updates the first document that fulfils a condition and returns it.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Parameters:
    ///   - returnsAfter: whether to return the document as it is after the update.
    ///   - sort: the order that decides which document is the first.
    /// - Returns: the document; `nil` when none matches, and before an upsert.
    /// - Throws: as the form of `updateOne` does; `DocumentDecodingFailure` after the update if the
    ///   document does not decode.
    @discardableResult
    public func findOneAndUpdate(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false, returnsAfter: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Document? {
        let options = FindOneAndOptions(
            sort: try order(sort), upsert: upsert, returnsAfter: returnsAfter)
        return try await documents.findOneAndUpdate(
            try bson(filter), try bson(update), options: options
        ).map(decode)
    }

    /// Removes the first document that fulfils a condition and returns it, or `nil`.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Parameter sort: the order that decides which document is the first.
    /// - Throws: as `TypedFilter/bson(with:)` does; `DocumentDecodingFailure` after the delete if
    ///   the document does not decode.
    @discardableResult
    public func findOneAndDelete(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Document? {
        let options = FindOneAndOptions(sort: try order(sort))
        return try await documents.findOneAndDelete(try bson(filter), options: options).map(decode)
    }
}
