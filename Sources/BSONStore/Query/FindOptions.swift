/// Says how many of the documents that a filter finds are returned, in which order and shape.
public struct FindOptions: Sendable {
    /// The order; without one, the order in which the documents were inserted.
    public var sort: SortOrder?
    /// How many of the first documents are left out.
    public var skip: Int
    /// How many documents are returned at most; 0 for all.
    public var limit: Int
    /// Which fields are returned; without one, all.
    public var projection: Projection?

    /// Which index is used; without one, the planner chooses.
    public var hint: IndexHint?
    /// The least key of the hinted index, with a value for each of its fields; none when empty.
    public var min: BSONDocument = [:]
    /// The key of the hinted index before which reading ends; none when empty.
    public var max: BSONDocument = [:]

    /// Makes options; what is left out has its default.
    ///
    /// - Throws: `badValue` (2) for a negative skip or limit.
    public init(
        sort: SortOrder? = nil, skip: Int = 0, limit: Int = 0, projection: Projection? = nil,
        hint: IndexHint? = nil
    ) throws(StoreError) {
        guard skip >= 0 else {
            throw StoreError(
                StoreError.Code(rawValue: 51024),
                "BSON field 'skip' value must be >= 0, actual value '\(skip)'")
        }
        guard limit >= 0 else {
            throw StoreError(
                StoreError.Code(rawValue: 51024),
                "BSON field 'limit' value must be >= 0, actual value '\(limit)'")
        }
        self.sort = sort
        self.skip = skip
        self.limit = limit
        self.projection = projection
        self.hint = hint
    }

    /// Everything, in the order of insertion.
    public static let all = FindOptions()

    private init() {
        skip = 0
        limit = 0
    }

    /// The first document that is found.
    static var first: FindOptions {
        var options = FindOptions()
        options.limit = 1
        return options
    }
}
