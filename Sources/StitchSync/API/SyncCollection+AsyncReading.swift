public import BSONStore

/// The same local reads for asynchronous functions, in which Swift chooses this form; they do not
/// wait either.
extension SyncCollection {
    /// Returns the first document that matches a filter.
    ///
    /// - Throws: as the form without `await` does.
    public func findOne(
        _ filter: BSONDocument = [:], sort: SortOrder? = nil, projection: Projection? = nil
    ) async throws -> Document? {
        try now { try $0.findOne(filter, sort: sort, projection: projection) }
    }

    /// Returns the document with an `_id`; O(log n).
    ///
    /// - Throws: as the form without `await` does.
    public func findOne(id: BSONValue) async throws -> Document? {
        try now { try $0.findOne(id: id) }
    }

    /// Returns the documents that match a filter.
    ///
    /// A document that does not decode is in the result's `failures`, not an error; the result's
    /// `strict` throws for it.
    ///
    /// - Throws: as the form without `await` does.
    public func find(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) async throws -> FoundDocuments<Document> {
        try now { try $0.find(filter, options: options) }
    }

    /// Returns the documents that match a filter.
    ///
    /// - Throws: as the form without `await` does.
    public func find(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) async throws -> [BSONDocument] where Document == BSONDocument {
        try now { try $0.find(filter, options: options) }
    }

    /// Returns the number of documents that match a filter.
    ///
    /// - Parameter limit: the highest number to return; 0 sets no limit.
    /// - Throws: as the form without `await` does.
    public func count(_ filter: BSONDocument = [:], limit: Int = 0) async throws -> Int {
        try now { try $0.count(filter, limit: limit) }
    }

    /// Returns the distinct values of a field in the documents that match a filter.
    ///
    /// The elements of an array count one by one.
    ///
    /// - Throws: as the form without `await` does.
    public func distinct(
        _ field: String, _ filter: BSONDocument = [:]
    ) async throws -> [BSONValue] {
        try now { try $0.distinct(field, filter) }
    }

    /// Returns the results of a pipeline over one snapshot of the local documents.
    ///
    /// - Throws: as the form without `await` does.
    public func aggregate(
        _ pipeline: [BSONDocument], options: PipelineOptions = PipelineOptions()
    ) async throws -> [BSONDocument] {
        try now { try $0.aggregate(pipeline, options: options) }
    }

    /// Returns the results of a pipeline, decoded as values of a type.
    ///
    /// - Throws: as the form without `await` does.
    public func aggregate<Output: Decodable & Sendable>(
        _ pipeline: [BSONDocument], as type: Output.Type,
        options: PipelineOptions = PipelineOptions()
    ) async throws -> [Output] {
        try now { try $0.aggregate(pipeline, as: type, options: options) }
    }

    /// Calls a body that is not asynchronous, in which Swift chooses the form without `await`.
    func now<R>(_ body: (Self) throws -> R) rethrows -> R { try body(self) }
}
