public import BSONStore

/// The same reads for asynchronous functions, in which Swift chooses this form.
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
    /// - Throws: as the form without `await` does.
    public func find(
        skip: Int = 0, limit: Int = 0,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> FoundDocuments<Document> {
        try now { try $0.find(skip: skip, limit: limit, filter, sort: sort) }
    }

    /// Returns the first document that fulfils a condition, or `nil`.
    ///
    /// - Throws: as the form without `await` does.
    public func findOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Document? {
        try now { try $0.findOne(filter, sort: sort) }
    }

    /// Returns some fields of the documents that fulfil a condition, as values of another type.
    ///
    /// ```swift
    /// let names = try await todos.find(as: Name.self) { !$0.done } projection: { $0.name.included }
    /// ```
    ///
    /// - Throws: as the form without `await` does.
    public func find<Output: Decodable & Sendable>(
        as type: Output.Type, skip: Int = 0, limit: Int = 0,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedProjection>
        projection: (Document.Fields) throws -> [TypedProjection],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> FoundDocuments<Output> {
        try now {
            try $0.find(
                as: type, skip: skip, limit: limit, filter, projection: projection, sort: sort)
        }
    }

    /// Returns some fields of the first document that fulfils a condition, or `nil`.
    ///
    /// - Throws: as the form without `await` does.
    public func findOne<Output: Decodable & Sendable>(
        as type: Output.Type,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedProjection>
        projection: (Document.Fields) throws -> [TypedProjection],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) async throws -> Output? {
        try now { try $0.findOne(as: type, filter, projection: projection, sort: sort) }
    }

    /// Returns the number of documents that fulfil a condition.
    ///
    /// - Throws: as the form without `await` does.
    public func count(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Int {
        try now { try $0.count(filter) }
    }

    /// Returns the distinct values of a field in the documents that fulfil a condition.
    ///
    /// - Throws: as the form without `await` does.
    public func distinct<Value>(
        _ field: (Document.Fields) -> Field<Value>,
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter =
            TypedFilterBuilder.everything
    ) async throws -> [Value] {
        try now { try $0.distinct(field, where: filter) }
    }

    /// Returns the distinct elements of an array in the documents that fulfil a condition.
    ///
    /// - Throws: as the form without `await` does.
    public func distinct<Value: ListFieldValue>(
        _ field: (Document.Fields) -> Field<Value>,
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter =
            TypedFilterBuilder.everything
    ) async throws -> [Value.Element] where Value.Element: Codable & Sendable {
        try now { try $0.distinct(field, where: filter) }
    }

    /// Runs a pipeline on the documents that fulfil a condition.
    ///
    /// - Throws: as the form without `await` does.
    public func aggregate<Output: Decodable & Sendable>(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        _ stages: [BSONDocument], as type: Output.Type
    ) async throws -> [Output] {
        try now { try $0.aggregate(filter, stages, as: type) }
    }
}
