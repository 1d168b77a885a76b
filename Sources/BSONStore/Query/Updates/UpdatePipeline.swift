/// Makes documents anew by the stages of a pipeline that look at one document only.
struct UpdatePipeline: Sendable {
    private let steps: [Step]
    private let frame: ExpressionFrame

    private enum Step: Sendable {
        case project(ProjectStage)
        case replace(ReplaceRootStage)
    }

    /// Reads the stages; the variables get their values once for all documents.
    ///
    /// - Throws: `invalidOptions` (72) for a stage that an update cannot have, and what the stages
    ///   throw.
    init(
        _ stages: [BSONDocument], _ variables: BSONDocument, _ collation: Collation?
    ) throws(StoreError) {
        var frame = ExpressionFrame(now: WallClock.now)
        var scope = ExpressionScope()
        for (name, value) in variables {
            let expression = try Expression(value)
            frame.values.append(try expression.evaluate(BSONDocument(), frame))
            try scope.define(name)
        }
        self.frame = frame
        let parser = try PipelineParser(scope: scope, collation: collation).nested(in: .update)
        steps = try parser.stages(BSONArray(stages.map { .document($0) })).compactMap { stage in
            if let stage = stage as? ProjectStage { return .project(stage) }
            if let stage = stage as? ReplaceRootStage { return .replace(stage) }
            return nil
        }
    }

    /// The document that the stages make of one.
    ///
    /// - Throws: what the expressions throw.
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
