/// Prints the bounds of an index field as the server does: `[5, inf.0]`, `["a", {})`.
enum ExplainBounds {
    /// One interval with its ends.
    private struct Interval {
        var lower: String
        var upper: String
        var hasLower = true
        var hasUpper = true

        func text(isReversed: Bool) -> String {
            isReversed
                ? "\(hasUpper ? "[" : "(")\(upper), \(lower)\(hasLower ? "]" : ")")"
                : "\(hasLower ? "[" : "(")\(lower), \(upper)\(hasUpper ? "]" : ")")"
        }
    }

    /// The intervals of a field, in the order in which they are read.
    ///
    /// - Parameter isBounded: whether the plan bounds the field at all.
    static func texts(
        of path: String, in filter: Filter, isBounded: Bool, isReversed: Bool
    ) -> [String] {
        let whole = Interval(lower: "MinKey", upper: "MaxKey")
        let found = isBounded ? intervals(of: path, in: filter) : []
        let texts = (found.isEmpty ? [whole] : found).map { $0.text(isReversed: isReversed) }
        return isReversed ? texts.reversed() : texts
    }

    private static func intervals(of path: String, in filter: Filter) -> [Interval] {
        let parts: [Predicate]
        if case .all(let all) = filter.predicate { parts = all } else { parts = [filter.predicate] }
        var range: Interval?
        for part in parts {
            guard case .field(let field, let test) = part, field.description == path else {
                continue
            }
            switch test {
            case .compare(.equal, let value): return points([value])
            case .isIn(let values, _): return points(values)
            case .compare(let comparison, let value):
                range = narrowed(range ?? ends(of: value), comparison, value)
            default: continue
            }
        }
        return range.map { [$0] } ?? []
    }

    private static func points(_ values: [BSONValue]) -> [Interval] {
        let sorted = values.sorted { BSONOrder.compare($0, $1) == .less }
        return sorted.flatMap { value -> [Interval] in
            let text = ShellText.text(of: value)
            let point = Interval(lower: text, upper: text)
            guard value == .null else { return [point] }
            return [Interval(lower: "undefined", upper: "undefined"), point]
        }
    }

    private static func narrowed(
        _ interval: Interval, _ comparison: Predicate.Comparison, _ value: BSONValue
    ) -> Interval {
        var interval = interval
        let text = ShellText.text(of: value)
        switch comparison {
        case .equal: break
        case .less: (interval.upper, interval.hasUpper) = (text, false)
        case .lessOrEqual: (interval.upper, interval.hasUpper) = (text, true)
        case .greater: (interval.lower, interval.hasLower) = (text, false)
        case .greaterOrEqual: (interval.lower, interval.hasLower) = (text, true)
        }
        return interval
    }

    /// All values of the same class: a range never goes beyond it.
    private static func ends(of value: BSONValue) -> Interval {
        switch value {
        case .double, .int32, .int64, .decimal128: Interval(lower: "-inf.0", upper: "inf.0")
        case .string, .symbol: Interval(lower: "\"\"", upper: "{}", hasUpper: false)
        case .document: Interval(lower: "{}", upper: "[]", hasUpper: false)
        case .bool: Interval(lower: "false", upper: "true")
        case .datetime:
            Interval(
                lower: "new Date(-9223372036854775808)", upper: "new Date(9223372036854775807)")
        case .objectID:
            Interval(
                lower: "ObjectId('000000000000000000000000')",
                upper: "ObjectId('ffffffffffffffffffffffff')")
        case .timestamp:
            Interval(lower: "Timestamp(0, 0)", upper: "Timestamp(4294967295, 4294967295)")
        default: Interval(lower: "MinKey", upper: "MaxKey")
        }
    }
}
