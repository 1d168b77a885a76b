extension PredicateParser {
    /// Parses the operand of `$expr`.
    mutating func expression(_ value: BSONValue) throws(StoreError) -> Predicate {
        try requireTopLevel("$expr")
        try requireExpressions("$expr")
        return .special(.expression(try Expression(value, in: options.variables)))
    }

    /// Parses the operand of `$where`.
    mutating func script(_ value: BSONValue) throws(StoreError) -> Predicate {
        guard options.isOfQuery else {
            throw StoreError(.badValue, "$where is not allowed in this context")
        }
        try requireTopLevel("$where")
        switch value {
        case .string(let text), .javascript(let text):
            // Source: the server's `expression_where.cpp`.
            return .special(
                .script(
                    try ScriptEngine.parse(
                        text,
                        disabled: StoreError(
                            .badValue, "no globalScriptEngine in $where parsing"))))
        default: throw StoreError(.badValue, "$where got bad type")
        }
    }

    /// Parses the operand of `$text`.
    mutating func text(_ value: BSONValue) throws(StoreError) -> Predicate {
        try requireTopLevel("$text")
        guard options.allowsText else {
            throw StoreError(.badValue, "$text is not allowed in this context")
        }
        textCount += 1
        return .special(
            .text(
                try TextSearch(
                    value, in: options.textIndex, isDeferred: options.defersText)))
    }

    /// Parses the operand of `$sampleRate`.
    mutating func sampleRate(_ value: BSONValue) throws(StoreError) -> Predicate {
        try requireTopLevel("$sampleRate")
        guard value.isNumber, let number = BSONNumber(value) else {
            throw StoreError(.badValue, "argument to $sampleRate must be a numeric type")
        }
        let rate: Double =
            switch number {
            case .integer(let value): Double(value)
            case .double(let value): value
            case .decimal(let value): Double(value.description) ?? .nan
            }
        guard rate >= 0, rate <= 1 else {
            throw StoreError(.badValue, "numeric argument to $sampleRate must be in [0, 1]")
        }
        return rate == 0 ? .any([]) : rate == 1 ? .all([]) : .special(.sample(rate: rate))
    }

    /// Throws for an operator on whole documents inside `$elemMatch`.
    func requireTopLevel(_ key: String) throws(StoreError) {
        guard elementDepth == 0 else {
            throw StoreError(
                .badValue, "\(key) can only be applied to the top-level document")
        }
    }

    /// Throws where the context of the filter forbids `$expr` and `$jsonSchema`.
    func requireExpressions(_ key: String) throws(StoreError) {
        guard options.allowsExpressions else {
            throw StoreError(.queryFeatureNotAllowed, "\(key) is not allowed in this context")
        }
    }

    /// Checks the operand of `$alwaysTrue` and `$alwaysFalse`, which must be 1.
    func requireOne(_ key: String, _ value: BSONValue) throws(StoreError) {
        guard try IntegerFieldParser.int64(key, value) == 1 else {
            throw StoreError(.failedToParse, "\(key) must be an integer value of 1")
        }
    }
}
