public import BSONStore

/// Local reads without `await`, for functions that are not asynchronous; they include pending
/// changes.
extension SyncCollection {
    /// Returns the first document that matches a filter.
    ///
    /// ```swift
    /// let oldest = try todos.findOne(["done": false], sort: SortOrder(["due": 1]))
    /// ```
    ///
    /// - Parameter projection: the fields to return; the type must decode without the others.
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter; `SyncError` of code
    ///   `.decodingFailed` if the document does not decode as the collection's type.
    public func findOne(
        _ filter: BSONDocument = [:], sort: SortOrder? = nil, projection: Projection? = nil
    ) throws -> Document? {
        let options = try FindOptions(sort: sort, projection: projection)
        return try local.findOne(filter, options: options).map(decode)
    }

    /// Returns the document with an `_id`; O(log n).
    ///
    /// - Throws: `SyncError` of code `.decodingFailed` if the document does not decode.
    public func findOne(id: BSONValue) throws -> Document? {
        try local.findOne(id: id).map(decode)
    }

    /// Returns the documents that match a filter.
    ///
    /// A document that does not decode is in the result's `failures`, not an error; the result's
    /// `strict` throws for it.
    ///
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter.
    public func find(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) throws -> FoundDocuments<Document> {
        FoundDocuments(decoding: try local.find(filter, options: options), by: coding.decode)
    }

    /// Returns the documents that match a filter.
    ///
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter.
    public func find(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) throws -> [BSONDocument] where Document == BSONDocument {
        try local.find(filter, options: options)
    }

    /// Calls a body with every document that matches a filter and decodes, from one snapshot of the
    /// store.
    ///
    /// ```swift
    /// var total = 0
    /// let failures = try todos.forEach { total += $0.complexity }
    /// ```
    ///
    /// Unlike `find`, it does not hold all documents in memory. The body must not write to the
    /// collection.
    ///
    /// - Returns: the documents that did not decode.
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter; the body's error, which
    ///   ends the iteration.
    public func forEach(
        _ filter: BSONDocument = [:], options: FindOptions = .all,
        _ body: (Document) throws -> Void
    ) throws -> [DocumentDecodingFailure] {
        try local.forEach(filter, options, decodedBy: coding.decode, body)
    }

    /// Calls a body with every document that matches a filter, from one snapshot of the store.
    ///
    /// - Throws: as the form for other types does.
    public func forEach(
        _ filter: BSONDocument = [:], options: FindOptions = .all,
        _ body: (BSONDocument) throws -> Void
    ) throws where Document == BSONDocument {
        try local.forEach(filter, options: options, body)
    }

    /// Returns the number of documents that match a filter.
    ///
    /// - Parameter limit: the highest number to return; 0 sets no limit.
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter.
    public func count(_ filter: BSONDocument = [:], limit: Int = 0) throws -> Int {
        let count = try local.count(filter)
        return limit > 0 ? min(count, limit) : count
    }

    /// Returns the distinct values of a field in the documents that match a filter.
    ///
    /// The elements of an array count one by one.
    ///
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter.
    public func distinct(_ field: String, _ filter: BSONDocument = [:]) throws -> [BSONValue] {
        try local.distinct(field, filter)
    }

    /// Returns the results of a pipeline over one snapshot of the local documents.
    ///
    /// - Throws: `StoreError` with MongoDB's codes for an invalid pipeline; of code 20 for a
    ///   pipeline that ends in `$merge` or `$out`, because sync would miss its writes.
    public func aggregate(
        _ pipeline: [BSONDocument], options: PipelineOptions = PipelineOptions()
    ) throws -> [BSONDocument] {
        let stages = BSONArray(pipeline.map { .document($0) })
        let pipeline = try Pipeline(stages, options: options)
        guard !pipeline.writes else {
            throw StoreError(
                .illegalOperation,
                "$merge and $out would write past sync; insert the documents instead",
                namespace: namespace)
        }
        return try engine.store.read { try $0.aggregate(namespace, pipeline) }
    }

    /// Returns the results of a pipeline, decoded as values of a type.
    ///
    /// - Throws: as `aggregate(_:options:)`; `DecodingError` for a result that does not decode.
    public func aggregate<Output: Decodable & Sendable>(
        _ pipeline: [BSONDocument], as type: Output.Type,
        options: PipelineOptions = PipelineOptions()
    ) throws -> [Output] {
        try aggregate(pipeline, options: options).map { try BSONDecoder().decode(type, from: $0) }
    }

    /// The same collection of the store, for reads only: its writes would bypass sync.
    var local: DocumentCollection { engine.store.collection(namespace) }
}
