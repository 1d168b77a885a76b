extension JSONSchemaParser {
    /// Parses the keywords for texts.
    func texts() throws(StoreError) -> JSONSchema.Texts {
        var texts = JSONSchema.Texts()
        if let value = operands[.pattern] {
            guard let pattern = value.stringValue else {
                throw Self.mismatch(.pattern, "must be a string")
            }
            texts.pattern = try Self.pattern(pattern)
        }
        texts.countMax = try count(.maxLength) ?? .max
        texts.countMin = try count(.minLength) ?? 0
        return texts
    }

    static func pattern(_ text: String) throws(StoreError) -> CompiledRegex {
        guard !text.utf8.contains(0) else {
            throw StoreError(
                .badValue, "Regular expression cannot contain an embedded null byte")
        }
        return try CompiledRegex(BSONRegularExpression(text))
    }

    private func count(_ keyword: Keyword) throws(StoreError) -> Int64? {
        guard let value = operands[keyword] else { return nil }
        return try IntegerFieldParser.nonNegativeInt64(keyword.rawValue, value)
    }

    /// Parses the keywords for numbers.
    func numbers() throws(StoreError) -> JSONSchema.Numbers {
        var numbers = JSONSchema.Numbers()
        if let value = try number(.multipleOf) {
            guard let divisor = JSONSchema.Numbers.decimal(value), !divisor.isNegative,
                divisor.kind != .finite || divisor.coefficient != 0
            else {
                throw Self.failed(
                    "$jsonSchema keyword 'multipleOf' must have a positive value")
            }
            numbers.divisor = divisor
        }
        (numbers.maximum, numbers.excludesMaximum) = try bound(.maximum, .exclusiveMaximum)
        (numbers.minimum, numbers.excludesMinimum) = try bound(.minimum, .exclusiveMinimum)
        return numbers
    }

    private func number(_ keyword: Keyword) throws(StoreError) -> BSONValue? {
        guard let value = operands[keyword] else { return nil }
        guard value.isNumber else { throw Self.mismatch(keyword, "must be a number") }
        return value
    }

    private func bound(
        _ keyword: Keyword, _ exclusive: Keyword
    ) throws(StoreError) -> (BSONValue?, Bool) {
        guard operands[keyword] != nil else {
            guard operands[exclusive] == nil else {
                throw Self.failed(
                    "$jsonSchema keyword '\(keyword.rawValue)' must be a present if "
                        + "\(exclusive.rawValue) is present")
            }
            return (nil, false)
        }
        var isExclusive = false
        if let value = operands[exclusive] {
            guard let flag = value.boolValue else {
                throw Self.mismatch(exclusive, "must be a boolean")
            }
            isExclusive = flag
        }
        return (try number(keyword), isExclusive)
    }

    /// Parses the keywords for arrays.
    func arrays() throws(StoreError) -> JSONSchema.Arrays {
        var arrays = JSONSchema.Arrays()
        arrays.countMin = try count(.minItems) ?? 0
        arrays.countMax = try count(.maxItems) ?? .max
        if let value = operands[.uniqueItems] {
            guard let flag = value.boolValue else {
                throw Self.mismatch(.uniqueItems, "must be a boolean")
            }
            arrays.isUnique = flag
        }
        var hasPositions = false
        switch operands[.items] {
        case nil: break
        case .array(let schemas):
            hasPositions = true
            for schema in schemas {
                guard let document = schema.documentValue else {
                    throw Self.mismatch(
                        .items,
                        "requires that each element of the array is an object, but found a "
                            + schema.type.alias)
                }
                arrays.positions.append(try nested(document))
            }
        case .document(let schema): arrays.others = .schema(try nested(schema))
        case .some(let value):
            throw Self.mismatch(
                .items, "must be an array or an object, not \(value.type.alias)")
        }
        let others = try additionalItems()
        if hasPositions { arrays.others = others }
        return arrays
    }

    private func additionalItems() throws(StoreError) -> JSONSchema.Others? {
        switch operands[.additionalItems] {
        case nil, .bool(true): return nil
        case .bool(false): return JSONSchema.Others.none
        case .document(let schema): return .schema(try nested(schema))
        case .some(let value):
            throw Self.mismatch(
                .additionalItems,
                "must be either an object or a boolean, but got a \(value.type.alias)")
        }
    }
}
