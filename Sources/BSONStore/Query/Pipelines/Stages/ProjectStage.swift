/// Chooses, removes or computes fields.
struct ProjectStage: PipelineStage {
    let projection: AggregationProjection

    static let project: StageDefinition.Parse = { (value, parser) throws(StoreError) in
        guard case .document(let document) = value else {
            throw .location(15969, "$project specification must be an object")
        }
        let projection = try named("$project") { () throws(StoreError) in
            try AggregationProjection(project: document, in: parser.scope)
        }
        return [ProjectStage(projection: projection)]
    }

    static let addFields = adding("$addFields")
    static let set = adding("$set")

    private static func adding(_ name: String) -> StageDefinition.Parse {
        { (value, parser) throws(StoreError) in
            guard case .document(let document) = value else {
                throw .location(
                    40272,
                    "\(name) specification stage must be an object, got \(value.type.alias)")
            }
            let projection = try named(name) { () throws(StoreError) in
                try AggregationProjection(adding: document, in: parser.scope)
            }
            return [ProjectStage(projection: projection)]
        }
    }

    static let unset: StageDefinition.Parse = { (value, _) throws(StoreError) in
        var paths: [String] = []
        switch value {
        case .string(let text): paths = [text]
        case .array(let array):
            for value in array {
                guard case .string(let text) = value else {
                    throw .location(
                        31120,
                        "$unset specification must be a string or an array containing only string "
                            + "values")
                }
                paths.append(text)
            }
            guard !paths.isEmpty else {
                throw .location(
                    31119,
                    "$unset specification must be a string or an array with at least one field")
            }
        default:
            throw .location(31002, "$unset specification must be a string or an array")
        }
        let removing = paths
        let projection = try named("$unset") { () throws(StoreError) in
            try AggregationProjection(removing: removing)
        }
        return [ProjectStage(projection: projection)]
    }

    /// Reads a specification, whose errors begin with the stage's name.
    private static func named(
        _ name: String, _ body: () throws(StoreError) -> AggregationProjection
    ) throws(StoreError) -> AggregationProjection {
        do throws(StoreError) {
            return try body()
        } catch {
            // The server computes constants only later.
            guard error.phase != .optimization else { throw error }
            var named = error
            named.message = "Invalid \(name) :: caused by :: \(error.message)"
            throw named
        }
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        MappingSink(next) { (document) throws(StoreError) in
            try projection.apply(to: document, run.frame(for: document))
        }
    }
}

/// Gives on a document that an expression makes.
struct ReplaceRootStage: PipelineStage {
    let expression: Expression
    /// Names the expression in errors.
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

    /// The document that the expression makes of one.
    ///
    /// - Throws: 40228 when it makes none, and what the expression throws.
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

/// Leaves out parts of documents as an expression decides at every level.
struct RedactStage: PipelineStage {
    let expression: Expression

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        [RedactStage(expression: try Expression(value, in: parser.scope))]
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        MappingSink(next) { (document) throws(StoreError) in
            try redacted(document, run.frame(for: document))
        }
    }

    private func redacted(
        _ document: BSONDocument, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONDocument? {
        let answer = try expression.evaluate(document, frame)
        switch answer {
        case .string("keep"): return document
        case .string("prune"): return nil
        case .string("descend"): break
        default:
            throw .location(
                17053,
                "$redact's expression should not return anything aside from the variables "
                    + "$$KEEP, $$DESCEND, and $$PRUNE, but returned "
                    + ExpressionText.text(of: answer))
        }
        var result = BSONDocument()
        for (key, value) in document {
            if let kept = try redacted(value, frame) { result.append(key, kept) }
        }
        return result
    }

    private func redacted(
        _ value: BSONValue, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONValue? {
        switch value {
        case .document(let document):
            guard let kept = try redacted(document, frame) else { return nil }
            return .document(kept)
        case .array(let array):
            var values: [BSONValue] = []
            for value in array {
                if let kept = try redacted(value, frame) { values.append(kept) }
            }
            return .array(BSONArray(values))
        default: return value
        }
    }
}

/// Gives the documents of a literal array.
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
