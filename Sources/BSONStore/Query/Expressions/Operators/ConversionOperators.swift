/// Operators that report or change the type of a value.
enum ConversionOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$type": .fixed(1) { arguments, _ in .string(ExpressionText.type(of: arguments[0])) },
        "$isNumber": .fixed(1) { arguments, _ in
            .bool(NumberCoercion.isNumber(arguments[0]))
        },
        "$convert": convert, "$toString": to(.string, BinaryConversion(format: .auto)),
        "$toUUID": to(
            .binary, BinaryConversion(subtype: BinaryConversion.uuidSubtype, format: .uuid)),
        "$toObjectId": to(.objectID),
        "$toDate": to(.datetime), "$toDouble": to(.double), "$toInt": to(.int32),
        "$toLong": to(.int64), "$toDecimal": to(.decimal128), "$toBool": to(.bool),
        "$toHashedIndexKey": ExpressionOperator { name, argument, parser throws(StoreError) in
            let body: ExpressionFunction.Eager = { arguments, _ in
                .int64(ExpressionHash.hash(arguments[0] ?? .null))
            }
            return .call(
                ExpressionFunction(name, .eager(body)), [try parser.operand(argument)])
        },
    ]

    private static func to(
        _ type: BSONType, _ conversion: BinaryConversion = BinaryConversion()
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let nodes = try parser.arguments(argument)
            guard nodes.count == 1 else {
                throw .location(50723, "\(name) requires a single argument, got \(nodes.count)")
            }
            let body: ExpressionFunction.Eager = { arguments, _ throws(StoreError) in
                guard let value = arguments[0], !NumberCoercion.isNullish(value) else {
                    return .null
                }
                return try ExpressionConversion.convert(value, to: type, conversion)
            }
            return .call(ExpressionFunction(name, .eager(body)), nodes)
        }
    }

    private static let convert = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["input", "to", "format", "byteOrder", "onError", "onNull"],
            notDocument: StoreError(
                .failedToParse,
                "$convert expects an object of named arguments but found: "
                    + ExpressionText.type(of: argument))
        ) { StoreError(.failedToParse, "$convert found an unknown argument: \($0)") }
        let hasOnError = arguments.contains("onError")
        let nodes = [
            try arguments.operand(
                "input", &parser,
                missing: StoreError(.failedToParse, "Missing 'input' parameter to $convert")),
            try arguments.operand(
                "to", &parser,
                missing: StoreError(.failedToParse, "Missing 'to' parameter to $convert")),
            try arguments.operand("onError", &parser, default: .null),
            try arguments.operand("onNull", &parser, default: .null),
            try arguments.operand("format", &parser, default: .null),
            try arguments.operand("byteOrder", &parser, default: .null),
        ]
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            let wanted = try nodes[1].evaluate(&context)
            let input = try nodes[0].evaluate(&context)
            let format = try nodes[4].evaluate(&context)
            let byteOrder = try nodes[5].evaluate(&context)
            let target = try ExpressionConversion.target(wanted)
            guard let input, !NumberCoercion.isNullish(input) else {
                return try nodes[3].evaluate(&context)
            }
            guard let target else { return .null }
            let conversion = BinaryConversion(
                subtype: target.subtype, format: try BinaryConversion.format(format),
                byteOrder: try BinaryConversion.byteOrder(byteOrder))
            do throws(StoreError) {
                switch target.target {
                case .type(let type):
                    return try ExpressionConversion.convert(input, to: type, conversion)
                case .missing:
                    throw ExpressionConversion.unsupported(input, "missing")
                }
            } catch {
                guard hasOnError, isOfValue(error) else { throw error }
                return try nodes[2].evaluate(&context)
            }
        }
        return .call(ExpressionFunction(name, .lazy(body)), nodes)
    }

    /// Whether an error comes from the value, also from a year that a text cannot show, and not
    /// from the budget's end.
    private static func isOfValue(_ error: StoreError) -> Bool {
        switch error.code {
        case .maxTimeMSExpired, .interrupted, .interruptedAtShutdown: false
        default: true
        }
    }
}
