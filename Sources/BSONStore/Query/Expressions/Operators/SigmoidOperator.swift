/// The operator `$sigmoid`.
enum SigmoidOperator {
    /// The operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$sigmoid": ExpressionOperator { name, argument, parser throws(StoreError) in
            var input = argument
            var other: BSONValue = .null
            // Only a document with `input` has named arguments; others are values.
            if case .document(let document) = argument, let named = document["input"] {
                for key in document.keys where key != "input" && key != "onNull" {
                    throw StoreError(
                        .failedToParse, "\(name) found an unknown argument: \(key)")
                }
                input = named
                other = document["onNull"] ?? .null
            }
            let nodes = [try parser.operand(input), try parser.operand(other)]
            let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
                var value = try nodes[0].evaluate(&context)
                if NumberCoercion.isNullish(value) { value = try nodes[1].evaluate(&context) }
                guard let value, !NumberCoercion.isNullish(value) else { return .null }
                return try sigmoid(value)
            }
            return .call(ExpressionFunction(name, .lazy(body)), nodes)
        }
    ]

    /// Returns 1 / (1 + exp(-value)), a double or a decimal.
    private static func sigmoid(_ value: BSONValue) throws(StoreError) -> BSONValue {
        guard NumberCoercion.isNumber(value) else {
            throw StoreError(
                .typeMismatch,
                "$multiply only supports numeric types, not \(ExpressionText.type(of: value))")
        }
        let power = ExpressionMath.exponential(ExpressionMath.product(.int32(-1), value))
        var sum = AdditionResult()
        try sum.add(.int32(1))
        try sum.add(power)
        return try ExpressionMath.divide(.int32(1), sum.value)
    }
}
