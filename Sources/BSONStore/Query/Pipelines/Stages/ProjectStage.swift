/// A stage that includes, excludes or computes fields.
struct ProjectStage: PipelineStage {
    let projection: AggregationProjection
    /// The exclusion of fields right before, of which this stage adds some again.
    var exclusion: AggregationProjection?

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

    /// Returns one stage for an exclusion and this addition behind it; `nil` if they share no field.
    ///
    /// As in MongoDB, a field that is excluded and added again stays where it was.
    func merging(_ earlier: ProjectStage) -> ProjectStage? {
        guard projection.kind == .addition, earlier.projection.kind == .exclusion else {
            return nil
        }
        let added = projection.root.named
        let isShared = earlier.projection.root.named.fields.contains { field in
            guard case .choose = field.content else { return false }
            return added.index(of: field.name) != nil
        }
        return isShared
            ? ProjectStage(projection: projection, exclusion: earlier.projection) : nil
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        MappingSink(next) { (document) throws(StoreError) in
            guard let exclusion else {
                return try projection.apply(to: document, run.frame(for: document))
            }
            let rest = try exclusion.apply(to: document, run.frame(for: document))
            let result = try projection.apply(to: rest, run.frame(for: rest))
            return Self.ordered(result, as: document)
        }
    }

    /// Returns a document with its fields in the order of another, and the new ones behind them.
    private static func ordered(_ result: BSONDocument, as before: BSONDocument) -> BSONDocument {
        let places = Dictionary(
            before.enumerated().map { (Name($0.element.key), $0.offset) }, uniquingKeysWith: min)
        let fields = result.enumerated().sorted { left, right in
            (places[Name(left.element.key)] ?? .max, left.offset)
                < (places[Name(right.element.key)] ?? .max, right.offset)
        }
        var ordered = BSONDocument()
        for field in fields { ordered.append(field.element.key, field.element.value) }
        return ordered
    }
}
