extension Expression {
    /// The fields of the document that must equal a value which is known before any document is
    /// read: those of `{$eq: ["$sku", "$$item"]}`, also within `$and`.
    ///
    /// Only whole fields: the values at a path into an array are an array here, and each of them in
    /// a filter.
    func equalities(_ frame: ExpressionFrame?) -> [(field: String, value: BSONValue)] {
        node.equalities(frame)
    }
}

extension ExpressionNode {
    fileprivate func equalities(
        _ frame: ExpressionFrame?
    ) -> [(field: String, value: BSONValue)] {
        guard case .call(let function, let nodes) = self else { return [] }
        if function.name == "$and" { return nodes.flatMap { $0.equalities(frame) } }
        guard function.name == "$eq", nodes.count == 2 else { return [] }
        for (left, right) in [(nodes[0], nodes[1]), (nodes[1], nodes[0])] {
            if let field = left.wholeField, let value = right.known(frame) {
                return [(field, value)]
            }
        }
        return []
    }

    private var wholeField: String? {
        switch self {
        case .field(let path), .root(let path): path.parts.count == 1 ? path.parts[0] : nil
        case .constant, .variable, .system, .object, .array, .call: nil
        }
    }

    /// The value of a constant or of a variable; `nil` for a missing one, and for kinds that filters
    /// treat in their own way.
    private func known(_ frame: ExpressionFrame?) -> BSONValue? {
        let value: BSONValue?
        switch self {
        case .constant(let constant): value = constant
        case .variable(let slot, let path):
            guard let frame, frame.values.indices.contains(slot) else { return .none }
            value = path.value(in: frame.values[slot])
        case .field, .root, .system, .object, .array, .call: return .none
        }
        switch value {
        case .undefined, .regularExpression, .minKey, .maxKey: return .none
        default: return value
        }
    }
}
