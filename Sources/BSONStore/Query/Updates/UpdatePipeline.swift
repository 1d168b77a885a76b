/// An update that computes a new document with pipeline stages for single documents.
struct UpdatePipeline: Sendable {
    private let steps: [Step]
    private let frame: ExpressionFrame

    private enum Step: Sendable {
        case project(ProjectStage)
        case replace(ReplaceRootStage)
    }

    /// Parses the stages; the variables are computed once for all documents, each with the earlier
    /// ones in scope.
    ///
    /// - Throws: `invalidOptions` (72) for a stage that is not allowed in an update, and the errors
    ///   of the stages.
    init(
        _ stages: [BSONDocument], _ variables: BSONDocument, _ collation: Collation?
    ) throws(StoreError) {
        let variables = try CommandVariables(variables, collation: collation)
        frame = try variables.frame(now: CommandTime.now)
        let parser = try PipelineParser(scope: variables.scope, collation: collation)
            .nested(in: .update)
        steps = try parser.stages(BSONArray(stages.map { .document($0) })).compactMap { stage in
            if let stage = stage as? ProjectStage { return .project(stage) }
            if let stage = stage as? ReplaceRootStage { return .replace(stage) }
            return nil
        }
    }

    /// Returns the result of the stages for a document.
    ///
    /// - Throws: the errors of the expressions.
    func apply(to document: BSONDocument) throws(StoreError) -> BSONDocument {
        var result = document
        var frame = frame
        for step in steps {
            frame.root = result
            switch step {
            case .project(let stage): result = try stage.projection.apply(to: result, frame)
            case .replace(let stage): result = try stage.apply(to: result, frame)
            }
        }
        return result
    }
}
