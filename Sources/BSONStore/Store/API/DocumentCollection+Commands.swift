// MARK: - Several writes

extension DocumentCollection {
    /// Performs several writes in one transaction, except for those that are refused.
    ///
    /// ```swift
    /// let result = try people.bulkWrite([
    ///     .insertOne(["_id": 2]), .updateMany([:], ["$inc": ["age": 1]]), .deleteOne(["_id": 1]),
    /// ])
    /// let refused = result.errors.map(\.index)
    /// ```
    ///
    /// A refused write, even one of many documents, changes none of them.
    ///
    /// - Parameter ordered: whether to stop at the first refused write; otherwise the writes after it
    ///   are performed.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: the store's errors, after which nothing is changed; a refused write is in the result
    ///   instead.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }
}

// MARK: - Aggregate

extension DocumentCollection {
    /// Runs a pipeline of MongoDB's stages and returns its documents.
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
        let pipeline = try Pipeline(stages: pipeline, options: options)
        guard pipeline.writes else {
            return try store.read { try $0.aggregate(namespace, pipeline) }
        }
        return try store.write { try $0.aggregate(namespace, pipeline) }
    }
}

extension DocumentCollection {
    /// Runs a pipeline that reads, and decodes its results.
    ///
    /// ```swift
    /// let counts = try people.aggregate(
    ///     [["$sortByCount": "$city"]], as: CityCount.self)
    /// ```
    ///
    /// - Throws: as `aggregate(_:options:)` does; the decoder's error for a result that does not
    ///   decode.
    public func aggregate<Output: Decodable & Sendable>(
        _ pipeline: [BSONDocument], as type: Output.Type,
        options: PipelineOptions = PipelineOptions()
    ) throws -> [Output] {
        try aggregate(pipeline, options: options).map {
            try coding.decoder.decode(type, from: $0)
        }
    }
}

extension Pipeline {
    /// Parses the stages of a pipeline.
    package init(stages: [BSONDocument], options: PipelineOptions) throws {
        try self.init(BSONArray(stages.map { .document($0) }), options: options)
    }
}
