extension DocumentCollection {
    /// Runs a pipeline on one snapshot of the collection and returns its documents.
    ///
    /// A pipeline that ends in `$merge` or `$out` writes all of its documents or none, and returns
    /// none.
    ///
    /// - Throws: errors with MongoDB's codes and messages for an invalid pipeline and for values
    ///   that a stage rejects; 292 when a stage would hold more than 100 MiB.
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

    /// Runs a pipeline on one snapshot of the collection and returns its documents.
    ///
    /// A pipeline that ends in `$merge` or `$out` writes all of its documents or none, and returns
    /// none; its commit runs on the store's writer thread.
    ///
    /// - Throws: errors with MongoDB's codes and messages for an invalid pipeline and for values
    ///   that a stage rejects; 292 when a stage would hold more than 100 MiB.
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
