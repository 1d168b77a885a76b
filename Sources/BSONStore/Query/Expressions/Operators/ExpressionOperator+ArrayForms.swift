extension ExpressionOperator {
    /// Operators on arrays that take named arguments.
    static let arrayForms: [String: ExpressionOperator] = [
        "$filter": filter, "$map": map, "$reduce": reduce, "$zip": zip, "$sortArray": sortArray,
        "$firstN": firstOrLastN { Array($0.prefix($1)) },
        "$lastN": firstOrLastN { Array($0.suffix($1)) },
        "$minN": minOrMaxN(.less), "$maxN": minOrMaxN(.greater),
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
            var kept: [BSONValue] = []
            for element in array {
                context.values[slot] = element
                guard Expression.isTrue(try nodes[1].evaluate(&context)) else { continue }
                kept.append(element)
                if kept.count == limit { break }
            }
            return .array(BSONArray(kept))
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
            var results: [BSONValue] = []
            var size = 0
            for element in array {
                context.values[slot] = element
                let result = try nodes[1].evaluate(&context) ?? .null
                size += BSONWriter.count(result)
                try ExpressionLimits.check(size)
                results.append(result)
            }
            return try ExpressionLimits.array(results)
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

    private static func firstOrLastN(
        _ part: @escaping @Sendable ([BSONValue], Int) -> [BSONValue]
    ) -> ExpressionOperator {
        counted(5_787_801) { values, count, _ in part(values, count) }
    }

    private static func minOrMaxN(_ wanted: BSONOrder) -> ExpressionOperator {
        counted(5_787_900) { values, count, context in
            let known = values.filter { !NumberCoercion.isNullish($0) }
            let sorted = known.enumerated().sorted { left, right in
                let order = context.compare(left.element, right.element)
                return order == .equal ? left.offset < right.offset : order == wanted
            }
            return sorted.prefix(count).map(\.element)
        }
    }

    private static func counted(
        _ notDocument: Int32,
        _ body: @escaping @Sendable ([BSONValue], Int, ExpressionContext) -> [BSONValue]
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let arguments = try ExpressionArguments(
                argument, ["n", "input"],
                notDocument: .location(
                    notDocument,
                    "specification must be an object; found \(name): "
                        + ShellText.text(of: argument))
            ) { .location(5_787_901, "Unknown argument for 'n' operator: \($0)") }
            let nodes = [
                try arguments.operand(
                    "n", &parser, missing: .location(5_787_906, "Missing value for 'n'")),
                try arguments.operand(
                    "input", &parser, missing: .location(5_787_907, "Missing value for 'input'")),
            ]
            let eager: ExpressionFunction.Eager = { values, context throws(StoreError) in
                let count = try ExpressionArray.count(values[0])
                guard case .array(let array) = values[1] else {
                    throw .location(5_788_200, "Input must be an array")
                }
                return .array(BSONArray(body(array.values, count, context)))
            }
            return .call(ExpressionFunction(name, .eager(eager)), nodes)
        }
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
}

extension ExpressionArray {
    /// Returns the number of values that an operator such as `$firstN` returns.
    static func count(_ value: BSONValue?) throws(StoreError) -> Int {
        guard let number = NumberCoercion.double(value) else {
            throw .location(
                5_787_902,
                "Value for 'n' must be of integral type, but found \(ExpressionText.text(of: value))"
            )
        }
        let count = try NumberCoercion.long(value)
        guard Double(count) == number else {
            throw .location(
                5_787_903,
                "Value for 'n' must be of integral type, but found \(ExpressionText.text(of: value))"
            )
        }
        guard count > 0 else {
            throw .location(5_787_908, "'n' must be greater than 0, found \(count)")
        }
        return Int(count)
    }
}
