/// A stage that includes, excludes or computes fields.
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

    /// Parses a specification; its errors begin with the stage's name.
    private static func named(
        _ name: String, _ body: () throws(StoreError) -> AggregationProjection
    ) throws(StoreError) -> AggregationProjection {
        do throws(StoreError) {
            return try body()
        } catch {
            // The server does not compute constants until later.
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
