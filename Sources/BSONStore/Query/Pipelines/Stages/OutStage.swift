/// A stage that replaces the content of a collection by its input.
struct OutStage: PipelineWritingStage {
    private let database: String?
    private let collection: String

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        switch value {
        case .string(let name): return [OutStage(database: nil, collection: name)]
        case .document(let document):
            let fields = try StageArguments(
                "$out", document, known: ["db", "coll", "timeseries"])
            _ = try fields.required("coll")
            _ = try fields.required("db")
            guard fields["timeseries"] == nil else {
                throw StoreError(
                    .invalidOptions, "Time series collections are not available in this store")
            }
            return [
                OutStage(
                    database: try fields.string("db"),
                    collection: try fields.string("coll") ?? "")
            ]
        default:
            throw .location(
                16990,
                "$out only supports a string or object argument, but found \(value.type.alias)")
        }
    }

    func target(from namespace: Namespace) -> Namespace {
        Namespace(database ?? namespace.database, collection)
    }

    func sink(
        into next: any PipelineSink, _ run: PipelineRun
    ) throws(StoreError) -> any PipelineSink {
        let namespace = target(from: run.namespace)
        try namespace.check()
        let target = try run.source.target()
        return BlockingSink(next, PipelineMemory("$out", PipelineMemory.bytesMaxWithDiskUse)) {
            (documents, _) throws(StoreError) in
            try target.fill(namespace, documents)
        }
    }
}
