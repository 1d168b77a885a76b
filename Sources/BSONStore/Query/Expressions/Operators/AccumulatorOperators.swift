/// Operators that are also accumulators of stages, over the members of an array or several
/// values.
enum AccumulatorOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$sum": over { values, _ in
            var total = SumAccumulator()
            for value in values { total.add(value) }
            return total.sum
        },
        "$avg": over { values, _ in
            var total = SumAccumulator(roundsLongs: true)
            for value in values { total.add(value) }
            return total.mean
        },
        "$min": over { extreme($0, .less, $1) }, "$max": over { extreme($0, .greater, $1) },
        "$stdDevPop": over { values, _ in deviation(values).value(isSample: false) },
        "$stdDevSamp": over { values, _ in deviation(values).value(isSample: true) },
        "$median": quantile(code: 7_436_201) { $0[0] },
        "$percentile": quantile(code: 7_436_200) { .array(BSONArray($0)) },
    ]

    private static func over(
        _ body: @escaping @Sendable ([BSONValue?], ExpressionContext) -> BSONValue
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let nodes = try parser.arguments(argument)
            let eager: ExpressionFunction.Eager = { values, context in
                if values.count == 1, case .array(let array) = values[0] {
                    return body(array.values, context)
                }
                return body(values, context)
            }
            return .call(ExpressionFunction(name, .eager(eager)), nodes)
        }
    }

    private static func extreme(
        _ values: [BSONValue?], _ wanted: BSONOrder, _ context: ExpressionContext
    ) -> BSONValue {
        var best: BSONValue?
        for case let value? in values where !NumberCoercion.isNullish(value) {
            if best.map({ context.compare(value, $0) == wanted }) ?? true { best = value }
        }
        return best ?? .null
    }

    private static func deviation(_ values: [BSONValue?]) -> StandardDeviation {
        var deviation = StandardDeviation()
        for value in values { deviation.add(value) }
        return deviation
    }

    private static func quantile(
        code: Int32, _ shape: @escaping @Sendable ([BSONValue]) -> BSONValue
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let isMedian = name == "$median"
            let arguments = try ExpressionArguments(
                argument, isMedian ? ["input", "method"] : ["input", "p", "method"],
                notDocument: .location(
                    code,
                    "specification must be an object; found \(name): "
                        + ShellText.text(of: argument))
            ) { StoreError(.idlUnknownField, "BSON field '\(name).\($0)' is an unknown field.") }
            func missing(_ field: String) -> StoreError {
                StoreError(
                    .idlFailedToParse,
                    "BSON field '\(name).\(field)' is missing but a required field")
            }
            let input = try arguments.operand("input", &parser, missing: missing("input"))
            let parts = isMedian ? [0.5] : try parser.parts(arguments["p"], missing("p"))
            guard let method = arguments["method"] else { throw missing("method") }
            guard method == .string("approximate") else {
                guard case .string = method else {
                    throw StoreError(
                        .typeMismatch,
                        "BSON field '\(name).method' is the wrong type "
                            + "'\(ExpressionText.type(of: method))', expected type 'string'")
                }
                throw StoreError(
                    .badValue, "Currently only 'approximate' can be used as percentile 'method'.")
            }
            let eager: ExpressionFunction.Eager = { values, _ in
                let numbers: [Double]
                if case .array(let array) = values[0] {
                    numbers = array.compactMap { NumberCoercion.double($0) }
                } else {
                    numbers = NumberCoercion.double(values[0]).map { [$0] } ?? []
                }
                let found = Percentile.values(numbers, at: parts)
                return shape(
                    found?.map { .double($0) }
                        ?? [BSONValue](repeating: .null, count: parts.count))
            }
            return .call(ExpressionFunction(name, .eager(eager)), [input])
        }
    }
}

extension ExpressionParser {
    /// Parses the constant numbers between 0 and 1 of `$percentile`.
    fileprivate mutating func parts(
        _ value: BSONValue?, _ missing: StoreError
    ) throws(StoreError) -> [Double] {
        guard let value else { throw missing }
        guard case .constant(let constant) = try operand(value) else {
            throw .location(
                7_750_300,
                "The $percentile 'p' field must be an array of constant values, but found value: "
                    + "\(ShellText.text(of: value)).")
        }
        let expected =
            "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: "
        guard case .array(let array) = constant, !array.isEmpty else {
            throw .location(7_750_301, expected + ExpressionText.text(of: constant))
        }
        var parts: [Double] = []
        for part in array {
            guard let number = NumberCoercion.double(part) else {
                throw .location(7_750_302, expected + ExpressionText.text(of: part))
            }
            guard number >= 0, number <= 1 else {
                throw .location(7_750_303, expected + ExpressionText.number(number))
            }
            parts.append(number)
        }
        return parts
    }
}
