extension ExpressionOperator {
    /// `$switch`: the value of the first branch whose case is true.
    static let switchCase = ExpressionOperator { name, argument, parser throws(StoreError) in
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
