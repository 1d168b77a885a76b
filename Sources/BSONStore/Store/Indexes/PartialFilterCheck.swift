/// A check that a filter is allowed in a partial index.
///
/// Allowed are comparisons, `$in`, `$all` of values, `$exists: true`, `$type` and geo operators,
/// joined by `$and` and `$or`. Files of earlier versions may hold other filters, so only new
/// indexes are checked.
///
/// Source: the server's `index_catalog_impl.cpp`; the texts of expressions are those of its
/// `debugString`.
enum PartialFilterCheck {
    private static let allowed: Set<String> = [
        "$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$type", "$geoWithin", "$geoIntersects",
        "$within",
    ]
    private static let indentation = "    "

    /// Checks a filter.
    ///
    /// - Throws: 67 for an unsupported part, 2 and 224 for one that concerns more than a document's
    ///   fields, and as ``Filter/init(_:)`` does.
    static func check(_ filter: BSONDocument) throws(StoreError) {
        try checkContext(filter)
        var options = FilterOptions.none
        options.isOfQuery = false
        _ = try Filter(filter, options: options)
        try checkParts(filter)
    }

    private static func checkContext(_ filter: BSONDocument) throws(StoreError) {
        for (key, value) in filter {
            switch key {
            case "$where", "$text":
                throw StoreError(.badValue, "\(key) is not allowed in this context")
            case "$expr", "$jsonSchema":
                throw StoreError(
                    .queryFeatureNotAllowed, "\(key) is not allowed in this context")
            case "$and", "$or", "$nor":
                for clause in value.arrayValue ?? [] {
                    try checkContext(clause.documentValue ?? [:])
                }
            default: continue
            }
        }
    }

    private static func checkParts(_ filter: BSONDocument) throws(StoreError) {
        for (key, value) in filter {
            guard key.hasBytePrefix("$") else {
                if let text = refused(key, value) { throw error(text) }
                continue
            }
            switch key {
            case "$and", "$or":
                for clause in value.arrayValue ?? [] {
                    try checkParts(clause.documentValue ?? [:])
                }
            case "$comment", "$ref", "$id", "$db": continue
            default: throw error(text(key, value))
            }
        }
    }

    private static func error(_ text: String) -> StoreError {
        StoreError(.cannotCreateIndex, "Expression not supported in partial index: \(text)\n")
    }

    /// Returns the unsupported part of a field's condition; `nil` when all of it is supported.
    private static func refused(_ path: String, _ value: BSONValue) -> String? {
        if case .regularExpression = value { return text(path, "$regex", value) }
        guard let operators = value.documentValue, PredicateParser.holdsOperators(operators) else {
            return nil
        }
        for (name, operand) in operators where !allowed.contains(name) {
            if name == "$exists", PredicateParser.isTrue(operand) { continue }
            if name == "$options" { continue }
            if name == "$all", Self.isConjunction(operand) { continue }
            return text(path, name, operand)
        }
        return nil
    }

    /// Whether the operand of `$all` stands for equalities that all hold.
    private static func isConjunction(_ operand: BSONValue) -> Bool {
        let members = operand.arrayValue?.values ?? []
        return !members.isEmpty
            && members.allSatisfy { member in
                if case .regularExpression = member { return false }
                return member.documentValue.map { !PredicateParser.holdsOperators($0) } ?? true
            }
    }

    private static func text(_ name: String, _ value: BSONValue) -> String {
        let clauses = (value.arrayValue ?? []).compactMap(\.documentValue).map { clause in
            clause.map { text(ofClause: $0.key, $0.value) }.joined(separator: "\n")
        }
        guard !clauses.isEmpty else { return "\(name): \(ShellText.text(of: value))" }
        return name + clauses.map { "\n" + indented($0) }.joined()
    }

    private static func text(ofClause key: String, _ value: BSONValue) -> String {
        guard !key.hasBytePrefix("$") else { return text(key, value) }
        guard let operators = value.documentValue, PredicateParser.holdsOperators(operators) else {
            return text(key, "$eq", value)
        }
        return operators.map { text(key, $0.key, $0.value) }.joined(separator: "\n")
    }

    private static func text(_ path: String, _ name: String, _ operand: BSONValue) -> String {
        let shown = ShellText.text(of: operand)
        switch name {
        case "$ne": return negated("\(path) $eq \(shown)")
        case "$nin": return negated("\(path) $in \(shown)")
        case "$exists":
            return PredicateParser.isTrue(operand)
                ? "\(path) exists" : negated("\(path) exists")
        case "$not":
            guard let operators = operand.documentValue else {
                return negated(text(path, "$regex", operand))
            }
            let parts = operators.map { text(path, $0.key, $0.value) }.joined(separator: "\n")
            return negated("$and\n" + indented(parts))
        case "$regex":
            guard case .regularExpression = operand else {
                return "\(path) regex /\(operand.stringValue ?? shown)/"
            }
            return "\(path) regex \(shown)"
        case "$size": return "\(path) $size : \(shown)"
        case "$mod":
            let numbers = (operand.arrayValue ?? []).map { ShellText.text(of: $0) }
            return "\(path) mod \(numbers.first ?? "") % x == \(numbers.last ?? "")"
        default: return "\(path) \(name) \(shown)"
        }
    }

    private static func negated(_ text: String) -> String { "$not\n" + indented(text) }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { indentation + $0 }.joined(separator: "\n")
    }
}
