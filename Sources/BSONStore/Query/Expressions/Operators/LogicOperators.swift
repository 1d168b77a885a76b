/// Comparison, boolean and conditional operators, and those with variables.
enum LogicOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$literal": literal, "$const": literal,
        "$expr": ExpressionOperator { _, value, parser throws(StoreError) in
            try parser.operand(value)
        },
        "$cmp": .fixed(2) { .int32(Int32($1.compare($0[0], $0[1]).rawValue)) },
        "$eq": comparison { $0 == .equal }, "$ne": comparison { $0 != .equal },
        "$gt": comparison { $0 == .greater }, "$gte": comparison { $0 != .less },
        "$lt": comparison { $0 == .less }, "$lte": comparison { $0 != .greater },
        "$and": .any { nodes, context throws(StoreError) in
            for node in nodes where !Expression.isTrue(try node.evaluate(&context)) {
                return .bool(false)
            }
            return .bool(true)
        },
        "$or": .any { nodes, context throws(StoreError) in
            for node in nodes where Expression.isTrue(try node.evaluate(&context)) {
                return .bool(true)
            }
            return .bool(false)
        },
        "$not": .fixed(1) { arguments, _ in .bool(!Expression.isTrue(arguments[0])) },
        "$cond": conditional, "$ifNull": ifNull, "$switch": switchCase, "$let": bindings,
    ]

    private static let literal = ExpressionOperator { _, value, _ throws(StoreError) in
        try checkTexts(in: value)
        return .constant(value)
    }

    /// Checks the texts that the server copies: not those inside of documents.
    ///
    /// - Throws: 16493.
    private static func checkTexts(in value: BSONValue) throws(StoreError) {
        switch value {
        case .string(let text): try ExpressionLimits.checkText(text.utf8.count)
        case .array(let array): for member in array { try checkTexts(in: member) }
        default: return
        }
    }

    private static func comparison(
        _ holds: @escaping @Sendable (BSONOrder) -> Bool
    ) -> ExpressionOperator {
        .fixed(2) { .bool(holds($1.compare($0[0], $0[1]))) }
    }

    private static let choice: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
        let isTrue = Expression.isTrue(try nodes[0].evaluate(&context))
        return try nodes[isTrue ? 1 : 2].evaluate(&context)
    }

    private static let conditional = ExpressionOperator {
        name, argument, parser throws(StoreError) in
        guard case .document = argument else {
            return try ExpressionOperator.fixed(3, body: .lazy(choice)).parse(
                name, argument, &parser)
        }
        let arguments = try ExpressionArguments(
            argument, ["if", "then", "else"], notDocument: .location(17083, "")
        ) { .location(17083, "Unrecognized parameter to $cond: \($0)") }
        let nodes = [
            try arguments.operand(
                "if", &parser, missing: .location(17080, "Missing 'if' parameter to $cond")),
            try arguments.operand(
                "then", &parser, missing: .location(17081, "Missing 'then' parameter to $cond")),
            try arguments.operand(
                "else", &parser, missing: .location(17082, "Missing 'else' parameter to $cond")),
        ]
        return .call(ExpressionFunction(name, .lazy(choice)), nodes)
    }

    private static let ifNull = ExpressionOperator { name, argument, parser throws(StoreError) in
        let nodes = try parser.arguments(argument)
        guard nodes.count >= 2 else {
            throw .location(
                1_257_300, "$ifNull needs at least two arguments, had: \(nodes.count)")
        }
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            var value: BSONValue?
            for node in nodes {
                value = try node.evaluate(&context)
                if !NumberCoercion.isNullish(value) { break }
            }
            return value
        }
        return .call(ExpressionFunction(name, .lazy(body)), nodes)
    }

    private static let bindings = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["vars", "in"],
            notDocument: .location(16874, "$let only supports an object as its argument")
        ) { .location(16875, "Unrecognized parameter to $let: \($0)") }
        guard let variables = arguments["vars"] else {
            throw .location(16876, "Missing 'vars' parameter to $let")
        }
        guard arguments.contains("in") else {
            throw .location(16877, "Missing 'in' parameter to $let")
        }
        let fields = try ExpressionArguments.fields(of: variables, named: "vars")
        var nodes: [ExpressionNode] = []
        for (_, value) in fields { nodes.append(try parser.operand(value)) }
        let (slots, result) = try parser.scoped {
            parser throws(StoreError) -> ([Int], ExpressionNode) in
            var slots: [Int] = []
            for name in fields.keys { slots.append(try parser.define(name)) }
            return (slots, try parser.operand(arguments["in"] ?? .null))
        }
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            // All values are computed before the first variable is set: they see the outer
            // variables.
            var values: [BSONValue?] = []
            for node in nodes.dropLast() { values.append(try node.evaluate(&context)) }
            for (slot, value) in zip(slots, values) { context.values[slot] = value }
            return try nodes[slots.count].evaluate(&context)
        }
        return .call(ExpressionFunction(name, .lazy(body)), nodes + [result])
    }

    /// `$switch`: the value of the first branch whose case is true.
    private static let switchCase = ExpressionOperator {
        name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["branches", "default"],
            notDocument: .location(
                40060,
                "$switch requires an object as an argument, found: "
                    + ExpressionText.type(of: argument))
        ) { .location(40067, "$switch found an unknown argument: \($0)") }
        var reading = SwitchParser()
        if let branches = arguments["branches"] {
            guard case .array(let array) = branches else {
                throw .location(
                    40061,
                    "$switch expected an array for 'branches', found: "
                        + ExpressionText.type(of: branches))
            }
            for branch in array { try reading.read(branch, &parser) }
        }
        guard reading.count > 0 else {
            throw .location(40068, "$switch requires at least one branch.")
        }
        var nodes = reading.nodes
        if let value = arguments["default"] {
            let last = try parser.operand(value)
            guard !nodes.isEmpty else { return last }
            nodes.append(last)
        }
        guard !nodes.isEmpty else {
            throw .location(
                40069,
                "Cannot execute a switch statement where all the cases evaluate to false without "
                    + "a default")
        }
        return .call(ExpressionFunction(name, .lazy(choose)), nodes)
    }

    private static let choose: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
        for index in stride(from: 0, to: nodes.count - 1, by: 2)
        where Expression.isTrue(try nodes[index].evaluate(&context)) {
            return try nodes[index + 1].evaluate(&context)
        }
        guard nodes.count % 2 == 1, let last = nodes.last else {
            throw .location(
                40066,
                "$switch could not find a matching branch for an input, and no default was "
                    + "specified.")
        }
        return try last.evaluate(&context)
    }
}

/// A parser for the branches of `$switch` that omits branches that can never be taken.
private struct SwitchParser {
    /// The number of branches.
    private(set) var count = 0
    /// The cases and their values, alternating.
    private(set) var nodes: [ExpressionNode] = []
    /// Whether a case was true for all documents, so that later ones are ignored.
    private var isDecided = false

    mutating func read(
        _ value: BSONValue, _ parser: inout ExpressionParser
    ) throws(StoreError) {
        let arguments = try ExpressionArguments(
            value, ["case", "then"],
            notDocument: .location(
                40062,
                "$switch expected each branch to be an object, found: "
                    + ExpressionText.type(of: value))
        ) { .location(40063, "$switch found an unknown argument to a branch: \($0)") }
        guard let condition = arguments["case"] else {
            throw .location(40064, "$switch requires each branch have a 'case' expression")
        }
        guard let result = arguments["then"] else {
            throw .location(40065, "$switch requires each branch have a 'then' expression.")
        }
        count += 1
        guard !isDecided else {
            _ = try parser.operandLeftOut(condition)
            _ = try parser.operandLeftOut(result)
            return
        }
        let test = try parser.operand(condition)
        if case .constant(let constant) = test {
            guard Expression.isTrue(constant) else {
                _ = try parser.operandLeftOut(result)
                return
            }
            isDecided = true
        }
        nodes += [test, try parser.operand(result)]
    }
}
