public import BSONStore

/// Local reads whose filters are closures over the type's fields, without `await`.
extension SyncCollection where Document: TypedDocument {
    /// Returns the documents that fulfil a condition.
    ///
    /// ```swift
    /// let open = try todos.find(limit: 10) { !$0.done } sort: { $0.due.ascending }
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
    ) throws -> FoundDocuments<Document> {
        try find(
            try Document.filter(filter).bson,
            options: FindOptions(sort: try Self.order(sort), skip: skip, limit: limit))
    }

    /// Returns the first document that fulfils a condition, or `nil`.
    ///
    /// - Throws: as `find(skip:limit:_:sort:)` does; `SyncError` of code `.decodingFailed` if the
    ///   document does not decode.
    public func findOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> Document? {
        try findOne(try Document.filter(filter).bson, sort: try Self.order(sort))
    }

    /// Returns some fields of the documents that fulfil a condition, as values of another type.
    ///
    /// ```swift
    /// let names = try todos.find(as: Name.self) { !$0.done } projection: { $0.name.included }
    /// ```
    ///
    /// - Throws: as `find(skip:limit:_:sort:)` does.
    public func find<Output: Decodable & Sendable>(
        as type: Output.Type, skip: Int = 0, limit: Int = 0,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedProjection>
        projection: (Document.Fields) throws -> [TypedProjection],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> FoundDocuments<Output> {
        let fields = try Document.projection(projection).bson
        let options = try FindOptions(
            sort: try Self.order(sort), skip: skip, limit: limit,
            projection: fields.isEmpty ? nil : Projection(fields))
        let found = try local.find(try Document.filter(filter).bson, options: options)
        return FoundDocuments(decoding: found) { try BSONDecoder().decode(type, from: $0) }
    }

    /// Returns some fields of the first document that fulfils a condition, or `nil`.
    ///
    /// - Throws: as `find(skip:limit:_:sort:)` does; `DocumentDecodingFailure` if the fields do not
    ///   decode.
    public func findOne<Output: Decodable & Sendable>(
        as type: Output.Type,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedProjection>
        projection: (Document.Fields) throws -> [TypedProjection],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> Output? {
        try find(as: type, limit: 1, filter, projection: projection, sort: sort).strict.first
    }

    /// Returns the number of documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` does.
    public func count(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) throws -> Int {
        try count(try Document.filter(filter).bson)
    }

    /// Returns the distinct values of a field in the documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` does; the decoder's error.
    public func distinct<Value>(
        _ field: (Document.Fields) -> Field<Value>,
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter =
            TypedFilterBuilder.everything
    ) throws -> [Value] {
        try values(of: field(Document.fields).path(), Value.self, filter)
    }

    /// Returns the distinct elements of an array in the documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` does; the decoder's error.
    public func distinct<Value: ListFieldValue>(
        _ field: (Document.Fields) -> Field<Value>,
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter =
            TypedFilterBuilder.everything
    ) throws -> [Value.Element] where Value.Element: Codable & Sendable {
        try values(of: field(Document.fields).path(), Value.Element.self, filter)
    }

    /// Runs a pipeline on the documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` and `aggregate(_:options:as:)` do.
    public func aggregate<Output: Decodable & Sendable>(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        _ stages: [BSONDocument], as type: Output.Type
    ) throws -> [Output] {
        let match: BSONDocument = ["$match": .document(try Document.filter(filter).bson)]
        return try aggregate([match] + stages, as: type)
    }

    /// Calls a body with every document that fulfils a condition and decodes, from one snapshot of
    /// the store.
    ///
    /// ```swift
    /// let failures = try todos.forEach(where: { $0.done }) { archive($0) }
    /// ```
    ///
    /// - Returns: the documents that did not decode.
    /// - Throws: as `TypedFilter/bson(with:)` and the form with a BSON filter do.
    public func forEach(
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing,
        _ body: (Document) throws -> Void
    ) throws -> [DocumentDecodingFailure] {
        try forEach(
            try Document.filter(filter).bson, options: FindOptions(sort: try Self.order(sort)),
            body)
    }

    private func values<Value: Decodable>(
        of path: String, _ type: Value.Type, _ filter: (Document.Fields) throws -> TypedFilter
    ) throws -> [Value] {
        try distinct(path, try Document.filter(filter).bson).map {
            try BSONDecoder().decodeValue(type, from: $0)
        }
    }

    static func order(
        _ sort: (Document.Fields) throws -> [TypedSort]
    ) throws -> SortOrder? {
        let document = try Document.sort(sort).bson
        return document.isEmpty ? nil : try SortOrder(document)
    }
}
