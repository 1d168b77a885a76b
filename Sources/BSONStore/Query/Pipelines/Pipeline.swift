/// A parsed aggregation pipeline that computes documents from a collection, stage by stage.
///
/// A pipeline is parsed once and runs any number of times. Its stages are those of MongoDB 7.0. The
/// store executes the first stages (`$match`, `$sort`, `$skip`, `$limit`) itself, from an index if
/// possible.
///
/// Source: MongoDB manual, "Aggregation Pipeline".
public struct Pipeline: Sendable {
    /// The part of the pipeline that the collection executes.
    struct Access: Sendable {
        var filters: [BSONDocument] = []
        var filter = Filter.all
        var sort: SortOrder?
        var skip = 0
        var limit = 0
    }

    let access: Access
    /// The remaining stages, behind those that the collection executes.
    let stages: [any PipelineStage]
    private var options: PipelineOptions
    private let source: BSONArray
    private let variables: CommandVariables
    private let isCollectionless: Bool
    private let firstName: String?
    private let requested: RequestedMetadata

    /// Parses a pipeline.
    ///
    /// - Throws: 40323, 40324 and others with MongoDB's text for an invalid pipeline.
    public init(
        _ stages: BSONArray, options: PipelineOptions = PipelineOptions()
    ) throws(StoreError) {
        let collation = options.collation?.unlessSimple
        let variables = try CommandVariables(options.let, collation: collation)
        let parser = PipelineParser(
            scope: variables.scope, collation: collation, sources: options.added)
        try self.init(stages, parser, options, variables)
    }

    /// Parses the pipeline inside a stage.
    init(nested stages: BSONArray, _ parser: PipelineParser) throws(StoreError) {
        try self.init(stages, parser, Self.options(parser), CommandVariables(nil))
    }

    private static func options(_ parser: PipelineParser) -> PipelineOptions {
        var options = PipelineOptions()
        options.collation = parser.collation
        return options
    }

    private init(
        _ array: BSONArray, _ parser: PipelineParser, _ options: PipelineOptions,
        _ variables: CommandVariables
    ) throws(StoreError) {
        var planning = PipelinePlanner(stages: try parser.stages(array))
        access = try planning.access(parser)
        var stages = planning.rest()
        for (index, stage) in stages.enumerated() {
            guard let group = stage as? GroupStage else {
                guard stage is CountGroupStage else { break }
                continue
            }
            stages[index] = group.ofQuery
        }
        self.stages = stages
        self.options = options
        self.variables = variables
        source = array
        requested = RequestedMetadata(in: .array(array))
        try PipelineMetadata.check(array, searches: access.filter.waitsForText)
        firstName = array.first { _ in true }?.documentValue?.keys.first
        isCollectionless =
            firstName.flatMap { StageDefinition.all[$0] }?.isCollectionless ?? false
    }

    /// Returns the pipeline with a collection's default collation, unless it specifies its own.
    package func adapted(to collation: Collation?) throws(StoreError) -> Pipeline {
        guard let collation, options.collation == nil else { return self }
        var options = options
        options.collation = collation
        return try Pipeline(source, options: options)
    }

    /// Whether the options name a collation, which may be the comparison of bytes.
    package var namesCollation: Bool { options.collation != nil }

    /// The collation that the options name; `nil` for the comparison of bytes, or if they name none.
    package var namedCollation: Collation? { options.collation?.unlessSimple }

    /// The names of the collections that stages read in addition to the pipeline's own.
    package var foreignCollections: [String] { PipelineCollections.read(by: source) }

    /// The pipeline without its index hint, for a collection that has no index of that name.
    public var withoutHint: Pipeline {
        var pipeline = self
        pipeline.options.hint = nil
        return pipeline
    }

    /// Whether the last stage writes documents.
    public var writes: Bool { stages.last is any PipelineWritingStage }

    /// Returns the collection that the last stage writes, for a pipeline on `namespace`; `nil` if
    /// none.
    package func target(from namespace: Namespace) -> Namespace? {
        (stages.last as? any PipelineWritingStage)?.target(from: namespace)
    }

    /// Calls a body with the resulting documents until it returns false.
    ///
    /// - Parameters:
    ///   - namespace: the collection; one named "$cmd.aggregate" stands for the database, which
    ///     `$documents` requires.
    ///   - now: the value of `$$NOW`.
    /// - Throws: the errors of the stages and of the body.
    package func run(
        on namespace: Namespace, from source: any AggregationSource, now: BSONDatetime,
        _ body: @escaping (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try check(namespace)
        let run = PipelineRun(
            source: source, namespace: namespace, frame: try variables.frame(now: now),
            collation: namedCollation,
            bytesMax: options.allowDiskUse
                ? PipelineMemory.bytesMaxWithDiskUse : PipelineMemory.bytesMax)
        let last = ClosureSink(body)
        try self.run(run, into: last)
    }

    /// Runs the stages and then finishes the sink.
    func run(_ run: PipelineRun, into last: any PipelineSink) throws(StoreError) {
        if let count = stages.first as? any CountingStage, !run.isDatabase {
            let found = try run.source.count(run.namespace, selection(run))
            let sink = try Self.chain(stages.dropFirst(), into: last, run)
            return try Self.execute { () throws(StoreError) in
                if let document = try count.document(of: found, run) { _ = try sink.take(document) }
                try sink.finish()
            }
        }
        run.asksForSortKey = requested.contains(.sortKey)
        let first = try Self.chain(stages[...], into: last, run)
        if let source = stages.first as? any PipelineSourceStage {
            try Self.execute { () throws(StoreError) in
                try source.forEach(run) { (document) throws(StoreError) in
                    try first.take(document)
                }
            }
        } else if !run.isDatabase {
            let scored =
                access.filter.waitsForText
                ? try run.source.completed(access.filter, run.namespace) : nil
            let selection = selection(run)
            let placement = try placement(run, selection)
            // An error before the first document still concerns the query.
            try run.source.forEach(run.namespace, selection) {
                (document) throws(StoreError) in
                if let scored { run.metadata = scored.metadata(of: document) }
                if let placement {
                    run.metadata.merge(try placement.metadata(of: document)) { $1 }
                }
                if let sort = access.sort { run.noteSortKey(of: document, sort) }
                return try first.take(document)
            }
        }
        run.metadata = [:]
        try Self.execute { () throws(StoreError) in try first.finish() }
    }

    /// Runs a body whose errors occur while documents pass the stages.
    private static func execute(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try body()
        } catch {
            throw error.phase == .preparation ? error : error.during(.execution)
        }
    }

    /// Returns the sink of the first stage in a chain that ends at another sink.
    static func chain(
        _ stages: ArraySlice<any PipelineStage>, into last: any PipelineSink, _ run: PipelineRun
    ) throws(StoreError) -> any PipelineSink {
        var sink = last
        for stage in stages.reversed() { sink = try stage.sink(into: sink, run) }
        return sink
    }

    private func placement(
        _ run: PipelineRun, _ selection: AggregationSelection
    ) throws(StoreError) -> (any DocumentPlacement)? {
        let placement = requested.intersection(.placement)
        guard !placement.isEmpty else { return nil }
        return try run.source.placement(run.namespace, selection, placement)
    }

    private func selection(_ run: PipelineRun) -> AggregationSelection {
        AggregationSelection(
            filter: access.filter.bound(to: run.frame), sort: access.sort,
            sortBytesMax: run.bytesMax, skip: access.skip,
            limit: access.limit, hint: options.hint, frame: run.frame)
    }

    private func check(_ namespace: Namespace) throws(StoreError) {
        let isDatabase = namespace.collection == Namespace.databaseAggregate
        guard let firstName else {
            guard !isDatabase else {
                throw StoreError(
                    .invalidNamespace, "{aggregate: 1} is not valid for an empty pipeline.")
            }
            return
        }
        if options.added[firstName] != nil { return }
        guard !isDatabase || isCollectionless else {
            throw StoreError(
                .invalidNamespace,
                "{aggregate: 1} is not valid for '\(firstName)'; a collection is required.")
        }
        if !isDatabase { try Self.checkFitsCollection(source) }
    }

    /// Checks that stages on a collection do not begin with one that belongs to no collection.
    ///
    /// - Throws: 73 (InvalidNamespace).
    static func checkFitsCollection(_ stages: BSONArray) throws(StoreError) {
        guard let name = stages[0]?.documentValue?.keys.first,
            StageDefinition.all[name]?.isCollectionless == true
        else { return }
        throw StoreError(.invalidNamespace, "'\(name)' can only be run with {aggregate: 1}")
    }
}

/// A last stage that writes documents instead of returning them.
protocol PipelineWritingStage: PipelineStage {
    /// Returns the collection that it writes, in a pipeline on `namespace`.
    func target(from namespace: Namespace) -> Namespace
}

/// A stage that needs only the number of its documents.
protocol CountingStage: PipelineStage {
    /// Returns the document for a number; `nil` if the stage returns none.
    func document(of count: Int, _ run: PipelineRun) throws(StoreError) -> BSONDocument?
}

extension Namespace {
    /// The collection name that stands for a whole database in a pipeline's namespace.
    package static let databaseAggregate = "$cmd.aggregate"
}

extension PipelineRun {
    /// Whether the pipeline runs on a database.
    var isDatabase: Bool { namespace.collection == Namespace.databaseAggregate }
}
