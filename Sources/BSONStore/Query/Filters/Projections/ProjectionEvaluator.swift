/// An evaluator of the computed fields of one document.
struct ProjectionEvaluator {
    /// The document that the expressions see.
    let document: BSONDocument
    let frame: ExpressionFrame
    /// The index of the document.
    let index: IndexedDocument

    /// Sets the computed fields in the chosen ones.
    ///
    /// - Throws: the errors of the expressions.
    func compute(
        _ node: ProjectionNode, in chosen: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        var result = EditedDocument(chosen)
        for field in node.fields {
            try WorkBudget.spend()
            switch field.content {
            case .choose: continue
            case .compute(let expression):
                result.set(field.name, to: try expression.evaluate(document, frame, index))
            case .element(let filter):
                let array = index[field.name]
                result.set(field.name, to: Self.element(filter, of: array, field.name))
            case .nested(let inner):
                guard inner.computes else { continue }
                let old = result.value(of: field.name)
                result.set(field.name, to: try compute(inner, value: old))
            }
        }
        return result.finished()
    }

    private func compute(
        _ node: ProjectionNode, value: BSONValue?
    ) throws(StoreError) -> BSONValue {
        switch value {
        case .document(let document): return .document(try compute(node, in: document))
        case .array(let array):
            var values: [BSONValue] = []
            for value in array { values.append(try compute(node, value: value)) }
            return .array(BSONArray(values))
        default: return .document(try compute(node, in: BSONDocument()))
        }
    }

    private static func element(
        _ filter: Filter, of value: BSONValue?, _ key: String
    ) -> BSONValue? {
        guard case .array(let array) = value,
            let index = PositionalOperator.find(in: array, key: key, filter),
            let found = array[index]
        else { return nil }
        return .array([found])
    }
}
