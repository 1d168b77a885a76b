/// The rules of a validator that a document broke, in the form of the server's `errInfo.details`.
///
/// Each rule is evaluated by itself with the same filter code that made the decision. Below a
/// negation (`$not`, `$nor`) the details tell what matched.
///
/// Source: MongoDB manual, "Schema Validation"; the server's `doc_validation_error.cpp`.
package struct ValidationDetails {
    /// Whether the clause should not have matched.
    private let isInverted: Bool
    private let document: BSONDocument
    /// The collation of the collection; `nil` compares bytes.
    private let collation: Collation?

    private init(_ document: BSONDocument, _ collation: Collation?, isInverted: Bool) {
        self.document = document
        self.collation = collation
        self.isInverted = isInverted
    }

    /// Returns the details for a document that fails a validator.
    package static func details(of document: BSONDocument, _ validator: Filter) -> BSONDocument {
        Self(document, validator.collation, isInverted: false).details(validator.document)
    }

    private var inverted: Self { Self(document, collation, isInverted: !isInverted) }

    private func details(_ filter: BSONDocument) -> BSONDocument {
        let clauses = ValidationClause.clauses(of: filter)
        guard clauses.count != 1 else { return details(clauses[0]) }
        return list("$and", clauses.map(\.document), onlyFailing: !isInverted)
    }

    private func details(_ clause: ValidationClause) -> BSONDocument {
        let filters = clause.operand.arrayValue?.compactMap(\.documentValue) ?? []
        switch clause.name {
        case "$and" where clause.path == nil:
            return list("$and", filters, onlyFailing: !isInverted)
        case "$or": return list("$or", filters, onlyFailing: isInverted)
        case "$nor": return inverted.list("$nor", filters, onlyFailing: !isInverted)
        case "$not":
            var details: BSONDocument = ["operatorName": "$not"]
            let inner = BSONDocument([(clause.path ?? "", clause.operand)])
            details.append("details", .document(inverted.details(inner)))
            return details
        case "$jsonSchema":
            guard isInverted else {
                return SchemaDetails.details(of: document, clause.operand.documentValue ?? [:])
            }
            return ["operatorName": "$jsonSchema", "reason": "schema matched"]
        case "$expr": return expression(clause)
        case "$alwaysTrue", "$alwaysFalse":
            return leaf(
                clause, "expression always evaluates to false",
                "expression always evaluates to true")
        default: return field(clause)
        }
    }

    /// Returns the details of clauses with their positions.
    ///
    /// - Parameter onlyFailing: whether only some of the clauses have the wrong result.
    private func list(
        _ name: String, _ filters: [BSONDocument], onlyFailing: Bool
    ) -> BSONDocument {
        var found: [BSONValue] = []
        for (index, filter) in filters.enumerated() {
            if onlyFailing, Self.passes(document, filter, collation) != isInverted { continue }
            found.append([
                "index": .int32(Int32(clamping: index)), "details": .document(details(filter)),
            ])
        }
        return [
            "operatorName": .string(name),
            isInverted ? "clausesSatisfied" : "clausesNotSatisfied": .array(BSONArray(found)),
        ]
    }

    private func leaf(
        _ clause: ValidationClause, _ reason: String, _ invertedReason: String
    ) -> BSONDocument {
        [
            "operatorName": .string(clause.name), "specifiedAs": .document(clause.document),
            "reason": .string(isInverted ? invertedReason : reason),
        ]
    }

    private func expression(_ clause: ValidationClause) -> BSONDocument {
        do throws(StoreError) {
            let scope = ExpressionScope(collation: collation)
            let value = try Expression(clause.operand, in: scope).evaluate(
                document, ExpressionFrame(root: document, now: CommandTime.now))
            var details = leaf(clause, "expression did not match", "expression did match")
            if let value { details.append("expressionResult", value) }
            return details
        } catch {
            var details = leaf(clause, "", "")
            details["reason"] = "failed to evaluate aggregation expression"
            details.append(
                "details",
                [
                    "code": .int32(error.code.rawValue),
                    "codeName": .string(ErrorNames.name(of: error.code.rawValue)),
                    "errmsg": .string(error.message),
                ])
            return details
        }
    }

    private func field(_ clause: ValidationClause) -> BSONDocument {
        var details = leaf(clause, "", "")
        let rule = ValidationRule.of(clause)
        if clause.name == "$exists" {
            let exists = PredicateParser.isTrue(clause.operand) != isInverted
            details["reason"] = exists ? "path does not exist" : "path does exist"
            return details
        }
        // `$ne` and `$nin` are negations of one condition.
        let isNegated = (clause.name == "$ne" || clause.name == "$nin") != isInverted
        let parts = (clause.path ?? "").dottedParts
        let values = ConsideredValues(parts, document, expanding: rule.expandsArrays)
        guard values.exists else {
            details["reason"] = "field was missing"
            return details
        }
        if !rule.types.isEmpty, !values.all.contains(where: { rule.types.contains($0.type) }) {
            details["reason"] = "type did not match"
            values.appendTypes(to: &details)
            let names = rule.types.map(\.alias).sorted {
                $0.utf8.lexicographicallyPrecedes($1.utf8)
            }
            if names.count == 1 {
                details.append("expectedType", .string(names[0]))
            } else {
                details.append("expectedTypes", .array(BSONArray(names.map { .string($0) })))
            }
        } else if rule.isGeometric, !values.holdPlace(document[path: clause.path ?? ""]) {
            details["reason"] = "could not find a valid geometry at the given path"
        } else {
            details["reason"] = .string(isNegated ? rule.invertedReason : rule.reason)
        }
        values.append(to: &details)
        if clause.name == "$type" { values.appendTypes(to: &details) }
        return details
    }

    /// Whether a document matches a part of the validator; an unreadable part counts as matched.
    static func passes(
        _ document: BSONDocument, _ clause: BSONDocument, _ collation: Collation? = nil
    ) -> Bool {
        do throws(StoreError) {
            return try Filter(clause, options: FilterOptions(collation: collation))
                .matches(document)
        } catch {
            return true
        }
    }
}

/// One condition of a validator.
package struct ValidationClause {
    /// The operator.
    package let name: String
    /// The field, `nil` for an operator of the whole document.
    package let path: String?
    /// The operator's argument.
    package let operand: BSONValue
    /// The condition as a filter.
    package let document: BSONDocument

    /// Splits a filter into its conditions, as the parser does.
    package static func clauses(of filter: BSONDocument) -> [Self] {
        var clauses: [Self] = []
        for (key, value) in filter where key != "$comment" {
            let whole = BSONDocument([(key, value)])
            guard !key.hasBytePrefix("$") || ["$ref", "$id", "$db"].contains(key) else {
                clauses.append(Self(name: key, path: nil, operand: value, document: whole))
                continue
            }
            guard let operators = value.documentValue, let first = operators.keys.first,
                first.hasBytePrefix("$"), !["$ref", "$id", "$db"].contains(first)
            else {
                var name = "$eq"
                if case .regularExpression = value { name = "$regex" }
                clauses.append(Self(name: name, path: key, operand: value, document: whole))
                continue
            }
            for (name, operand) in operators where name != "$options" {
                var condition = BSONDocument([(name, operand)])
                if name == "$regex", let options = operators["$options"] {
                    condition.append("$options", options)
                }
                clauses.append(
                    Self(
                        name: name, path: key, operand: operand,
                        document: BSONDocument([(key, .document(condition))])))
            }
        }
        return clauses
    }
}

/// The details about an operator of a field.
private struct ValidationRule {
    let reason: String
    let invertedReason: String
    /// The types that the operator understands; empty for all.
    var types: [BSONType] = []
    /// Whether the operator looks at the members of an array.
    var expandsArrays = true
    var isGeometric = false

    private static let numbers: [BSONType] = [.double, .int32, .int64, .decimal128]

    private init(_ reason: String, _ invertedReason: String) {
        self.reason = reason
        self.invertedReason = invertedReason
    }

    static func of(_ clause: ValidationClause) -> Self {
        var rule: Self
        switch clause.name {
        case "$in", "$nin":
            rule = Self("no matching value found in array", "matching value found in array")
        case "$type": rule = Self("type did not match", "type did match")
        case "$regex":
            rule = Self("regular expression did not match", "regular expression did match")
            rule.types = [.string, .symbol, .regularExpression]
        case "$mod":
            rule = Self(
                "$mod did not evaluate to expected remainder",
                "$mod did evaluate to expected remainder")
            rule.types = numbers
        case "$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear":
            rule = Self(
                "bitwise operator failed to match", "bitwise operator matched successfully")
            rule.types = numbers + [.binary]
        case "$size":
            rule = Self(
                "array length was not equal to given size", "array length was equal to given size")
            (rule.types, rule.expandsArrays) = ([.array], false)
        case "$elemMatch":
            rule = Self(
                "array did not satisfy the child predicate",
                "array did satisfy the child predicate")
            (rule.types, rule.expandsArrays) = ([.array], false)
        case "$all":
            rule = Self(
                "array did not contain all specified values",
                "array did contain all specified values")
            rule.expandsArrays = false
        case "$geoWithin", "$within":
            rule = Self(
                "none of the considered geometries were contained within the expression’s geometry",
                "at least one of considered geometries was contained within the expression’s "
                    + "geometry")
            rule.isGeometric = true
        case "$geoIntersects":
            rule = Self(
                "none of the considered geometries intersected the expression’s geometry",
                "at least one of considered geometries intersected the expression’s geometry")
            rule.isGeometric = true
        default: rule = Self("comparison failed", "comparison succeeded")
        }
        return rule
    }
}

/// The values at a path that a condition looked at.
private struct ConsideredValues {
    /// The number of values that the details show.
    private static let countMax = 10

    private(set) var all: [BSONValue] = []
    /// Whether the path exists.
    private(set) var exists = false

    init(_ parts: [String], _ document: BSONDocument, expanding: Bool) {
        visit(parts[...], .document(document), expanding)
    }

    private mutating func visit(
        _ parts: ArraySlice<String>, _ value: BSONValue, _ expanding: Bool
    ) {
        guard let part = parts.first else {
            exists = true
            if expanding, let members = value.arrayValue {
                all += members.values
            } else {
                all.append(value)
            }
            return
        }
        switch value {
        case .document(let document):
            if let inner = document[part] { visit(parts.dropFirst(), inner, expanding) }
        case .array(let array):
            let members = array.values
            for case .document(let member) in members {
                visit(parts, .document(member), expanding)
            }
            if let position = FieldPath.index(part), position < members.count {
                visit(parts.dropFirst(), members[position], expanding)
            }
        default: return
        }
    }

    /// Whether one of the values, or the value as a whole, is a place.
    func holdPlace(_ whole: BSONValue?) -> Bool {
        (all + (whole.map { [$0] } ?? [])).contains { StoredGeometry($0) != nil }
    }

    func append(to details: inout BSONDocument) {
        if all.count == 1 {
            details.append("consideredValue", all[0])
        } else {
            details.append(
                "consideredValues", .array(BSONArray(Array(all.prefix(Self.countMax)))))
        }
        if all.count > Self.countMax { details.append("consideredValuesTruncated", true) }
    }

    func appendTypes(to details: inout BSONDocument) {
        let names = Set(all.prefix(Self.countMax).map(\.type.alias))
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        if names.count == 1 {
            details.append("consideredType", .string(names[0]))
        } else if !names.isEmpty {
            details.append("consideredTypes", .array(BSONArray(names.map { .string($0) })))
        }
    }
}
