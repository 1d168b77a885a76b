public import BSONStore

/// Local reads; they include pending changes and never wait.
extension SyncCollection {
    /// Returns a query of the local documents that match a filter.
    ///
    /// ```swift
    /// let open = try todos.find(["done": false]).sort(["due": 1]).fetch()
    /// try await todos.find(["done": true]).delete()
    /// ```
    public func find(_ filter: BSONDocument = [:]) -> Query<Document> {
        Query(engine.store, namespace, coding, filter, writer: engine)
    }

    /// Returns the local document with an `_id`, or `nil`; O(log n).
    ///
    /// - Throws: `DocumentDecodingFailure` if the document does not decode.
    public func findOne(id: BSONValue) throws -> Document? {
        try engine.store.collection(namespace).findOne(id: id).map(coding.decoded)
    }

    /// Returns the results of a pipeline over one snapshot of the local documents.
    ///
    /// - Throws: `StoreError` with MongoDB's codes for an invalid pipeline; of code 20 for a
    ///   pipeline that ends in `$merge` or `$out`, because sync would miss its writes.
    public func aggregate(
        _ pipeline: [BSONDocument], options: PipelineOptions = PipelineOptions()
    ) throws -> [BSONDocument] {
        let pipeline = try Pipeline(stages: pipeline, options: options)
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
        try aggregate(pipeline, options: options).map {
            try coding.decoder.decode(type, from: $0)
        }
    }
}
