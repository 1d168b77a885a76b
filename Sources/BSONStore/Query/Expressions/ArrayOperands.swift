/// The operands of an operator that takes any number of arrays.
enum ArrayOperands {
    /// Calls a body with each operand, until one is null or missing.
    ///
    /// - Parameter fault: the error for an operand of another type.
    /// - Returns: whether all operands are arrays; `false` makes the operator's result null.
    static func visit(
        _ nodes: ArraySlice<ExpressionNode>, _ context: inout ExpressionContext,
        _ fault: (BSONValue?) -> StoreError,
        _ body: (BSONArray) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        for node in nodes {
            let value = try node.evaluate(&context)
            if NumberCoercion.isNullish(value) { return false }
            guard case .array(let array) = value else { throw fault(value) }
            try body(array)
        }
        return true
    }
}
