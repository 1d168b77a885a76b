/// An operator: how its arguments are parsed and what it computes.
struct ExpressionOperator: Sendable {
    /// A function that parses the value behind an operator's name.
    typealias Parse =
        @Sendable (
            _ name: String, _ argument: BSONValue, _ parser: inout ExpressionParser
        ) throws(StoreError) -> ExpressionNode

    let parse: Parse

    init(parse: @escaping Parse) { self.parse = parse }

    /// All operators by their names.
    static let all: [String: ExpressionOperator] = [
        LogicOperators.all, ArithmeticOperators.all, TrigonometryOperators.all, ArrayOperators.all,
        ArrayIterationOperators.all, ArraySelectionOperators.all, SetOperators.all,
        StringOperators.all, RegularExpressionOperators.all, DocumentOperators.all,
        EnvironmentOperators.all, DateOperators.all, DateArithmeticOperators.all,
        ConversionOperators.all, AccumulatorOperators.all, ScriptOperators.all,
        SigmoidOperator.all,
    ].reduce(into: [:]) { all, group in all.merge(group) { $1 } }

    /// Creates an operator with an exact number of arguments.
    static func fixed(_ count: Int, _ body: @escaping ExpressionFunction.Eager) -> Self {
        fixed(count, body: .eager(body))
    }

    /// Creates an operator with an exact number of arguments, computed when needed.
    static func fixed(
        _ count: Int, isDeterministic: Bool = true, body: ExpressionFunction.Body
    ) -> Self {
        Self { name, argument, parser throws(StoreError) in
            let nodes = try parser.arguments(argument)
            guard nodes.count == count else {
                throw StoreError(
                    .argumentCountMismatch,
                    "Expression \(name) takes exactly \(count) arguments. \(nodes.count) were "
                        + "passed in.")
            }
            return .call(ExpressionFunction(name, isDeterministic: isDeterministic, body), nodes)
        }
    }

    /// Creates an operator with a range of argument counts.
    static func between(
        _ counts: ClosedRange<Int>, _ body: @escaping ExpressionFunction.Eager
    ) -> Self {
        Self { name, argument, parser throws(StoreError) in
            let nodes = try parser.arguments(argument)
            guard counts.contains(nodes.count) else {
                throw StoreError(
                    .argumentCountOutOfRange,
                    "Expression \(name) takes at least \(counts.lowerBound) arguments, and at most "
                        + "\(counts.upperBound), but \(nodes.count) were passed in.")
            }
            return .call(ExpressionFunction(name, .eager(body)), nodes)
        }
    }

    /// Creates an operator with any number of arguments, computed when needed.
    static func any(_ body: @escaping ExpressionFunction.Lazy) -> Self {
        Self { name, argument, parser throws(StoreError) in
            .call(ExpressionFunction(name, .lazy(body)), try parser.arguments(argument))
        }
    }

    /// Creates an operator on one number; null for nullish values, an error for other types.
    static func numeric(
        _ body: @escaping @Sendable (BSONValue) throws(StoreError) -> BSONValue
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let call = fixed(1) { arguments, _ throws(StoreError) in
                guard let value = arguments[0], !NumberCoercion.isNullish(value) else {
                    return .null
                }
                guard NumberCoercion.isNumber(value) else {
                    throw .location(
                        28765,
                        "\(name) only supports numeric types, not "
                            + ExpressionText.type(of: value))
                }
                return try body(value)
            }
            return try call.parse(name, argument, &parser)
        }
    }
}
