/// Are the variables that a command defines by `let`, for all its expressions.
struct CommandVariables: Sendable {
    /// The names with their slots.
    private(set) var scope: ExpressionScope
    private var expressions: [Expression] = []

    /// Reads names with expressions that know no document; later ones see the earlier ones.
    ///
    /// - Throws: `failedToParse` (9) for a name that no variable can have, 4890500 for an expression
    ///   that reads a field, and what reading expressions throws.
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

    /// The values of the variables at a time, one for a whole command.
    ///
    /// - Throws: what computing them throws.
    func frame(now: BSONDatetime) throws(StoreError) -> ExpressionFrame {
        var frame = ExpressionFrame(now: now)
        for expression in expressions {
            frame.values.append(try expression.evaluate(BSONDocument(), frame))
        }
        return frame
    }
}
