extension ExpressionOperator {
    /// Comparison, boolean and conditional operators, and those about variables.
    static let logic: [String: ExpressionOperator] = [
        "$literal": literal, "$const": literal,
        "$expr": ExpressionOperator { _, value, parser throws(StoreError) in
            try parser.operand(value)
        },
        "$cmp": .fixed(2) { .int32(Int32(compare($0, $1).rawValue)) },
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
    ]

    private static let literal = ExpressionOperator { _, value, _ in .constant(value) }

    private static func comparison(
        _ holds: @escaping @Sendable (BSONOrder) -> Bool
    ) -> ExpressionOperator {
        .fixed(2) { .bool(holds(compare($0, $1))) }
    }

    private static func compare(
        _ arguments: [BSONValue?], _ context: ExpressionContext
    ) -> BSONOrder {
        context.compare(arguments[0], arguments[1])
    }
}

extension ExpressionContext {
    /// Orders two values, texts by the collation; missing is undefined.
    func compare(_ left: BSONValue?, _ right: BSONValue?) -> BSONOrder {
        let (left, right) = (left ?? .undefined, right ?? .undefined)
        return BSONOrder.compare(left, right)
    }
}
