/// Operators on arrays that take their arguments in order.
enum ArrayOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$arrayElemAt": .fixed(
            2,
            body: .lazy { nodes, context throws(StoreError) in
                let array = try nodes[0].evaluate(&context)
                let position = try nodes[1].evaluate(&context)
                return try ExpressionArray.element(
                    "$arrayElemAt", array, position, arity: 2, &context)
            }),
        "$first": .fixed(
            1,
            body: .lazy { nodes, context throws(StoreError) in
                let array = try nodes[0].evaluate(&context)
                return try ExpressionArray.element("$first", array, .int32(0), arity: 1, &context)
            }),
        "$last": .fixed(
            1,
            body: .lazy { nodes, context throws(StoreError) in
                let array = try nodes[0].evaluate(&context)
                return try ExpressionArray.element("$last", array, .int32(-1), arity: 1, &context)
            }),
        "$arrayToObject": .fixed(1) { arguments, _ throws(StoreError) in
            try ExpressionArray.object(arguments[0])
        },
        "$concatArrays": .any { nodes, context throws(StoreError) in
            var builder = ArrayBuilder()
            let hasAll = try ArrayOperands.visit(nodes[...], &context) { value in
                .location(
                    28664,
                    "$concatArrays only supports arrays, not \(ExpressionText.type(of: value))")
            } _: { (array) throws(StoreError) in
                for value in array { try builder.append(value) }
            }
            return hasAll ? builder.array : .null
        },
        "$in": .fixed(2) { arguments, context throws(StoreError) in
            guard case .array(let array) = arguments[1] else {
                throw .location(
                    40081,
                    "$in requires an array as a second argument, found: "
                        + ExpressionText.type(of: arguments[1]))
            }
            return .bool(array.contains { context.compare(arguments[0], $0) == .equal })
        },
        "$indexOfArray": .between(2...4, ExpressionArray.index),
        "$isArray": .fixed(1) { arguments, _ in .bool(arguments[0]?.type == .array) },
        "$objectToArray": .fixed(1) { arguments, _ throws(StoreError) in
            try ExpressionArray.pairs(arguments[0])
        },
        "$range": .between(2...3) { arguments, _ throws(StoreError) in
            try ExpressionArray.range(arguments)
        },
        "$reverseArray": .fixed(1) { arguments, _ throws(StoreError) in
            if NumberCoercion.isNullish(arguments[0]) { return .null }
            guard case .array(let array) = arguments[0] else {
                throw .location(
                    34435,
                    "The argument to $reverseArray must be an array, but was of type: "
                        + ExpressionText.type(of: arguments[0]))
            }
            return .array(BSONArray(array.values.reversed()))
        },
        "$size": .fixed(1) { arguments, _ throws(StoreError) in
            guard case .array(let array) = arguments[0] else {
                throw .location(
                    17124,
                    "The argument to $size must be an array, but was of type: "
                        + ExpressionText.type(of: arguments[0]))
            }
            return .int32(Int32(truncatingIfNeeded: array.count))
        },
        "$slice": .between(2...3) { arguments, _ throws(StoreError) in
            try ExpressionArray.slice(arguments)
        },
    ]
}
