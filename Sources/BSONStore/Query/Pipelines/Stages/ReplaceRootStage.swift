/// A stage that replaces each document by the result of an expression.
struct ReplaceRootStage: PipelineStage {
    let expression: Expression
    /// The name of the expression in errors.
    let subject: String

    static let replaceRoot: StageDefinition.Parse = { (value, parser) throws(StoreError) in
        guard case .document(let document) = value else {
            throw .location(
                40229,
                "expected an object as specification for $replaceRoot stage, got "
                    + value.type.alias)
        }
        var newRoot: BSONValue?
        for (key, value) in document {
            guard key == "newRoot" else {
                throw .location(
                    40230,
                    "unrecognized option to $replaceRoot stage: \(key), only valid option is "
                        + "'newRoot'.")
            }
            newRoot = value
        }
        guard let newRoot else {
            throw .location(40231, "no newRoot specified for the $replaceRoot stage")
        }
        let expression = try Expression(newRoot, in: parser.scope)
        return [ReplaceRootStage(expression: expression, subject: "'newRoot' expression ")]
    }

    static let replaceWith: StageDefinition.Parse = { (value, parser) throws(StoreError) in
        let expression = try Expression(value, in: parser.scope)
        return [ReplaceRootStage(expression: expression, subject: "'replacement document' ")]
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        MappingSink(next) { (document) throws(StoreError) in
            try apply(to: document, run.frame(for: document))
        }
    }

    /// Returns the expression's document for one document.
    ///
    /// - Throws: 40228 if the result is not a document, and the errors of the expression.
    func apply(
        to document: BSONDocument, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONDocument {
        let value = try expression.evaluate(document, frame)
        guard case .document(let replaced) = value else {
            throw .location(
                40228,
                "\(subject) must evaluate to an object, but resulting value was: "
                    + "\(ExpressionText.text(of: value)). Type of resulting value: "
                    + "'\(ExpressionText.type(of: value))'. Input document: "
                    + ExpressionText.text(of: document))
        }
        return replaced
    }
}
