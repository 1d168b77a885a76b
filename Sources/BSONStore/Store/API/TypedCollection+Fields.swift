/// Reads whose filters are closures over the type's fields.
extension TypedCollection where Document: TypedDocument {
    /// Returns the documents that fulfil a condition.
    ///
    /// ```swift
    /// let cheap = try items.find(limit: 10) { $0.price < 5 } sort: { $0.price.ascending }
    /// ```
    ///
    /// - Parameters:
    ///   - skip: the number of documents to skip.
    ///   - limit: the maximum number of documents; 0 for all.
    ///   - sort: the order; without one the order of insertion.
    /// - Throws: as `TypedFilter/bson(with:)` does; `badValue` (2) for a negative number.
    public func find(
        skip: Int = 0, limit: Int = 0,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> FoundDocuments<Document> {
        try find(
            try bson(filter),
            options: FindOptions(sort: try order(sort), skip: skip, limit: limit))
    }

    /// Returns the first document that fulfils a condition, or `nil`.
    ///
    /// - Throws: as ``find(skip:limit:_:sort:)`` does; `DocumentDecodingFailure` if the document
    ///   does not decode.
    public func findOne(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> Document? {
        try findOne(try bson(filter), options: FindOptions(sort: try order(sort)))
    }

    /// Returns some fields of the documents that fulfil a condition, as values of another type.
    ///
    /// ```swift
    /// let names = try items.find(as: ItemName.self) { $0.price < 5 } projection: { $0.name.included }
    /// ```
    ///
    /// - Throws: as ``find(skip:limit:_:sort:)`` does.
    public func find<Output: Decodable & Sendable>(
        as type: Output.Type, skip: Int = 0, limit: Int = 0,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedProjection>
        projection: (Document.Fields) throws -> [TypedProjection],
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> FoundDocuments<Output> {
        let options = try FindOptions(
            sort: try order(sort), skip: skip, limit: limit, projection: try fields(projection))
        let found = try documents.find(try bson(filter), options: options)
        return FoundDocuments(decoding: found) { try decoder.decode(Output.self, from: $0) }
    }

    /// Returns some fields of the first document that fulfils a condition, or `nil`.
    ///
    /// - Throws: as ``find(skip:limit:_:sort:)`` does; `DocumentDecodingFailure` if the fields do
    ///   not decode.
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

    /// Returns how many documents fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` does.
    public func count(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) throws -> Int { try count(try bson(filter)) }

    /// Returns the distinct values of a field in the documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` does; the decoder's error.
    public func distinct<Value>(
        _ field: (Document.Fields) -> Field<Value>,
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter =
            TypedFilterBuilder.everything
    ) throws -> [Value] {
        try distinct(field(Document.fields).path(with: encoder), Value.self, filter)
    }

    /// Returns the distinct elements of an array in the documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` does; the decoder's error.
    public func distinct<Value: ListFieldValue>(
        _ field: (Document.Fields) -> Field<Value>,
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter =
            TypedFilterBuilder.everything
    ) throws -> [Value.Element] where Value.Element: Codable & Sendable {
        try distinct(field(Document.fields).path(with: encoder), Value.Element.self, filter)
    }

    /// Runs a pipeline on the documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` does, for an invalid pipeline, and the decoder's
    ///   error for a result that does not decode.
    public func aggregate<Output: Decodable & Sendable>(
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        _ stages: [BSONDocument], as type: Output.Type
    ) throws -> [Output] {
        let match: BSONDocument = ["$match": .document(try bson(filter))]
        return try documents.aggregate([match] + stages).map {
            try decoder.decode(Output.self, from: $0)
        }
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
        try documents.createIndex(try Document.sort(keys).bson(with: encoder), options)
    }

    private func distinct<Value: Decodable>(
        _ path: String, _ type: Value.Type, _ filter: (Document.Fields) throws -> TypedFilter
    ) throws -> [Value] {
        try documents.distinct(path, try bson(filter)).map {
            try decoder.decodeValue(Value.self, from: $0)
        }
    }

    func bson(_ filter: (Document.Fields) throws -> TypedFilter) throws -> BSONDocument {
        try filter(Document.fields).bson(with: encoder)
    }

    func bson(_ update: (Document.Fields) throws -> [TypedUpdate]) throws -> BSONDocument {
        try Document.update(update).bson(with: encoder)
    }

    private func fields(
        _ projection: (Document.Fields) throws -> [TypedProjection]
    ) throws -> Projection? {
        let fields = try Document.projection(projection).bson(with: encoder)
        return fields.isEmpty ? nil : try Projection(fields)
    }

    func order(_ sort: (Document.Fields) throws -> [TypedSort]) throws -> SortOrder? {
        let document = try Document.sort(sort).bson(with: encoder)
        return document.isEmpty ? nil : try SortOrder(document)
    }
}
