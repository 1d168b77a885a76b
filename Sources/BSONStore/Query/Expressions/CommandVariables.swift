/// The variables that a command defines by `let`, for all its expressions.
struct CommandVariables: Sendable {
    /// The names with their slots.
    private(set) var scope: ExpressionScope
    private var expressions: [Expression] = []

    /// Parses names with expressions that depend on no document; later ones see the earlier ones.
    ///
    /// - Throws: `failedToParse` (9) for an invalid variable name, 4890500 for an expression that
    ///   reads a field, and the errors of parsing expressions.
    init(_ document: BSONDocument?, collation: Collation? = nil) throws(StoreError) {
        scope = ExpressionScope(collation: collation)
        for (name, value) in document ?? BSONDocument() {
            let expression = try Expression(value, in: scope)
            guard !Self.readsFields(expression.node) else {
                throw StoreError(
                    .variableReadsField,
                    "Command let Expression tried to access a field, but this is not allowed because "
                        + "command let expressions run before the query examines any documents.")
            }
            expressions.append(expression)
            try scope.define(name)
            if let constant = expression.constant { scope.fix(name, at: constant) }
        }
    }

    private static func readsFields(_ node: ExpressionNode) -> Bool {
        if case .field = node { return true }
        if case .root = node { return true }
        if case .object(let fields) = node { return fields.contains { readsFields($0.value) } }
        if case .array(let nodes) = node { return nodes.contains { readsFields($0) } }
        if case .call(_, let nodes) = node { return nodes.contains { readsFields($0) } }
        return false
    }

    /// Computes the values of the variables at a time, once for a whole command.
    ///
    /// - Throws: the errors of the expressions.
    func frame(now: BSONDatetime?) throws(StoreError) -> ExpressionFrame {
        var frame = ExpressionFrame(now: now)
        if now == nil { frame.clusterTime = nil }
        for expression in expressions {
            frame.values.append(try expression.evaluate(BSONDocument(), frame))
        }
        return frame
    }
}
