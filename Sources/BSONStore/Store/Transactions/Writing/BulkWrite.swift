/// One write of a bulk.
public enum BulkWrite: Sendable {
    /// Adds a document.
    case insertOne(BSONDocument)
    /// Changes the first document that matches the filter, by operators or a pipeline.
    case updateOne(BSONDocument, BSONValue, options: Options = Options())
    /// Changes every document that matches the filter, by operators or a pipeline.
    case updateMany(BSONDocument, BSONValue, options: Options = Options())
    /// Puts a document in place of the first one that matches the filter.
    case replaceOne(BSONDocument, BSONDocument, options: Options = Options())
    /// Removes the first document that matches the filter.
    case deleteOne(BSONDocument, options: Options = Options())
    /// Removes every document that matches the filter.
    case deleteMany(BSONDocument, options: Options = Options())

    /// The options of a write.
    public struct Options: Sendable {
        /// Whether to insert a document when none matches the filter.
        public var upsert: Bool
        /// The filters that `$[name]` in a path refers to.
        public var arrayFilters: [BSONDocument]
        /// The collation of strings in the filter and the update; `nil` for the collection's own.
        public var collation: Collation?
        /// The values that a pipeline can refer to as `$$name`.
        public var variables: BSONDocument

        /// Makes options; each omitted one has its default.
        public init(
            upsert: Bool = false, arrayFilters: [BSONDocument] = [], collation: Collation? = nil,
            variables: BSONDocument = [:]
        ) {
            self.upsert = upsert
            self.arrayFilters = arrayFilters
            self.collation = collation
            self.variables = variables
        }
    }
}

extension BulkWrite.Options {
    func filter(_ document: BSONDocument) throws(StoreError) -> Filter {
        try Filter(
            document,
            options: FilterOptions(collation: collation, isOfQuery: false, allowsText: false))
    }

    func update(_ value: BSONValue) throws(StoreError) -> Update {
        let update = try Update(
            value, variables: variables, arrayFilters: arrayFilters, collation: collation)
        guard !update.isReplacement else {
            throw StoreError(
                .failedToParse, "the update operation document must contain atomic operators")
        }
        return update
    }
}
