extension PredicateParser {
    /// An operator on a field's value.
    enum FieldOperator: String, CaseIterable {
        case eq = "$eq"
        case ne = "$ne"
        case gt = "$gt"
        case gte = "$gte"
        case lt = "$lt"
        case lte = "$lte"
        case `in` = "$in"
        case nin = "$nin"
        case not = "$not"
        case exists = "$exists"
        case type = "$type"
        case size = "$size"
        case mod = "$mod"
        case all = "$all"
        case elemMatch = "$elemMatch"
        case regex = "$regex"
        case options = "$options"
        case bitsAllSet = "$bitsAllSet"
        case bitsAnySet = "$bitsAnySet"
        case bitsAllClear = "$bitsAllClear"
        case bitsAnyClear = "$bitsAnyClear"
        case geoWithin = "$geoWithin"
        case within = "$within"
        case geoIntersects = "$geoIntersects"
        case near = "$near"
        case nearSphere = "$nearSphere"
        case geoNear = "$geoNear"
    }

    /// Parses the operators of a field's document.
    mutating func operators(
        _ document: BSONDocument, of path: FieldPath
    ) throws(StoreError) -> Predicate {
        try enter()
        defer { leave() }
        if let first = document.firstElement, Self.isNear(first.key), Self.isContainer(first.value)
        {
            return try near(document, path)
        }
        var parts: [Predicate] = []
        for (key, value) in document {
            guard let name = FieldOperator(rawValue: key) else {
                throw StoreError(
                    .badValue,
                    key == "$where"
                        ? "$where cannot be applied to a field" : "unknown operator: \(key)")
            }
            if let part = try part(name, value, document, path) { parts.append(part) }
        }
        return Self.joined(parts)
    }

    private static func isNear(_ key: String) -> Bool {
        ["$near", "$nearSphere", "$geoNear"].contains(key)
    }

    private static func isContainer(_ value: BSONValue) -> Bool {
        value.type == .document || value.type == .array
    }

    private mutating func part(
        _ name: FieldOperator, _ value: BSONValue, _ document: BSONDocument, _ path: FieldPath
    ) throws(StoreError) -> Predicate? {
        let key = name.rawValue
        switch name {
        case .eq: return try comparison(.equal, value, path)
        case .ne:
            if case .regularExpression = value {
                throw StoreError(.badValue, "Can't have regex as arg to $ne.")
            }
            return .not(.field(path, .compare(.equal, try Self.comparable(value))))
        case .gt: return try comparison(.greater, value, path)
        case .gte: return try comparison(.greaterOrEqual, value, path)
        case .lt: return try comparison(.less, value, path)
        case .lte: return try comparison(.lessOrEqual, value, path)
        case .in: return .field(path, try membership(key, value))
        case .nin: return .not(.field(path, try membership(key, value)))
        case .not: return .not(try negated(value, path))
        case .exists:
            return Self.isTrue(value) ? .field(path, .exists) : .not(.field(path, .exists))
        case .type: return .field(path, .hasType(try Self.types(value, path)))
        case .size: return .field(path, .hasSize(try Self.size(value)))
        case .mod: return .field(path, try Self.modulo(value))
        case .all: return try all(value, path)
        case .elemMatch: return .field(path, try elementMatch(value))
        case .regex, .options: return try expression(key, document, path)
        case .bitsAllSet: return try bits(.allSet, key, value, path)
        case .bitsAnySet: return try bits(.anySet, key, value, path)
        case .bitsAllClear: return try bits(.allClear, key, value, path)
        case .bitsAnyClear: return try bits(.anyClear, key, value, path)
        case .geoWithin, .within, .geoIntersects:
            return .field(path, .special(.geometry(try GeoTest(document))))
        case .near, .nearSphere, .geoNear:
            throw StoreError(
                .badValue, "near must be first in: \(ShellText.text(of: document))")
        }
    }

    private func bits(
        _ kind: BitTest.Kind, _ key: String, _ value: BSONValue, _ path: FieldPath
    ) throws(StoreError) -> Predicate {
        .field(path, .special(.bits(try BitTest(kind, key, value, path: path))))
    }

    private mutating func near(
        _ document: BSONDocument, _ path: FieldPath
    ) throws(StoreError) -> Predicate {
        guard options.isOfQuery else { throw GeoNear.notAllowed }
        nearCount += 1
        return .special(.near(path, try GeoNear(document)))
    }

    /// Checks that the filter requires one `$near` of every document: it determines the order.
    ///
    /// Source: the server's `canonical_query.cpp`, `isValid`.
    ///
    /// - Throws: `badValue` (2) for a second one, for one in an alternative, a negation or an
    ///   element, and for one besides `$text`.
    func checkNear(_ predicate: Predicate) throws(StoreError) {
        guard nearCount == 1 else {
            throw StoreError(.badValue, "Too many geoNear expressions")
        }
        guard predicate.nearest != nil else {
            throw StoreError(.badValue, "geo $near must be top-level expr")
        }
        guard Filter.textSearch(in: predicate) == nil else {
            throw StoreError(.badValue, "text and geoNear not allowed in same query")
        }
    }

    private func comparison(
        _ comparison: Predicate.Comparison, _ value: BSONValue, _ path: FieldPath
    ) throws(StoreError) -> Predicate {
        if case .regularExpression = value, comparison != .equal {
            throw StoreError(
                .badValue, "Can't have RegEx as arg to predicate over field '\(path)'.")
        }
        return .field(path, .compare(comparison, try Self.comparable(value)))
    }

    private func membership(
        _ key: String, _ value: BSONValue
    ) throws(StoreError) -> Predicate.Test {
        guard let array = value.arrayValue else {
            throw StoreError(.badValue, "\(key) needs an array")
        }
        var constants: [BSONValue] = []
        var expressions: [BSONRegularExpression] = []
        for member in array {
            try WorkBudget.spend()
            switch member {
            case .document(let document) where Self.holdsOperators(document):
                throw StoreError(.badValue, "cannot nest $ under $in")
            case .regularExpression(let expression):
                expressions.append(try Self.checked(expression))
            case .undefined:
                throw StoreError(.badValue, "InMatchExpression equality cannot be undefined")
            default: constants.append(member)
            }
        }
        return .isIn(constants, expressions)
    }

    private mutating func negated(
        _ value: BSONValue, _ path: FieldPath
    ) throws(StoreError) -> Predicate {
        switch value {
        case .document(let document):
            guard !document.isEmpty else { throw StoreError(.badValue, "$not cannot be empty") }
            return try operators(document, of: path)
        case .regularExpression(let expression):
            return .field(path, .matches(try Self.checked(expression)))
        default:
            throw StoreError(.badValue, "$not needs a regex or a document")
        }
    }
}
