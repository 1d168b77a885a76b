/// Operators on numbers; sums and differences also accept dates.
enum ArithmeticOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$abs": .numeric(ExpressionMath.absolute),
        "$add": .any(ExpressionMath.add),
        "$subtract": .fixed(2) { arguments, _ throws(StoreError) in
            try ExpressionMath.subtract(arguments[0], arguments[1])
        },
        "$multiply": .any(ExpressionMath.multiply),
        "$divide": .fixed(2) { arguments, _ throws(StoreError) in
            try ExpressionMath.divide(arguments[0], arguments[1])
        },
        "$mod": .fixed(2) { arguments, _ throws(StoreError) in
            try ExpressionMath.remainder(arguments[0], arguments[1])
        },
        "$ceil": .numeric { ExpressionMath.whole($0, .up, .up) },
        "$floor": .numeric { ExpressionMath.whole($0, .down, .down) },
        "$round": rounding("$round", .nearestEven),
        "$trunc": rounding("$trunc", .towardZero),
        "$sqrt": .numeric(ExpressionMath.squareRoot),
        "$exp": .numeric(ExpressionMath.exponential),
        "$ln": .numeric(ExpressionMath.naturalLogarithm),
        "$log10": .numeric(ExpressionMath.decimalLogarithm),
        "$log": .fixed(2) { arguments, _ throws(StoreError) in
            try ExpressionMath.logarithm(arguments[0], arguments[1])
        },
        "$pow": .fixed(2) { arguments, _ throws(StoreError) in
            try ExpressionMath.power(arguments[0], arguments[1])
        },
        "$bitAnd": bits("$bitAnd", -1) { $0 & $1 }, "$bitOr": bits("$bitOr", 0) { $0 | $1 },
        "$bitXor": bits("$bitXor", 0) { $0 ^ $1 },
        "$bitNot": .numeric { value throws(StoreError) in
            switch value {
            case .int32(let value): return .int32(~value)
            case .int64(let value): return .int64(~value)
            default:
                throw StoreError(
                    .typeMismatch,
                    "$bitNot only supports int and long, not: \(ExpressionText.type(of: value)).")
            }
        },
    ]

    private static func rounding(
        _ name: String, _ rounding: DecimalRounding
    ) -> ExpressionOperator {
        .between(1...2) { arguments, _ throws(StoreError) in
            try ExpressionMath.round(name, arguments, rounding)
        }
    }

    private static func bits(
        _ name: String, _ identity: Int64, _ body: @escaping @Sendable (Int64, Int64) -> Int64
    ) -> ExpressionOperator {
        .any { nodes, context throws(StoreError) in
            var result = identity
            var isLong = false
            for node in nodes {
                let value = try node.evaluate(&context)
                if NumberCoercion.isNullish(value) { return .null }
                guard let number = NumberCoercion.whole(value) else {
                    throw StoreError(
                        .typeMismatch, "\(name) only supports int and long operands.")
                }
                if case .int64 = value { isLong = true }
                result = body(result, number)
            }
            return isLong ? .int64(result) : .int32(Int32(truncatingIfNeeded: result))
        }
    }
}
