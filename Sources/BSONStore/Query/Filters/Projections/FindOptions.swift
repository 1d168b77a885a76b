/// The order, range and shape of the documents that a query returns.
public struct FindOptions: Sendable {
    /// The number of documents to skip.
    public var skip: Int
    /// The maximum number of documents to return; 0 for all.
    public var limit: Int
    /// The remaining options, shared by copies; mostly `nil`.
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
        var sortBytesMax = DocumentSorter.bytesMax
    }

    private var values: Values {
        get { details?.values ?? Values() }
        set { details = Details(newValue) }
    }

    /// The order; `nil` for the order of insertion.
    public var sort: SortOrder? {
        get { details?.values.sort }
        set { if newValue != nil || details != nil { values.sort = newValue } }
    }
    /// The fields to return; `nil` for all.
    public var projection: Projection? {
        get { details?.values.projection }
        set { if newValue != nil || details != nil { values.projection = newValue } }
    }
    /// The index to use; `nil` lets the planner choose.
    public var hint: IndexHint? {
        get { details?.values.hint }
        set { if newValue != nil || details != nil { values.hint = newValue } }
    }
    /// The inclusive lower bound on the hinted index's keys, with all its fields; empty for none.
    public var min: BSONDocument {
        get { details?.values.min ?? [:] }
        set { values.min = newValue }
    }
    /// The exclusive upper bound on the hinted index's keys, with all its fields; empty for none.
    public var max: BSONDocument {
        get { details?.values.max ?? [:] }
        set { values.max = newValue }
    }

    /// The maximum size in memory of what a sort holds, in bytes.
    package var sortBytesMax: Int {
        get { details?.values.sortBytesMax ?? DocumentSorter.bytesMax }
        set { values.sortBytesMax = newValue }
    }

    /// Whether the options name an index, or bounds on its keys.
    package var namesIndex: Bool {
        guard let values = details?.values else { return false }
        return values.hint != nil || !values.min.isEmpty || !values.max.isEmpty
    }

    /// Creates options; omitted ones have their defaults.
    ///
    /// - Throws: `badValue` (2) for a negative skip or limit.
    public init(
        sort: SortOrder? = nil, skip: Int = 0, limit: Int = 0, projection: Projection? = nil,
        hint: IndexHint? = nil
    ) throws(StoreError) {
        guard skip >= 0 else {
            throw StoreError(
                .badValue,
                "BSON field 'skip' value must be >= 0, actual value '\(skip)'")
        }
        guard limit >= 0 else {
            throw StoreError(
                .badValue,
                "BSON field 'limit' value must be >= 0, actual value '\(limit)'")
        }
        self.skip = skip
        self.limit = limit
        if sort != nil || projection != nil || hint != nil {
            details = Details(Values(sort: sort, projection: projection, hint: hint))
        }
    }

    /// Options that return every document, in the order of insertion.
    public static let all = FindOptions()

    private init() {
        skip = 0
        limit = 0
    }

    /// Options that return the first document found.
    package static var first: FindOptions {
        var options = FindOptions()
        options.limit = 1
        return options
    }
}

extension FindOptions {
    /// The number of documents to find, including skipped ones; `nil` for all.
    package var end: Int? { Self.end(skip: skip, limit: limit) }

    /// Returns the sum of a skip and a limit; `nil` for a limit of 0.
    package static func end(skip: Int, limit: Int) -> Int? {
        let (sum, isOver) = skip.addingReportingOverflow(limit)
        return limit == 0 || isOver ? nil : sum
    }
}
