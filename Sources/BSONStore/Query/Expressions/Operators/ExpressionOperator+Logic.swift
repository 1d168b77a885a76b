extension ExpressionOperator {
    /// Comparison, boolean and conditional operators, and those with variables.
    static let logic: [String: ExpressionOperator] = [
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

    private static let literal = ExpressionOperator { _, value, _ in .constant(value) }

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
            return try fixed(3, body: .lazy(choice)).parse(name, argument, &parser)
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
        let fields = try variables.fields(of: "vars")
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
            for (slot, value) in Swift.zip(slots, values) { context.values[slot] = value }
            return try nodes[slots.count].evaluate(&context)
        }
        return .call(ExpressionFunction(name, .lazy(body)), nodes + [result])
    }
}

extension ExpressionContext {
    /// Orders two values, texts by the collation; missing counts as undefined.
    ///
    /// Once the budget is over, all values are equal, so that sorting ends too; the caller throws
    /// then.
    func compare(_ left: BSONValue?, _ right: BSONValue?) -> BSONOrder {
        if WorkBudget.isOver() { return .equal }
        let (left, right) = (left ?? .undefined, right ?? .undefined)
        return collation?.compare(left, right) ?? BSONOrder.compare(left, right)
    }

    /// Orders two values as ``compare(_:_:)`` does.
    ///
    /// - Throws: 50, 11600, 11601 once the work must end.
    func compareWithinBudget(
        _ left: BSONValue?, _ right: BSONValue?
    ) throws(StoreError) -> BSONOrder {
        let order = compare(left, right)
        try WorkBudget.spend()
        return order
    }
}
