/// Operators on what a run provides, not on a document.
enum EnvironmentOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$rand": ExpressionOperator { name, argument, _ throws(StoreError) in
            guard try ExpressionArguments.fields(of: argument, named: name).isEmpty else {
                throw .location(3_040_501, "$rand does not currently accept arguments")
            }
            let function = ExpressionFunction(
                name, isDeterministic: false, .eager { _, _ in .double(.random(in: 0..<1)) })
            return .call(function, [])
        },
        "$meta": meta,
    ]

    private static let meta = ExpressionOperator { name, argument, _ throws(StoreError) in
        guard case .string(let field) = argument else {
            throw .location(17307, "$meta only supports string arguments")
        }
        let known = [
            "textScore", "randVal", "searchScore", "searchHighlights", "geoNearDistance",
            "geoNearPoint", "recordId", "indexKey", "sortKey", "searchScoreDetails",
            "vectorSearchScore",
        ]
        guard known.contains(field) else {
            throw .location(17308, "Unsupported argument to $meta: \(field)")
        }
        let body: ExpressionFunction.Eager = { _, context in context.frame.metadata[field] }
        return .call(ExpressionFunction(name, isDeterministic: false, .eager(body)), [])
    }
}
