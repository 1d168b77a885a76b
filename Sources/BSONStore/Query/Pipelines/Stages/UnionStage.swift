/// A stage that appends the documents of another collection, or of a pipeline on it.
struct UnionStage: PipelineStage {
    private let collection: String?
    private let pipeline: Pipeline

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        let nested = try parser.nested(in: .unionWith)
        switch value {
        case .string(let name):
            return [
                UnionStage(collection: name, pipeline: try Pipeline(nested: BSONArray(), nested))
            ]
        case .document(let document):
            let fields = try StageArguments("$unionWith", document, known: ["coll", "pipeline"])
            let name = try fields.string("coll")
            // Unlike the collection's name, null is not the same as none.
            if document["pipeline"] == .null {
                throw fields.wrongType("pipeline", .null, "array")
            }
            let array = try fields.array("pipeline") ?? BSONArray()
            guard name != nil || array[0]?.documentValue?["$documents"] != nil else {
                throw StoreError(
                    .failedToParse,
                    "$unionWith stage without explicit collection must have a pipeline with "
                        + "$documents as first stage")
            }
            let pipeline = try Pipeline(nested: array, nested)
            if name != nil { try Pipeline.checkFitsCollection(array) }
            return [UnionStage(collection: name, pipeline: pipeline)]
        default:
            throw StoreError(
                .failedToParse,
                "the $unionWith stage specification must be an object or string, but found "
                    + value.type.alias)
        }
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        let namespace = Namespace(
            run.namespace.database, collection ?? Namespace.databaseAggregate)
        return UnionSink(
            next, pipeline, run.nested(on: namespace, collation: run.collation))
    }
}
/// A sink that passes documents on, followed by those of a pipeline.
final class UnionSink: PipelineSink {
    private let next: any PipelineSink
    private let relay: ForwardingSink
    private let pipeline: Pipeline
    private let run: PipelineRun

    init(_ next: any PipelineSink, _ pipeline: Pipeline, _ run: PipelineRun) {
        self.next = next
        self.pipeline = pipeline
        self.run = run
        relay = ForwardingSink(next)
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool { try relay.take(document) }

    func finish() throws(StoreError) {
        if relay.wantsMore { try pipeline.run(run, into: relay) }
        try next.finish()
    }
}
