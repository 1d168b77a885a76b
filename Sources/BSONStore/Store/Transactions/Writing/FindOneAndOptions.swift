/// The options of a find-and-change call: which document it changes and what it returns.
public struct FindOneAndOptions: Sendable {
    /// The order that decides which matching document is the first.
    public var sort: SortOrder?
    /// The fields to return; `nil` for all.
    public var projection: Projection?
    /// Whether to insert a document when none matches.
    public var upsert: Bool
    /// Whether to return the document as it is after the change instead of before.
    public var returnsAfter: Bool
    /// The filters that `$[name]` in a path refers to.
    public var arrayFilters: [BSONDocument]

    /// Makes options; each omitted one has its default.
    public init(
        sort: SortOrder? = nil, projection: Projection? = nil, upsert: Bool = false,
        returnsAfter: Bool = false, arrayFilters: [BSONDocument] = []
    ) {
        self.sort = sort
        self.projection = projection
        self.upsert = upsert
        self.returnsAfter = returnsAfter
        self.arrayFilters = arrayFilters
    }
}
