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
            for name in ["coll", "db"] {
                // As in MongoDB, null counts as missing.
                guard fields[name] != nil else { throw fields.missing(name) }
            }
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

    /// Checks the names of the target.
    ///
    /// In MongoDB the documents go to another collection, whose renaming at the end refuses a dollar
    /// and a name that is too long.
    ///
    /// - Throws: `invalidNamespace` (73), `illegalOperation` (20).
    private static func check(_ namespace: Namespace) throws(StoreError) {
        do throws(StoreError) {
            try namespace.check()
        } catch {
            let name = namespace.collection.utf8
            guard let first = name.first, first != UInt8(ascii: "."), !name.contains(0) else {
                throw error
            }
            try Namespace(namespace.database, "a").check()
            throw StoreError(
                .illegalOperation, "error with target namespace: \(error.message)",
                namespace: namespace)
        }
    }

    func sink(
        into next: any PipelineSink, _ run: PipelineRun
    ) throws(StoreError) -> any PipelineSink {
        let namespace = target(from: run.namespace)
        try Self.check(namespace)
        let target = try run.source.target()
        return BlockingSink(next, PipelineMemory("$out", PipelineMemory.bytesMaxWithDiskUse)) {
            (documents, _) throws(StoreError) in
            try target.fill(namespace, documents)
        }
    }
}
