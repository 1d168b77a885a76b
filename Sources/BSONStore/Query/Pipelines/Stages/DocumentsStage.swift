/// A stage that provides the documents of a literal array.
struct DocumentsStage: PipelineSourceStage {
    let expression: Expression

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        [DocumentsStage(expression: try Expression(value, in: parser.scope))]
    }

    func forEach(
        _ run: PipelineRun, _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let value = try expression.evaluate(BSONDocument(), run.frame)
        guard case .array(let array) = value else {
            throw .location(5_858_203, "an array is expected")
        }
        for value in array {
            guard case .document(let document) = value else {
                throw .location(
                    40228,
                    "elements within the array passed to $documents must evaluate to an object, "
                        + "but resulting value was: \(ExpressionText.text(of: value)). Type of "
                        + "resulting value: '\(value.type.alias)'. Input document: "
                        + ExpressionText.text(of: .array(array)))
            }
            guard try body(document) else { return }
        }
    }
}
