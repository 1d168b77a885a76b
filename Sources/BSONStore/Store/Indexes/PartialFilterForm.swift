/// The form of a partial filter in which equivalent filters are equal.
///
/// Numbers compare by value, `$and` and the order of conditions do not matter. Conditions of one
/// path and operator keep their order, as in MongoDB.
///
/// Source: the server's `jstests/core/index_signature.js`, "partialFilterExpressions are normalized
/// before being compared".
struct PartialFilterForm: Equatable {
    private let conditions: [Condition]

    private struct Condition: Equatable {
        let path: [UInt8]
        let operation: [UInt8]
        /// The argument; empty for an operator with inner filters.
        let operand: [UInt8]
        let inner: [PartialFilterForm]

        func precedes(_ other: Condition) -> Bool {
            if path != other.path { return path.lexicographicallyPrecedes(other.path) }
            return operation.lexicographicallyPrecedes(other.operation)
        }
    }

    init(_ filter: BSONDocument) {
        conditions = Self.sorted(Self.conditions(of: filter)) { $0.precedes($1) }
    }

    private func precedes(_ other: PartialFilterForm) -> Bool {
        guard let first = conditions.first, let second = other.conditions.first else {
            return conditions.isEmpty && !other.conditions.isEmpty
        }
        return first.precedes(second)
    }

    /// Sorts stably.
    private static func sorted<Element>(
        _ elements: [Element], by precedes: (Element, Element) -> Bool
    ) -> [Element] {
        elements.enumerated().sorted { left, right in
            if precedes(left.element, right.element) { return true }
            return !precedes(right.element, left.element) && left.offset < right.offset
        }.map(\.element)
    }

    private static func conditions(of filter: BSONDocument) -> [Condition] {
        ValidationClause.clauses(of: filter).flatMap { clause -> [Condition] in
            let filters = clause.operand.arrayValue?.compactMap(\.documentValue) ?? []
            switch clause.name {
            case "$and" where clause.path == nil: return filters.flatMap { conditions(of: $0) }
            case "$or" where clause.path == nil:
                // One alternative is a condition like any other.
                guard filters.count > 1 else { return filters.flatMap { conditions(of: $0) } }
                let forms = filters.map { PartialFilterForm($0) }
                return [condition(clause, .null, sorted(forms) { $0.precedes($1) })]
            case "$regex": return [condition(clause, .document(clause.document), [])]
            default: return [condition(clause, clause.operand, [])]
            }
        }
    }

    private static func condition(
        _ clause: ValidationClause, _ operand: BSONValue, _ inner: [PartialFilterForm]
    ) -> Condition {
        Condition(
            path: Array((clause.path ?? "").utf8), operation: Array(clause.name.utf8),
            operand: BSONKey.encode(operand), inner: inner)
    }
}
