public import BSONStore

/// Pipelines over the local documents, and several writes at once.
extension SyncCollection {
    /// The documents that a pipeline makes of the local documents, from one state of the store.
    ///
    /// - Throws: `StoreError` with MongoDB's codes for what is no pipeline; of code 20 for one that
    ///   ends in `$merge` or `$out`, whose writes sync would not see.
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

    /// The documents that a pipeline makes, as values of a type.
    ///
    /// - Throws: as ``aggregate(_:options:)``; `DecodingError` for a document that is none of the type.
    public func aggregate<Output: Decodable & Sendable>(
        _ pipeline: [BSONDocument], as type: Output.Type,
        options: PipelineOptions = PipelineOptions()
    ) async throws -> [Output] {
        try await aggregate(pipeline, options: options).map {
            try BSONDecoder().decode(type, from: $0)
        }
    }

    /// Does several local writes in one transaction, each of them wholly or not at all; all that were
    /// done are queued for the remote.
    ///
    /// - Parameter ordered: whether the first write that is refused ends it; otherwise the rest is
    ///   done all the same.
    /// - Returns: what was done, and which writes were refused and why.
    /// - Throws: what the store says, and `SyncError` of code `.documentTooLarge`; nothing was
    ///   changed then.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) async throws -> BulkWriteResult {
        let result = try await write { sync in
            try sync.transaction.bulkWrite(sync.namespace, writes, ordered: ordered) { image in
                // A write before this one may have been taken back, and its hint with it.
                sync.resetStaleMark()
                try sync.noteLocalWrite(before: image.before, after: image.after)
            }
        }
        engine.wake()
        return result
    }
}
