public import BSONStore

extension SyncCollection {
    /// Returns a live query of the local documents that match a filter.
    ///
    /// ```swift
    /// for try await snapshot in try todos.observe(["done": false]) { show(snapshot.documents) }
    /// ```
    ///
    /// It gives a snapshot at once and after each change, by the app or by sync. A document that
    /// does not decode is in each snapshot's `failures` and does not end the query. For a view, pass
    /// the query to `ObservedQuery`.
    ///
    /// - Parameter limit: the largest number of documents in a snapshot; 0 for all.
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter, and for a negative limit.
    public func observe(
        _ filter: BSONDocument = [:], sort: SortOrder? = nil, limit: Int = 0
    ) throws(StoreError) -> LiveQuery<Document> {
        LiveQuery(
            local, try Filter(filter), try FindOptions(sort: sort, limit: limit),
            decode: coding.decode)
    }
}

extension SyncCollection where Document: TypedDocument {
    /// Returns a live query of the local documents that fulfil a condition.
    ///
    /// ```swift
    /// let simple = try todos.observe(limit: 20) { $0.complexity <= 4 } sort: { $0.due.ascending }
    /// for try await snapshot in simple { show(snapshot.documents) }
    /// ```
    ///
    /// - Parameters:
    ///   - limit: the largest number of documents in a snapshot; 0 for all.
    ///   - sort: the order; without one the order of insertion.
    /// - Throws: as `TypedFilter/bson(with:)` and ``observe(_:sort:limit:)`` do.
    public func observe(
        limit: Int = 0,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> LiveQuery<Document> {
        try observe(try Document.filter(filter).bson, sort: try Self.order(sort), limit: limit)
    }
}
