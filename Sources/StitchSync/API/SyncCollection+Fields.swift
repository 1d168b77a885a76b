public import BSONStore

/// Local calls whose filters and updates are closures over the type's fields.
///
/// Updates and deletes of many documents are verbs of the query: `todos.find { … }.update { … }`.
extension SyncCollection where Document: TypedDocument {
    /// Returns a query of the local documents that fulfil a condition.
    ///
    /// ```swift
    /// let open = todos.find { !$0.done }.sort(\.due)
    /// show(try open.limit(10).fetch())
    /// ```
    public func find(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) -> Query<Document> {
        Query(engine.store, namespace, coding, writer: engine, filter)
    }

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
            try Document.filter(filter).bson(with: coding.encoder),
            try Document.update(update).bson(with: coding.encoder), upsert: upsert)
    }

    /// Deletes the first document that fulfils a condition.
    ///
    /// - Returns: the number of deleted documents: 0 or 1.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Int {
        try await deleteOne(try Document.filter(filter).bson(with: coding.encoder))
    }

    /// Updates the first document that fulfils a condition and returns it.
    ///
    /// - Parameters:
    ///   - returnsAfter: whether to return the document as it is after the update.
    ///   - sort: the order that decides which document is the first.
    /// - Returns: the document; `nil` when none matches, and before an upsert.
    /// - Throws: as the form of `updateOne` does; `DocumentDecodingFailure`
    ///   after the write if the document does not decode.
    @discardableResult
    public func findOneAndUpdate(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false, returnsAfter: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Document? {
        let options = FindOneAndOptions(
            sort: try Document.sort(sort).order(with: coding.encoder), upsert: upsert,
            returnsAfter: returnsAfter)
        return try await findOneAndUpdate(
            try Document.filter(filter).bson(with: coding.encoder),
            try Document.update(update).bson(with: coding.encoder), options: options)
    }

    /// Deletes the first document that fulfils a condition and returns it, or `nil`.
    ///
    /// - Parameter sort: the order that decides which document is the first.
    /// - Throws: as `TypedFilter/bson(with:)` does; `DocumentDecodingFailure`
    ///   after the write if the document does not decode.
    @discardableResult
    public func findOneAndDelete(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Document? {
        try await findOneAndDelete(
            try Document.filter(filter).bson(with: coding.encoder),
            sort: try Document.sort(sort).order(with: coding.encoder))
    }
}
