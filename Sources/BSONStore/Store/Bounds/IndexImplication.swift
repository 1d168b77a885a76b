/// The logic that decides whether a query's tests imply a partial index's filter.
enum IndexImplication {
    /// Tests that a document passes.
    typealias Tests = [(path: FieldPath, test: Predicate.Test)]

    /// Whether each test of the index's filter follows from a test of the query; both must use the
    /// same collation.
    static func holds(_ partial: Filter, given tests: Tests) -> Bool {
        holds(partial.predicate, given: tests, partial.collation)
    }

    private static func holds(
        _ predicate: Predicate, given tests: Tests, _ collation: Collation?
    ) -> Bool {
        switch predicate {
        case .all(let parts): parts.allSatisfy { holds($0, given: tests, collation) }
        case .any(let parts): parts.contains { holds($0, given: tests, collation) }
        case .field(let path, let needed):
            tests.contains { $0.path == path && follows(needed, from: $0.test, collation) }
        case .not, .special: false
        }
    }

    private static func follows(
        _ needed: Predicate.Test, from test: Predicate.Test, _ collation: Collation?
    ) -> Bool {
        if case .isIn(let values, let expressions) = test, expressions.isEmpty, !values.isEmpty {
            return values.allSatisfy { follows(needed, from: .compare(.equal, $0), collation) }
        }
        switch needed {
        case .exists: return provesPresence(test)
        case .isIn(let values, _):
            guard case .compare(.equal, let value) = test else { return false }
            return values.contains { order($0, value, collation) == .equal }
        case .hasType(let types):
            guard case .hasType(let given) = test else { return false }
            return given == types
        case .compare(let comparison, let bound):
            guard case .compare(let given, let value) = test,
                BSONKey.classByte(of: bound.type) == BSONKey.classByte(of: value.type),
                isNaN(bound) == isNaN(value)
            else { return false }
            return follows(comparison, from: given, order(value, bound, collation))
        case .matches, .hasSize, .modulo, .hasDocument, .hasElement, .special: return false
        }
    }

    private static func order(
        _ left: BSONValue, _ right: BSONValue, _ collation: Collation?
    ) -> BSONOrder {
        collation?.compare(left, right) ?? BSONOrder.compare(left, right)
    }

    /// Whether a value is NaN, which has its key before numbers but is neither less nor greater.
    private static func isNaN(_ value: BSONValue) -> Bool {
        value.isNumber && BSONOrder.compare(value, .double(.nan)) == .equal
    }

    private static func provesPresence(_ test: Predicate.Test) -> Bool {
        switch test {
        // A missing value sorts after the least value and before the greatest.
        case .compare(let comparison, .minKey), .compare(let comparison, .maxKey):
            comparison == .equal
        case .compare(_, let value): value != .null
        case .exists, .matches, .hasType, .hasSize, .modulo, .hasDocument, .hasElement: true
        case .isIn, .special: false
        }
    }

    /// Whether one comparison with a value implies another with a bound, given how the two are
    /// ordered.
    private static func follows(
        _ needed: Predicate.Comparison, from given: Predicate.Comparison, _ order: BSONOrder
    ) -> Bool {
        switch (given, needed) {
        case (.equal, .equal): order == .equal
        case (.equal, .less): order == .less
        case (.less, .less): order != .greater
        case (.lessOrEqual, .less): order == .less
        case (.equal, .lessOrEqual), (.less, .lessOrEqual), (.lessOrEqual, .lessOrEqual):
            order != .greater
        case (.equal, .greater): order == .greater
        case (.greater, .greater): order != .less
        case (.greaterOrEqual, .greater): order == .greater
        case (.equal, .greaterOrEqual), (.greater, .greaterOrEqual),
            (.greaterOrEqual, .greaterOrEqual):
            order != .less
        case (.less, .equal), (.lessOrEqual, .equal), (.greater, .equal),
            (.greaterOrEqual, .equal), (.greater, .less), (.greaterOrEqual, .less),
            (.greater, .lessOrEqual), (.greaterOrEqual, .lessOrEqual), (.less, .greater),
            (.lessOrEqual, .greater), (.less, .greaterOrEqual), (.lessOrEqual, .greaterOrEqual):
            false
        }
    }
}
