extension PredicateParser {
    /// Parses the operand of `$all`.
    mutating func all(
        _ value: BSONValue, _ path: FieldPath
    ) throws(StoreError) -> Predicate {
        guard let array = value.arrayValue else {
            throw StoreError(.badValue, "$all needs an array")
        }
        // In MongoDB an empty $all matches nothing.
        guard let first = array[0] else { return .any([]) }
        var parts: [Predicate] = []
        guard Self.elementMatch(first) == nil else {
            for member in array {
                guard let operand = Self.elementMatch(member) else {
                    throw StoreError(.badValue, "$all/$elemMatch has to be consistent")
                }
                parts.append(.field(path, try elementMatch(operand)))
            }
            return Self.joined(parts)
        }
        for member in array {
            try WorkBudget.spend()
            switch member {
            case .document(let document)
            where FieldOperator(rawValue: document.firstElement?.key ?? "").map { $0 != .not }
                ?? false:
                throw StoreError(.badValue, "no $ expressions in $all")
            case .regularExpression(let expression):
                parts.append(.field(path, .matches(try Self.checked(expression))))
            default:
                parts.append(.field(path, .compare(.equal, try Self.comparable(member))))
            }
        }
        return Self.joined(parts)
    }

    /// Returns the operand of a document that begins with `$elemMatch`.
    private static func elementMatch(_ value: BSONValue) -> BSONValue? {
        guard let first = value.documentValue?.firstElement, first.key == "$elemMatch" else {
            return nil
        }
        return first.value
    }

    /// Parses the operand of `$elemMatch`, in its form for documents or for values.
    mutating func elementMatch(
        _ value: BSONValue
    ) throws(StoreError) -> Predicate.Test {
        guard let conditions = value.documentValue else {
            throw StoreError(.badValue, "$elemMatch needs an Object")
        }
        elementDepth += 1
        defer { elementDepth -= 1 }
        let first = conditions.firstElement?.key ?? ""
        if Self.holdsOperators(conditions, partialReferences: true),
            TopLevelOperator(rawValue: first) == nil
        {
            return .hasElement(try operators(conditions, of: .itself))
        }
        return .hasDocument(try document(conditions))
    }

    /// Parses `$regex` with `$options`, in either order.
    func expression(
        _ key: String, _ document: BSONDocument, _ path: FieldPath
    ) throws(StoreError) -> Predicate? {
        guard document["$regex"] != nil else {
            throw StoreError(.badValue, "$options needs a $regex")
        }
        // The other key of the pair reads both.
        guard key == "$regex" else { return nil }
        var pattern = ""
        var options = ""
        for (key, value) in document where key == "$regex" || key == "$options" {
            switch (key, value) {
            case ("$regex", .string(let text)): pattern = text
            case ("$regex", .regularExpression(let expression)):
                pattern = expression.pattern
                guard !expression.options.isEmpty else { continue }
                guard options.isEmpty else { throw Self.optionsTwice(51074) }
                options = expression.options
            case ("$regex", _): throw StoreError(.badValue, "$regex has to be a string")
            case (_, .string(let text)):
                guard options.isEmpty else { throw Self.optionsTwice(51075) }
                options = text
            default: throw StoreError(.badValue, "$options has to be a string")
            }
        }
        return .field(path, .matches(try Self.checked(try Self.valid(pattern, options))))
    }

    private static func optionsTwice(_ code: Int32) -> StoreError {
        .location(code, "options set in both $regex and $options")
    }

    private static func valid(
        _ pattern: String, _ options: String
    ) throws(StoreError) -> BSONRegularExpression {
        guard !options.utf8.contains(0) else {
            throw StoreError(
                .unknownRegularExpressionOption, "invalid flag in regex options: \\0")
        }
        do throws(BSONError) {
            return try BSONRegularExpression(validating: pattern, options: options)
        } catch {
            throw StoreError(
                .badValue, "Regular expression cannot contain an embedded null byte")
        }
    }
}
