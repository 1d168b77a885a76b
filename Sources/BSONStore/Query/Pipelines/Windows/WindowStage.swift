/// A stage that adds fields computed from the documents around each document.
///
/// Source: MongoDB manual, "$setWindowFields (aggregation)".
struct WindowStage: PipelineStage {
    /// A field with its window function.
    struct Output: Sendable {
        let path: [String]
        let function: any WindowFunction
    }

    private let partitionBy: Expression?
    private let order: SortOrder?
    private let outputs: [Output]

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw StoreError(
                .failedToParse,
                "the $setWindowFields stage specification must be an object, found "
                    + value.type.alias)
        }
        return [try WindowStage(document, parser)]
    }

    private init(_ document: BSONDocument, _ parser: PipelineParser) throws(StoreError) {
        let fields = try StageArguments(
            "$setWindowFields", document, known: ["partitionBy", "sortBy", "output"])
        // A wrong type is told before a missing field.
        let sortBy = try fields.document("sortBy")
        _ = try fields.required("output")
        let output = try fields.document("output") ?? BSONDocument()
        partitionBy =
            if let value = document["partitionBy"] {
                try Expression(value, in: parser.scope)
            } else {
                nil
            }
        if let sortBy, !sortBy.isEmpty {
            order = try SortStage.order(sortBy, parser)
        } else {
            order = nil
        }
        // An empty `sortBy` is one without keys.
        let keys = sortBy == nil ? nil : order?.keys ?? []
        var outputs: [Output] = []
        var paths = DistinctPaths()
        for (name, value) in output {
            let path = try ExpressionPath(name).parts
            guard try paths.clash(with: path) == nil else {
                throw .location(
                    6_307_900,
                    "$setWindowFields 'output' specification contains two conflicting paths")
            }
            guard case .document(let document) = value else {
                throw StoreError(
                    .failedToParse, "The field '\(name)' must be an object")
            }
            let parsing = WindowFunctionParser(
                document: document, keys: keys, parser: parser)
            outputs.append(Output(path: path, function: try parsing.function()))
        }
        self.outputs = outputs
        // An error of a window function is told before one of a constant partition.
        if case .array?? = partitionBy?.constant { throw Self.arrayPartition }
    }

    private static var arrayPartition: StoreError {
        StoreError(
            .typeMismatch,
            "An expression used to partition cannot evaluate to value of type array")
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        let memory = run.memory("$setWindowFields")
        return BlockingSink(next, memory) { (documents, next) throws(StoreError) in
            for partition in try partitions(of: documents, run) {
                guard try fill(partition, run, next) else { return }
            }
        }
    }

    /// Returns the sorted documents, grouped by key, in the order of the keys.
    private func partitions(
        of documents: [BSONDocument], _ run: PipelineRun
    ) throws(StoreError) -> [WindowPartition] {
        var entries: [(key: [UInt8], sort: [UInt8], place: Int)] = []
        for (place, document) in documents.enumerated() {
            var key: [UInt8] = []
            if let partitionBy {
                let value = try partitionBy.evaluate(document, run.frame(for: document))
                if case .array? = value { throw Self.arrayPartition }
                key = run.key(of: value ?? .null)
            }
            entries.append((key, order?.key(of: document) ?? [], place))
        }
        entries.sort { left, right in
            if WorkBudget.isOver() { return false }
            if left.key != right.key { return left.key.lexicographicallyPrecedes(right.key) }
            if left.sort != right.sort { return left.sort.lexicographicallyPrecedes(right.sort) }
            return left.place < right.place
        }
        var partitions: [WindowPartition] = []
        var last: [UInt8]?
        for entry in entries {
            if entry.key != last { partitions.append(WindowPartition(path: order?.keys.first)) }
            last = entry.key
            partitions[partitions.count - 1].append(documents[entry.place], entry.sort)
        }
        return partitions
    }

    /// Passes the partition's documents on with their new fields, one at a time: a large value in
    /// each of them would not fit into memory.
    ///
    /// - Returns: false if the next stage wants no more.
    private func fill(
        _ partition: WindowPartition, _ run: PipelineRun, _ next: any PipelineSink
    ) throws(StoreError) -> Bool {
        var fields: [(path: [String], values: [BSONValue?])] = []
        for output in outputs {
            fields.append((output.path, try output.function.values(partition, run)))
        }
        for (place, document) in partition.documents.enumerated() {
            try WorkBudget.spend()
            // Fields are set as `$addFields` does.
            var root = AggregationProjection.Node()
            for field in fields {
                let value = Expression(constant: field.values[place] ?? .null)
                try root.insert(.compute(value), at: field.path[...], "")
            }
            let projection = AggregationProjection(kind: .addition, root: root)
            let filled = try projection.apply(to: document, run.frame(for: document))
            guard try next.take(filled) else { return false }
        }
        return true
    }
}

/// The documents of a partition in order.
struct WindowPartition {
    private(set) var documents: [BSONDocument] = []
    /// The keys by which the documents are sorted.
    private(set) var sortKeys: [[UInt8]] = []
    /// The values of the first sort field, null if missing.
    private(set) var sortValues: [BSONValue] = []
    private let path: SortOrder.Key?

    init(path: SortOrder.Key?) { self.path = path }

    mutating func append(_ document: BSONDocument, _ key: [UInt8]) {
        documents.append(document)
        sortKeys.append(key)
        let value = path.flatMap { ExpressionPath(parts: $0.path.parts).value(in: document) }
        sortValues.append(value ?? .null)
    }
}

/// A function that computes a field for all documents of a partition.
protocol WindowFunction: Sendable {
    /// Computes the values in the order of the documents; `nil` counts as null.
    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?]
}

extension Expression {
    /// Computes the values for the documents of a partition.
    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        var values: [BSONValue?] = []
        values.reserveCapacity(partition.documents.count)
        var memory = run.memory("$setWindowFields")
        for document in partition.documents {
            let value = try evaluate(document, run.frame(for: document))
            try memory.add(value.map(BSONWriter.count) ?? 0)
            values.append(value)
        }
        return values
    }
}
