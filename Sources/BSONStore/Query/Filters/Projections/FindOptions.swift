/// Says how many of the documents that a filter finds are returned, in which order and shape.
public struct FindOptions: Sendable {
    /// How many of the first documents are left out.
    public var skip: Int
    /// How many documents are returned at most; 0 for all.
    public var limit: Int
    /// What is asked for beside that, shared by copies; mostly nothing.
    private var details: Details?

    private final class Details: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    private struct Values: Sendable {
        var sort: SortOrder?
        var projection: Projection?
        var hint: IndexHint?
        var min: BSONDocument = [:]
        var max: BSONDocument = [:]
    }

    private var values: Values {
        get { details?.values ?? Values() }
        set { details = Details(newValue) }
    }

    /// The order; without one, the order in which the documents were inserted.
    public var sort: SortOrder? {
        get { details?.values.sort }
        set { if newValue != nil || details != nil { values.sort = newValue } }
    }
    /// Which fields are returned; without one, all.
    public var projection: Projection? {
        get { details?.values.projection }
        set { if newValue != nil || details != nil { values.projection = newValue } }
    }
    /// Which index is used; without one, the planner chooses.
    public var hint: IndexHint? {
        get { details?.values.hint }
        set { if newValue != nil || details != nil { values.hint = newValue } }
    }
    /// The least key of the hinted index, with a value for each of its fields; none when empty.
    public var min: BSONDocument {
        get { details?.values.min ?? [:] }
        set { values.min = newValue }
    }
    /// The key of the hinted index before which reading ends; none when empty.
    public var max: BSONDocument {
        get { details?.values.max ?? [:] }
        set { values.max = newValue }
    }

    /// Whether an index is named, or bounds of its keys.
    var namesIndex: Bool {
        guard let values = details?.values else { return false }
        return values.hint != nil || !values.min.isEmpty || !values.max.isEmpty
    }

    /// Makes options; what is left out has its default.
    ///
    /// - Throws: `badValue` (2) for a negative skip or limit.
    public init(
        sort: SortOrder? = nil, skip: Int = 0, limit: Int = 0, projection: Projection? = nil,
        hint: IndexHint? = nil
    ) throws(StoreError) {
        guard skip >= 0 else {
            throw StoreError(
                .valueOutOfBounds,
                "BSON field 'skip' value must be >= 0, actual value '\(skip)'")
        }
        guard limit >= 0 else {
            throw StoreError(
                .valueOutOfBounds,
                "BSON field 'limit' value must be >= 0, actual value '\(limit)'")
        }
        self.skip = skip
        self.limit = limit
        if sort != nil || projection != nil || hint != nil {
            details = Details(Values(sort: sort, projection: projection, hint: hint))
        }
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

extension FindOptions {
    /// How many documents are looked for, with those that are skipped; `nil` for all.
    var end: Int? { Self.end(skip: skip, limit: limit) }

    /// The same of a skip and a limit, where 0 is no limit.
    static func end(skip: Int, limit: Int) -> Int? {
        let (sum, isOver) = skip.addingReportingOverflow(limit)
        return limit == 0 || isOver ? nil : sum
    }
}
