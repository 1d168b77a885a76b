/// Operators that compute a value for each element of an array, or for each position of several.
enum ArrayIterationOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$filter": filter, "$map": map, "$reduce": reduce, "$zip": zip,
    ]

    private static let filter = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["input", "as", "cond", "limit"],
            notDocument: .location(28646, "$filter only supports an object as its argument")
        ) { .location(28647, "Unrecognized parameter to $filter: \($0)") }
        guard arguments.contains("input") else {
            throw .location(28648, "Missing 'input' parameter to $filter")
        }
        guard let condition = arguments["cond"] else {
            throw .location(28650, "Missing 'cond' parameter to $filter")
        }
        let input = try arguments.operand("input", &parser, default: nil)
        let (slot, test) = try parser.element(arguments["as"], condition)
        let limit = try arguments.operand("limit", &parser, default: nil)
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            let value = try nodes[0].evaluate(&context)
            if NumberCoercion.isNullish(value) { return .null }
            guard case .array(let array) = value else {
                throw .location(
                    28651,
                    "input to $filter must be an array not \(ExpressionText.type(of: value))")
            }
            if array.isEmpty { return value }
            let limit = try filterLimit(try nodes[2].evaluate(&context))
            var builder = ArrayBuilder()
            for element in array {
                context.values[slot] = element
                guard Expression.isTrue(try nodes[1].evaluate(&context)) else { continue }
                try builder.append(element)
                if builder.values.count == limit { break }
            }
            return builder.array
        }
        return .call(ExpressionFunction(name, .lazy(body)), [input, test, limit])
    }

    private static func filterLimit(_ value: BSONValue?) throws(StoreError) -> Int {
        if NumberCoercion.isNullish(value) { return .max }
        guard let limit = NumberCoercion.exact32(value) else {
            throw .location(
                327391,
                "$filter: limit must be represented as a 32-bit integral value: "
                    + ExpressionText.text(of: value))
        }
        guard limit > 0 else {
            throw .location(
                327392,
                "$filter: limit must be greater than 0: \(ExpressionText.text(of: value))")
        }
        return limit
    }

    private static let map = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["input", "as", "in"],
            notDocument: .location(16878, "$map only supports an object as its argument")
        ) { .location(16879, "Unrecognized parameter to $map: \($0)") }
        guard arguments.contains("input") else {
            throw .location(16880, "Missing 'input' parameter to $map")
        }
        guard let result = arguments["in"] else {
            throw .location(16882, "Missing 'in' parameter to $map")
        }
        let input = try arguments.operand("input", &parser, default: nil)
        let (slot, each) = try parser.element(arguments["as"], result)
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            let value = try nodes[0].evaluate(&context)
            if NumberCoercion.isNullish(value) { return .null }
            guard case .array(let array) = value else {
                throw .location(
                    16883, "input to $map must be an array not \(ExpressionText.type(of: value))")
            }
            var builder = ArrayBuilder()
            for element in array {
                context.values[slot] = element
                try builder.append(try nodes[1].evaluate(&context) ?? .null)
            }
            return builder.array
        }
        return .call(ExpressionFunction(name, .lazy(body)), [input, each])
    }

    private static let reduce = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["input", "initialValue", "in"],
            notDocument: .location(
                40075,
                "$reduce requires an object as an argument, found: "
                    + ExpressionText.type(of: argument))
        ) { .location(40076, "$reduce found an unknown argument: \($0)") }
        let input = try arguments.operand(
            "input", &parser, missing: .location(40077, "$reduce requires 'input' to be specified"))
        let initial = try arguments.operand(
            "initialValue", &parser,
            missing: .location(40078, "$reduce requires 'initialValue' to be specified"))
        let (this, value, step) = try parser.scoped {
            parser throws(StoreError) -> (Int, Int, ExpressionNode) in
            let this = try parser.define("this")
            let value = try parser.define("value")
            let step = try arguments.operand(
                "in", &parser, missing: .location(40079, "$reduce requires 'in' to be specified"))
            return (this, value, step)
        }
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            let input = try nodes[0].evaluate(&context)
            if NumberCoercion.isNullish(input) { return .null }
            guard case .array(let array) = input else {
                throw .location(
                    40080,
                    "$reduce requires that 'input' be an array, found: "
                        + ExpressionText.text(of: input))
            }
            var result = try nodes[1].evaluate(&context)
            if case .array(let first) = result, let growth = ArrayGrowth(nodes[2], of: value) {
                return try growth.grown(first, by: array, as: this, &context)
            }
            for element in array {
                context.values[this] = element
                context.values[value] = result
                result = try nodes[2].evaluate(&context)
                // Each step may nest the previous result one level deeper.
                if let result, ExpressionLimits.isTooDeep(result) { throw ExpressionLimits.tooDeep }
            }
            return result
        }
        return .call(ExpressionFunction(name, .lazy(body)), [input, initial, step])
    }

    /// A step of `$reduce` that only appends to the array in a variable: it need not copy it.
    private struct ArrayGrowth {
        private let additions: ArraySlice<ExpressionNode>

        /// Recognizes `{$concatArrays: ["$$value", …]}`; `nil` for other steps.
        init?(_ step: ExpressionNode, of slot: Int) {
            guard case .call(let function, let nodes) = step, function.name == "$concatArrays",
                case .variable(slot, .itself)? = nodes.first,
                !nodes.dropFirst().contains(where: { $0.reads(slot) })
            else { return nil }
            additions = nodes.dropFirst()
        }

        /// Returns the array after all steps; null if one of them adds null.
        func grown(
            _ first: BSONArray, by elements: BSONArray, as this: Int,
            _ context: inout ExpressionContext
        ) throws(StoreError) -> BSONValue {
            var builder = ArrayBuilder()
            for value in first { try builder.append(value) }
            for element in elements {
                context.values[this] = element
                let hasAll = try ArrayOperands.visit(additions, &context) { value in
                    .location(
                        28664,
                        "$concatArrays only supports arrays, not \(ExpressionText.type(of: value))")
                } _: { (array) throws(StoreError) in
                    for value in array {
                        if ExpressionLimits.isTooDeep(value, limit: ExpressionLimits.depthMax - 1) {
                            throw ExpressionLimits.tooDeep
                        }
                        try builder.append(value)
                    }
                }
                guard hasAll else { return .null }
            }
            return builder.array
        }
    }

    /// `$zip`: the transposition of several arrays.
    private static let zip = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["inputs", "defaults", "useLongestLength"],
            notDocument: .location(
                34460,
                "$zip only supports an object as an argument, found "
                    + ExpressionText.type(of: argument))
        ) { .location(34464, "$zip found an unknown argument: \($0)") }
        let inputs = try parser.list(arguments["inputs"], "inputs", 34461)
        let defaults = try parser.list(arguments["defaults"], "defaults", 34462)
        var usesLongest = false
        if let flag = arguments["useLongestLength"] {
            guard case .bool(let value) = flag else {
                throw .location(
                    34463,
                    "useLongestLength must be a bool, found \(ExpressionText.type(of: argument))")
            }
            usesLongest = value
        }
        guard !inputs.isEmpty else {
            throw .location(34465, "$zip requires at least one input array")
        }
        guard usesLongest || defaults.isEmpty else {
            throw .location(34466, "cannot specify defaults unless useLongestLength is true")
        }
        guard defaults.isEmpty || defaults.count == inputs.count else {
            throw .location(34467, "defaults and inputs must have the same length")
        }
        let columns = inputs.count
        let isLong = usesLongest
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            var arrays: [[BSONValue]] = []
            let hasAll = try ArrayOperands.visit(nodes[..<columns], &context) { value in
                .location(
                    34468,
                    "$zip found a non-array expression in input: \(ExpressionText.text(of: value))")
            } _: { (array) in
                arrays.append(array.values)
            }
            guard hasAll else { return .null }
            var fillers = [BSONValue](repeating: .null, count: columns)
            let counts = arrays.map(\.count)
            let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
            if least != most {
                for (index, node) in nodes[columns...].enumerated() {
                    fillers[index] = try node.evaluate(&context) ?? .null
                }
            }
            var builder = ArrayBuilder()
            for row in 0..<(isLong ? most : least) {
                let values = arrays.enumerated().map { column, values in
                    row < values.count ? values[row] : fillers[column]
                }
                try builder.append(try ExpressionLimits.array(values))
            }
            return builder.array
        }
        return .call(ExpressionFunction(name, .lazy(body)), inputs + defaults)
    }
}

extension ExpressionParser {
    /// Parses an expression that sees an element under the name `as`, or `this`.
    fileprivate mutating func element(
        _ name: BSONValue?, _ value: BSONValue
    ) throws(StoreError) -> (slot: Int, node: ExpressionNode) {
        try scoped { parser throws(StoreError) -> (Int, ExpressionNode) in
            let slot = try parser.define(name.map { $0.stringValue ?? "" } ?? "this")
            return (slot, try parser.operand(value))
        }
    }

    /// Parses a literal array of expressions.
    fileprivate mutating func list(
        _ value: BSONValue?, _ name: String, _ code: Int32
    ) throws(StoreError) -> [ExpressionNode] {
        guard let value else { return [] }
        guard case .array(let array) = value else {
            throw .location(
                code,
                "\(name) must be an array of expressions, found \(ExpressionText.type(of: value))")
        }
        var nodes: [ExpressionNode] = []
        for value in array { nodes.append(try operand(value)) }
        return nodes
    }
}
