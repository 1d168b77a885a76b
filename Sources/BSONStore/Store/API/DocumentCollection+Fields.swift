public import BSONCore
public import BSONQuery

/// Calls whose filters, updates and keys are closures over the type's fields.
///
/// ```swift
/// try todos.updateOne({ $0.id == id }) { $0.done.set(true); $0.edits.increment() }
/// let open = todos.find { !$0.done }
/// ```
///
/// Updates and deletes of many documents are verbs of the query: `todos.find { … }.update { … }`.
extension DocumentCollection where Document: TypedDocument {
    /// Returns a query of the documents that fulfil a condition.
    ///
    /// ```swift
    /// let cheap = try items.find { $0.price < 5 }.sort(\.price).limit(10).fetch()
    /// ```
    public func find(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) -> Query<Document> {
        Query(store, namespace, coding, filter)
    }

    /// Creates an index on fields; does nothing when the same index exists.
    ///
    /// ```swift
    /// try items.createIndex(["unique": true]) { $0.ownerID.ascending; $0.name.ascending }
    /// ```
    ///
    /// - Returns: the index's name.
    /// - Throws: as `DocumentCollection/createIndex(_:_:)` does.
    @discardableResult
    public func createIndex(
        _ options: BSONDocument = [:],
        @TypedListBuilder<TypedSort> _ keys: (Document.Fields) throws -> [TypedSort]
    ) throws -> String {
        try createIndex(try Document.sort(keys).bson(with: coding.encoder), options)
    }

    /// Updates the first document that fulfils a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)`, `TypedUpdate/bson(with:)` and
    ///   `DocumentCollection/updateOne(_:_:upsert:arrayFilters:)` do.
    @discardableResult
    public func updateOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) throws -> UpdateResult {
        try updateOne(try bson(filter), try bson(update), upsert: upsert)
    }

    /// Removes the first document that fulfils a condition.
    ///
    /// - Returns: how many were removed, 0 or 1.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) throws -> Int { try deleteOne(try bson(filter)) }

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
        let options = try options(upsert: upsert, returnsAfter: returnsAfter, sort)
        return try findOneAndUpdate(try bson(filter), try bson(update), options: options)
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
        try findOneAndDelete(try bson(filter), options: try options(sort))
    }

    /// Updates the first document that fulfils a condition; commits on a
    /// thread of the store.
    ///
    /// - Throws: as `TypedFilter/bson(with:)`, `TypedUpdate/bson(with:)` and
    ///   `DocumentCollection/updateOne(_:_:upsert:arrayFilters:)` do.
    @discardableResult
    public func updateOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) async throws -> UpdateResult {
        try await updateOne(try bson(filter), try bson(update), upsert: upsert)
    }

    /// Removes the first document that fulfils a condition; commits on a
    /// thread of the store.
    ///
    /// - Returns: how many were removed, 0 or 1.
    /// - Throws: as `TypedFilter/bson(with:)` does.
    @discardableResult
    public func deleteOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Int { try await deleteOne(try bson(filter)) }

    /// Updates the first document that fulfils a condition and returns it; commits on a
    /// thread of the store.
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
        let options = try options(upsert: upsert, returnsAfter: returnsAfter, sort)
        return try await findOneAndUpdate(try bson(filter), try bson(update), options: options)
    }

    /// Removes the first document that fulfils a condition and returns it, or `nil`; commits on a
    /// thread of the store.
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
        try await findOneAndDelete(try bson(filter), options: try options(sort))
    }

    private func bson(
        _ filter: (Document.Fields) throws -> TypedFilter
    ) throws -> BSONDocument { try filter(Document.fields).bson(with: coding.encoder) }

    private func bson(
        _ update: (Document.Fields) throws -> [TypedUpdate]
    ) throws -> BSONDocument { try Document.update(update).bson(with: coding.encoder) }

    private func options(
        upsert: Bool = false, returnsAfter: Bool = false,
        _ sort: (Document.Fields) throws -> [TypedSort]
    ) throws -> FindOneAndOptions {
        FindOneAndOptions(
            sort: try Document.sort(sort).order(with: coding.encoder), upsert: upsert,
            returnsAfter: returnsAfter)
    }
}
