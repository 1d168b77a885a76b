/// A check that a text index can answer the `$text` of a filter.
///
/// Source: MongoDB manual, "$text", "Restrictions", and "Text Indexes", "Compound Index"; the
/// server's `planner_ixselect.cpp` and `query_planner.cpp`.
struct TextPlacement {
    /// The fields before the texts in a compound text index.
    private let prefix: [String]
    /// Whether an index bounds every one of some alternatives.
    private let areIndexed: ([Predicate]) throws(StoreError) -> Bool

    /// Creates a check for a text index.
    init(
        _ index: IndexDefinition,
        areIndexed: @escaping ([Predicate]) throws(StoreError) -> Bool
    ) {
        prefix = index.keys.prefix { $0.path != "_fts" }.map(\.path)
        self.areIndexed = areIndexed
    }

    /// Checks where `$text` stands in a predicate.
    ///
    /// - Throws: 291 without an equality for each field before the texts, and beside an
    ///   alternative of `$or` that no index helps.
    func check(_ predicate: Predicate) throws(StoreError) {
        try check(predicate, [])
    }

    private func check(_ predicate: Predicate, _ equal: [String]) throws(StoreError) {
        switch predicate {
        case .all(let parts):
            let joined = equal + parts.flatMap(Self.equalities)
            for part in parts { try check(part, joined) }
        case .any(let parts) where parts.count == 1: try check(parts[0], equal)
        case .any(let parts):
            let others = parts.filter { !Self.searches($0) }
            guard others.count < parts.count else { return }
            if !others.isEmpty, try !areIndexed(others) {
                throw Self.error(
                    "Failed to produce a solution for TEXT under OR - other non-TEXT clauses under "
                        + "OR have to be indexed as well.")
            }
            for part in parts { try check(part, []) }
        case .special(.text):
            let isBound = prefix.allSatisfy { name in
                equal.contains { $0.hasSameBytes(as: name) }
            }
            guard isBound else { throw Self.unusable }
        case .not, .field, .special: return
        }
    }

    /// Returns the paths that must equal a value for the predicate to hold.
    private static func equalities(_ predicate: Predicate) -> [String] {
        switch predicate {
        case .all(let parts): parts.flatMap(equalities)
        case .any(let parts) where parts.count == 1: equalities(parts[0])
        case .field(let path, .compare(.equal, _)): [path.description]
        case .field(let path, .isIn(let values, let expressions))
        where values.count == 1 && expressions.isEmpty: [path.description]
        case .any, .not, .field, .special: []
        }
    }

    private static func searches(_ predicate: Predicate) -> Bool {
        switch predicate {
        case .all(let parts), .any(let parts): parts.contains(where: searches)
        case .not(let part): searches(part)
        case .special(.text): true
        case .field, .special: false
        }
    }

    /// The error of a text index that cannot answer the query.
    static let unusable = error(
        "failed to use text index to satisfy $text query (if text index is compound, are "
            + "equality predicates given for all prefix fields?)")

    private static func error(_ reason: String) -> StoreError {
        StoreError(
            .noQueryExecutionPlans,
            "error processing query: planner returned error :: caused by :: \(reason)")
    }
}
