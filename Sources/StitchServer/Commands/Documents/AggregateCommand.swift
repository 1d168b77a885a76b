internal import BSONStore

/// Runs a pipeline.
///
/// Source: MongoDB manual, "aggregate"; the server's `aggregate_command.idl`.
enum AggregateCommand {
    static let definition = CommandDefinition(
        "aggregate", aliases: [],
        [
            .read, .takesWriteConcern, .takesSnapshot, .writesResults, .readsServerCollection,
        ],
        fields: [
            "pipeline": .array, "explain": .flag, "allowDiskUse": .bool, "cursor": .document,
            "bypassDocumentValidation": .flag, "collation": .document, "hint": .hint,
            "let": .document, "needsMerge": .bool, "fromMongos": .bool, "fromRouter": .any,
            "exchange": .document, "runtimeConstants": .document, "isMapReduceCommand": .bool,
            "collectionUUID": .any, "requestReshardingResumeToken": .bool,
            "encryptionInformation": .document, "querySettings": .document,
            "includeQueryStatsMetrics": .flag,
        ], required: [],
        privileges: .arguments(orElse: .read), underRules: .reads(.documents),
        gateway: .upstreamOrStream,
        statements: nil, cursor: .opens,
        .parsed { call, backend in
            let runs = backend != nil && !call.flag("explain")
            let parsed = ParsedAggregate(call, runs ? backend : nil)
            return ParsedCommand(needs: needs(parsed, call)) { try run(parsed, call, $0) }
        })

    /// Returns the access that a pipeline needs.
    static func needs(_ parsed: ParsedAggregate, _ call: CommandCall) -> [AccessNeed] {
        // All users may list their own sessions.
        guard !call.listsSessionsAlone else { return [] }
        // Denied writes and conflicts are for operators, not for every reader.
        var needs = [
            AccessNeed(
                call.readsServerCollection ? .databaseAdministration : .read, on: call.database)
        ]
        let targets = parsed.target.map { [$0] } ?? StagePlaces(call).written
        needs += targets.map { AccessNeed(.write, to: $0) }
        if parsed.isForCluster { needs.append(AccessNeed(.read, on: "")) }
        return call.readsServerCollection ? needs : needs + Authorization.needsForNamed(call)
    }

    /// Runs the pipeline of a command.
    static func run(
        _ parsed: ParsedAggregate, _ call: CommandCall, _ backend: StoreBackend
    ) throws -> CommandOutcome {
        let namespace = try parsed.namespace.get()
        let request = try parsed.request.get()
        if call.flag("explain") {
            guard call["writeConcern"] == nil else {
                throw CommandFailure(
                    .failedToParse, "Aggregation explain does not support the'writeConcern' option")
            }
            return .reply(try ExplainReply(call, .queryPlanner).aggregation(parsed, backend))
        }
        try checkCursor(call)
        let batchSize = try CursorArgument.batchSize(call)
        try request.checkTransaction(call)
        switch parsed.work {
        case .refused(let error): throw error
        case .stream(let stage):
            return try watch(stage, request, namespace, call, backend, batchSize: batchSize)
        case .pipeline: try request.checkSplit()
        }
        let ruleGuard = try backend.rules.ruleGuard(call)
        let source = try collect(parsed, call, backend) {
            ResultCollector(backend.spools, of: call.cursorOwner)
        } append: { (result, document) throws(StoreError) in
            try result.append(document)
        } end: { (result) throws(StoreError) in
            try result.source()
        }
        return try CursorReply.open(
            source, namespace, call, on: backend, under: ruleGuard, batchSize: batchSize)
    }

    /// Returns the documents of a pipeline other than a change stream, after its writes.
    ///
    /// - Throws: 10334 for documents that do not fit into a reply.
    static func documents(
        _ parsed: ParsedAggregate, _ call: CommandCall, _ backend: StoreBackend,
        failing: String = "PlanExecutor error during aggregation"
    ) throws -> [BSONDocument] {
        try collect(parsed, call, backend, failing: failing) {
            (documents: [BSONDocument](), bytes: 0)
        } append: { (result, document) throws(StoreError) in
            result.bytes += document.byteCount
            guard result.bytes <= BatchLimits.bytesMax else {
                throw ExpressionLimits.tooLarge(result.bytes)
            }
            result.documents.append(document.compacted())
        } end: { (result) throws(StoreError) in
            result.documents
        }
    }

    private static func collect<Collected, R: Sendable>(
        _ parsed: ParsedAggregate, _ call: CommandCall, _ backend: StoreBackend,
        failing: String = "PlanExecutor error during aggregation",
        _ begin: @escaping @Sendable () -> Collected,
        append: @escaping @Sendable (inout Collected, BSONDocument) throws(StoreError) -> Void,
        end: @escaping @Sendable (inout Collected) throws(StoreError) -> R
    ) throws -> R {
        let namespace = try parsed.namespace.get()
        let request = try parsed.request.get()
        let pipeline = try parsed.pipeline
        if pipeline.writes, let level = call.document("readConcern")?["level"]?.stringValue,
            level == "linearizable"
        {
            throw CommandFailure(
                .invalidOptions,
                "\(request.lastStage) cannot be used with a 'linearizable' read concern level")
        }
        let target = parsed.target
        if let target { try OutputCollection(target, by: request.lastStage).checkName() }
        let gather: @Sendable (ReadTransaction) throws -> R = { transaction in
            var result = begin()
            // A view's documents come from its pipeline, which takes no hint.
            let isView = try transaction.options(namespace)?.view != nil
            if !isView { try CommandCall.checkHint(call["hint"], namespace, in: transaction) }
            let pipeline = isView ? pipeline.withoutHint : pipeline
            do {
                if let target {
                    try OutputCollection(target, by: request.lastStage).check(transaction)
                }
                try transaction.aggregate(namespace, pipeline, now: call.time.now) {
                    (document) throws(StoreError) in
                    try call.checkBudget()
                    try append(&result, document)
                    return true
                }
            } catch {
                throw CommandFailure.framed(error, failing)
            }
            return try end(&result)
        }
        guard pipeline.writes else { return try backend.read(call, gather) }
        let keepsInserts = request.isInsertingMerge
        let result = try backend.write(call) { transaction -> Result<R, any Error> in
            do {
                return .success(try gather(transaction))
            } catch let error as StoreError where keepsInserts && error.code == .duplicateKey {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Checks that a command which does not explain asks for a cursor.
    ///
    /// - Throws: 9 (FailedToParse).
    static func checkCursor(_ call: CommandCall) throws(CommandFailure) {
        guard call["cursor"] == nil else { return }
        throw CommandFailure(
            .failedToParse,
            "The 'cursor' option is required, except for aggregate with the explain argument")
    }

    /// Checks the read concern of a change stream.
    ///
    /// - Throws: 72 (InvalidOptions).
    static func checkStreamConcern(_ call: CommandCall) throws(CommandFailure) {
        let level = call.document("readConcern")?["level"]?.stringValue ?? "majority"
        guard level != "majority" else { return }
        throw CommandFailure(
            .invalidOptions,
            "Aggregation stage $changeStream cannot run with a readConcern other than "
                + "'majority'. Current readConcern: \(level)")
    }

    private static func watch(
        _ stage: Result<ChangeStreamStage, any Error>, _ request: AggregateRequest,
        _ namespace: Namespace, _ call: CommandCall, _ backend: StoreBackend, batchSize: Int?
    ) throws -> CommandOutcome {
        try checkStreamConcern(call)
        let stage = try stage.get()
        guard try !backend.read(call, { try $0.isView(namespace) }) else {
            throw StoreError.view(namespace)
        }
        let ruleGuard = try backend.rules.ruleGuard(call)
        let source = try ChangeStreamSource(
            backend.store, backend.rules, stage,
            try ChangeStreamScope(namespace, isForCluster: stage.isForCluster),
            rest: request.rest,
            options: PipelineOptions(
                let: call.document("let"), collation: try call.collation()
            ).with(ServerSources(backend, for: call).byName),
            now: backend.server.clock.now, under: ruleGuard, holding: call.heldQueryBytes)
        return try CursorReply.open(
            source, namespace, call, on: backend, under: ruleGuard, batchSize: batchSize,
            options: CursorOptions(isTailable: true, awaitsData: true))
    }

    /// Returns the collection, or the name that stands for the whole database.
    static func target(_ call: CommandCall) throws(CommandFailure) -> Namespace {
        guard call.target.stringValue == nil else { return try call.collection() }
        guard call.target.isNumber else {
            throw CommandFailure(
                .typeMismatch, "collection name has invalid type: \(call.target.type)")
        }
        guard call.target.wholeNumber == 1 else {
            throw CommandFailure(
                .failedToParse,
                "Invalid command format: the 'aggregate' field must specify a collection name or 1")
        }
        return Namespace(call.database, "$cmd.aggregate")
    }
}

/// The arguments of an `aggregate` that concern the pipeline.
struct AggregateRequest: Sendable {
    private let stages: BSONArray

    init(_ call: CommandCall) throws(CommandFailure) {
        guard let stages = call.array("pipeline") else {
            throw CommandFailure(
                40414, "BSON field 'aggregate.pipeline' is missing but a required field")
        }
        self.stages = stages
        for stage in stages where stage.documentValue == nil {
            throw CommandFailure(
                .typeMismatch, "Each element of the 'pipeline' array must be an object")
        }
    }

    /// Whether the last stage is a `$merge` that only inserts; as in MongoDB, what it inserted
    /// stays when other documents are already there.
    ///
    /// Source: functional-tests, merge/test_stages_merge_when_matched.py
    var isInsertingMerge: Bool {
        let merge = stages.values.last?.documentValue?["$merge"]?.documentValue
        return merge?["whenMatched"] == "fail"
    }

    /// The stages that are not allowed in transactions.
    private static let alone: Set<String> = [
        "$changeStream", "$collStats", "$currentOp", "$indexStats", "$listLocalSessions",
        "$listSessions", "$merge", "$out", "$planCacheStats",
    ]

    /// Refuses these stages in a transaction.
    ///
    /// - Throws: 263 (OperationNotSupportedInTransaction).
    func checkTransaction(_ call: CommandCall) throws(CommandFailure) {
        guard call.transaction?.isTransaction == true else { return }
        let stage = NestedStages.list(stages).first { Self.alone.contains($0.name) }
        guard let name = stage?.name else { return }
        throw CommandFailure(
            263,
            "Operation not permitted in transaction :: caused by :: Aggregation stage \(name) "
                + "cannot run within a multi-document transaction")
    }

    /// Returns the options of `$changeStream` if the pipeline begins with it.
    ///
    /// - Throws: 40602 when it is not the first stage.
    func changeStream() throws(CommandFailure) -> BSONValue? {
        let places = stages.enumerated().filter {
            $0.element.documentValue?.keys.first == ChangeStreamStage.name
        }
        guard let first = places.first else { return nil }
        guard first.offset == 0, places.count == 1 else { throw ChangeStreamStage.mustBeFirst }
        return first.element.documentValue?[ChangeStreamStage.name]
    }

    /// Refuses `$changeStreamSplitLargeEvent` outside of change streams.
    ///
    /// - Throws: 7182800, 20 (IllegalOperation).
    func checkSplit() throws(CommandFailure) {
        for stage in stages {
            if let argument = stage.documentValue?[SplitEvent.stage] {
                try SplitEvent.refuse(argument)
            }
        }
    }

    /// The stages after the first.
    var rest: BSONArray { BSONArray(stages.dropFirst()) }

    /// Parses the pipeline.
    ///
    /// - Throws: the errors of the stages.
    func pipeline(for call: CommandCall, _ backend: StoreBackend? = nil) throws -> Pipeline {
        var options = PipelineOptions(
            let: call.document("let"), collation: try call.collation(),
            allowDiskUse: call["allowDiskUse"]?.isTrue ?? true)
        if let backend { options.serverStages = ServerSources(backend, for: call).byName }
        options.hint = try call.hint()
        do {
            return try Pipeline(stages, options: options)
        } catch {
            throw CommandFailure.framed(error, of: .optimization, "Failed to optimize pipeline")
        }
    }

    /// The name of the last stage.
    var lastStage: String { stages.values.last?.documentValue?.keys.first ?? "" }

    /// Splits the pipeline into leading stages that a query answers, and the rest.
    func leading() -> (query: [BSONDocument], rest: [BSONDocument]) {
        let all = stages.compactMap(\.documentValue)
        let order = ["$match", "$sort", "$skip", "$limit"]
        var last = 0
        var count = 0
        for stage in all {
            guard let name = stage.keys.first, let place = order.firstIndex(of: name),
                place >= last, place == 0 || place > last || count == 0
            else { break }
            last = place
            count += 1
        }
        return (Array(all.prefix(count)), Array(all.dropFirst(count)))
    }
}
