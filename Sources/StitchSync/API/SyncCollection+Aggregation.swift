public import BSONStore

/// Pipelines over the local documents, and bulk writes.
extension SyncCollection {
    /// Returns the results of a pipeline over one snapshot of the local documents.
    ///
    /// - Throws: `StoreError` with MongoDB's codes for an invalid pipeline; of code 20 for a
    ///   pipeline that ends in `$merge` or `$out`, because sync would miss its writes.
    public func aggregate(
        _ pipeline: [BSONDocument], options: PipelineOptions = PipelineOptions()
    ) async throws -> [BSONDocument] {
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
    /// - Throws: as ``aggregate(_:options:)``; `DecodingError` for a result that does not decode.
    public func aggregate<Output: Decodable & Sendable>(
        _ pipeline: [BSONDocument], as type: Output.Type,
        options: PipelineOptions = PipelineOptions()
    ) async throws -> [Output] {
        try await aggregate(pipeline, options: options).map {
            try BSONDecoder().decode(type, from: $0)
        }
    }

    /// Runs several local writes in one transaction and queues the successful ones for upload.
    ///
    /// Each write succeeds or fails as a whole.
    ///
    /// - Parameter ordered: whether the first failed write ends the call; otherwise the writes
    ///   after it run, too.
    /// - Returns: the counts of the successful writes, and the failed writes with their errors.
    /// - Throws: `StoreError` when the store fails, `SyncError` of code `.documentTooLarge`. An
    ///   error changes nothing.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) async throws -> BulkWriteResult {
        let result = try await write { sync in
            try sync.transaction.bulkWrite(sync.namespace, writes, ordered: ordered) { image in
                // An earlier write may have been rolled back, and its stale mark with it.
                sync.resetStaleMark()
                try sync.noteLocalWrite(before: image.before, after: image.after)
            }
        }
        engine.wake()
        return result
    }
}
