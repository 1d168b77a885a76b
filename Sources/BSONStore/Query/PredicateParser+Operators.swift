extension PredicateParser {
    /// Reads the operators that a field's document holds.
    mutating func operators(
        _ document: BSONDocument, of path: FieldPath
    ) throws(StoreError) -> Predicate {
        try enter()
        defer { leave() }
        var parts: [Predicate] = []
        for (key, value) in document {
            if let part = try oneOperator(key, value, document, path) { parts.append(part) }
        }
        return Self.joined(parts)
    }

    private mutating func oneOperator(
        _ key: String, _ value: BSONValue, _ document: BSONDocument, _ path: FieldPath
    ) throws(StoreError) -> Predicate? {
        switch key {
        case "$eq": return try comparison(.equal, key, value, path)
        case "$ne":
            if case .regularExpression = value {
                throw StoreError(.badValue, "Can't have regex as arg to $ne.")
            }
            return .not(.field(path, .compare(.equal, try Self.comparable(value))))
        case "$gt": return try comparison(.greater, key, value, path)
        case "$gte": return try comparison(.greaterOrEqual, key, value, path)
        case "$lt": return try comparison(.less, key, value, path)
        case "$lte": return try comparison(.lessOrEqual, key, value, path)
        case "$in": return .field(path, try membership(key, value))
        case "$nin": return .not(.field(path, try membership(key, value)))
        case "$not": return .not(try negated(value, path))
        case "$exists":
            return Self.isTrue(value) ? .field(path, .exists) : .not(.field(path, .exists))
        case "$type": return .field(path, .hasType(try Self.types(value)))
        case "$size": return .field(path, .hasSize(try Self.size(value)))
        case "$mod": return .field(path, try Self.modulo(value))
        case "$all": return try all(value, path)
        case "$elemMatch": return .field(path, try elementMatch(value))
        case "$regex", "$options": return try expression(key, document, path)
        case "$comment": return nil
        default: throw StoreError(.badValue, "unknown operator: \(key)")
        }
    }

    private func comparison(
        _ comparison: Predicate.Comparison, _ key: String, _ value: BSONValue, _ path: FieldPath
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
            switch member {
            case .document(let document) where Self.holdsOperators(document):
                throw StoreError(.badValue, "cannot nest $ under \(key)")
            case .regularExpression(let expression):
                expressions.append(try Self.checked(expression))
            default: constants.append(try Self.comparable(member))
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
            guard Self.holdsOperators(document) else {
                var elements = document.makeIterator()
                throw StoreError(.badValue, "unknown operator: \(elements.next()?.key ?? "")")
            }
            return try operators(document, of: path)
        case .regularExpression(let expression):
            return .field(path, .matches(try Self.checked(expression)))
        default:
            throw StoreError(.badValue, "$not needs a regex or a document")
        }
    }

    private mutating func all(
        _ value: BSONValue, _ path: FieldPath
    ) throws(StoreError) -> Predicate {
        guard let array = value.arrayValue else {
            throw StoreError(.badValue, "$all needs an array")
        }
        // MongoDB: an empty $all matches nothing.
        guard !array.isEmpty else { return .any([]) }
        var parts: [Predicate] = []
        for member in array {
            switch member {
            case .document(let document) where Self.holdsOperators(document):
                var elements = document.makeIterator()
                guard let first = elements.next(), first.key == "$elemMatch" else {
                    throw StoreError(.badValue, "no $ expressions in $all")
                }
                parts.append(.field(path, try elementMatch(first.value)))
            case .regularExpression(let expression):
                parts.append(.field(path, .matches(try Self.checked(expression))))
            default:
                parts.append(.field(path, .compare(.equal, try Self.comparable(member))))
            }
        }
        return Self.joined(parts)
    }

    private mutating func elementMatch(
        _ value: BSONValue
    ) throws(StoreError) -> Predicate.Test {
        guard let conditions = value.documentValue else {
            throw StoreError(.badValue, "$elemMatch needs an Object")
        }
        var elements = conditions.makeIterator()
        let first = elements.next()?.key ?? ""
        let isLogical = ["$and", "$or", "$nor", "$expr", "$where"].contains(first)
        if Self.holdsOperators(conditions), !isLogical {
            return .hasElement(try operators(conditions, of: .itself))
        }
        return .hasDocument(try document(conditions))
    }

    private func expression(
        _ key: String, _ document: BSONDocument, _ path: FieldPath
    ) throws(StoreError) -> Predicate? {
        guard let pattern = document["$regex"] else {
            throw StoreError(.badValue, "$options needs a $regex")
        }
        guard key == "$regex" else { return nil }
        var options = ""
        if let given = document["$options"] {
            guard let text = given.stringValue else {
                throw StoreError(.badValue, "$options has to be a string")
            }
            options = text
        }
        switch pattern {
        case .string(let text):
            let expression = BSONRegularExpression(text, options: options)
            return .field(path, .matches(try Self.checked(expression)))
        case .regularExpression(let expression):
            guard expression.options.isEmpty || options.isEmpty else {
                throw StoreError(
                    StoreError.Code(rawValue: 51075), "options set in both $regex and $options")
            }
            let merged = BSONRegularExpression(
                expression.pattern, options: expression.options + options)
            return .field(path, .matches(try Self.checked(merged)))
        default:
            throw StoreError(.badValue, "$regex has to be a string")
        }
    }
}
