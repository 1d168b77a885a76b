extension DocumentCollection {
    /// Runs a pipeline on one snapshot of the collection and returns its documents.
    ///
    /// ```swift
    /// let counts = try people.aggregate([
    ///     ["$match": ["age": ["$gte": 18]]],
    ///     ["$group": ["_id": "$city", "count": ["$sum": 1]]],
    /// ])
    /// ```
    ///
    /// A pipeline that ends in `$merge` or `$out` writes all of its documents or none, and returns
    /// none.
    ///
    /// - Throws: the parser's error for an invalid pipeline, the error of a stage that rejects a
    ///   value, and 292 when a stage would hold more than 100 MiB.
    @discardableResult
    public func aggregate(
        _ pipeline: [BSONDocument], options: PipelineOptions = PipelineOptions()
    ) throws -> [BSONDocument] {
        let pipeline = try Pipeline(Self.array(pipeline), options: options)
        guard pipeline.writes else {
            return try store.read { try $0.aggregate(namespace, pipeline) }
        }
        return try store.write { try $0.aggregate(namespace, pipeline) }
    }

    /// Runs a pipeline; the commit of one that writes runs on the store's writer thread.
    ///
    /// ```swift
    /// try await people.aggregate([["$out": "copyOfPeople"]])
    /// ```
    ///
    /// - Throws: the errors of the synchronous form.
    @discardableResult
    public func aggregate(
        _ pipeline: [BSONDocument], options: PipelineOptions = PipelineOptions()
    ) async throws -> [BSONDocument] {
        let pipeline = try Pipeline(Self.array(pipeline), options: options)
        guard pipeline.writes else {
            return try store.read { try $0.aggregate(namespace, pipeline) }
        }
        return try await store.write { try $0.aggregate(namespace, pipeline) }
    }

    private static func array(_ stages: [BSONDocument]) -> BSONArray {
        BSONArray(stages.map { .document($0) })
    }
}
