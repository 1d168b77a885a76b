import BSONStore

/// A typed condition and the filter in Extended JSON that it stands for.
struct FilterCase {
    let json: String
    let filter: TypedFilter
}

/// A list of cases under construction.
struct FilterCases {
    private(set) var cases: [FilterCase] = []

    mutating func add(
        _ json: String, @TypedFilterBuilder _ filter: (Order.Fields) -> TypedFilter
    ) {
        cases.append(FilterCase(json: json, filter: filter(Order.fields)))
    }
}
