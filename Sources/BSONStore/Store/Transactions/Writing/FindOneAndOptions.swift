/// The options of a find-and-change call: which document it changes and what it returns.
///
/// ```swift
/// let options = FindOneAndOptions(sort: try SortOrder(["age": -1]), returnsAfter: true)
/// let oldest = try people.findOneAndUpdate([:], ["$set": ["oldest": true]], options: options)
/// ```
public struct FindOneAndOptions: Sendable {
    /// The order that decides which matching document is the first.
    public var sort: SortOrder?
    /// The fields to return; `nil` for all.
    public var projection: Projection?
    /// Whether to insert a document when none matches; a delete ignores it.
    public var upsert: Bool
    /// Whether to return the document as it is after the change instead of before; a delete ignores
    /// it.
    public var returnsAfter: Bool
    /// The filters that `$[name]` in a path of an update refers to; a replacement and a delete have
    /// no paths and refuse them.
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

    /// Checks that a delete can use the options.
    ///
    /// - Throws: `failedToParse` (9) with MongoDB's message for array filters.
    func checkDeletes() throws(StoreError) {
        guard arrayFilters.isEmpty else {
            throw StoreError(.failedToParse, "Cannot specify arrayFilters and remove=true")
        }
    }

    /// Checks that a replacement can use the options.
    ///
    /// - Throws: `failedToParse` (9) for array filters.
    package func checkReplaces() throws(StoreError) {
        guard arrayFilters.isEmpty else {
            throw StoreError(
                .failedToParse, "arrayFilters may not be specified for replacement-style updates")
        }
    }
}
