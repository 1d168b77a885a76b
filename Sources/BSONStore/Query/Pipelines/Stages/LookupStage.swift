/// A stage that adds an array of the matching documents of another collection.
struct LookupStage: PipelineStage {
    /// The other collection; `nil` if the pipeline provides its own documents.
    var from: String?
    var field: [String] = []
    /// The fields that must be equal.
    var equality: (local: [String], foreign: String)?
    /// The variables of the pipeline, in the order of their slots behind the outer ones.
    var variables: [Expression] = []
    /// All stages on the matching documents; `nil` if they are used unchanged.
    var stages: [any PipelineStage]?
    /// The pipeline if no fields must be equal.
    var pipeline: Pipeline?
    /// Whether the pipeline itself chooses at random, so that its result differs each time.
    var isRandom = false
    /// The other collections that the pipeline reads.
    var others: [String] = []
    let parser: PipelineParser

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw StoreError(.failedToParse, "the $lookup specification must be an Object")
        }
        return [try LookupParser(document, parser).stage()]
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        LookupSink(next, self, run)
    }
}

/// The sink that looks up the matching documents for each document.
final class LookupSink: PipelineSink {
    private let next: any PipelineSink
    private let stage: LookupStage
    private let run: PipelineRun
    private let foreign: Namespace
    private let join: EqualityJoin?
    /// The result of a pipeline that does not depend on the document.
    private var constant: BSONValue?
    /// Whether the result is the same for all documents; `nil` before the first one.
    private var isConstant: Bool?

    init(_ next: any PipelineSink, _ stage: LookupStage, _ run: PipelineRun) {
        self.next = next
        self.stage = stage
        self.run = run
        foreign = Namespace(
            run.namespace.database, stage.from ?? Namespace.databaseAggregate)
        if stage.from != nil, let equality = stage.equality {
            let nested = run.nested(on: foreign, collation: run.collation)
            join = EqualityJoin(
                nested, field: equality.foreign, restriction: nil, stage.parser)
        } else {
            join = nil
        }
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        let found: BSONValue
        if let constant { found = constant } else { found = try self.found(for: document) }
        if isConstant == nil { isConstant = try isSameForAll() }
        if isConstant == true { constant = found }
        return try next.take(NestedField.setting(stage.field, to: found, in: document))
    }

    func finish() throws(StoreError) { try next.finish() }

    /// Whether the pipeline gives the same result for all documents.
    private func isSameForAll() throws(StoreError) -> Bool {
        guard stage.equality == nil, stage.variables.isEmpty, run.frame.values.isEmpty,
            !stage.isRandom
        else { return false }
        for name in [foreign.collection] + stage.others {
            guard try !run.source.choosesAtRandom(Namespace(foreign.database, name)) else {
                return false
            }
        }
        return true
    }

    private func found(for document: BSONDocument) throws(StoreError) -> BSONValue {
        var values = run.frame.values
        let frame = run.frame(for: document)
        for variable in stage.variables { values.append(try variable.evaluate(document, frame)) }
        let nested = run.nested(on: foreign, values: values, collation: run.collation)
        let results = LookupResults(foreign)
        if let pipeline = stage.pipeline {
            try pipeline.run(nested, into: results)
        } else if let equality = stage.equality {
            var wanted = NestedField.values(equality.local, in: document)
            if wanted.isEmpty { wanted = [.null] }
            let first = try Pipeline.chain((stage.stages ?? [])[...], into: results, nested)
            try forEach(wanted, equality.foreign, nested) { (document) throws(StoreError) in
                try first.take(document)
            }
            try first.finish()
        }
        return .array(BSONArray(results.documents))
    }

    /// Calls a body with the documents that have one of the values.
    private func forEach(
        _ values: [BSONValue], _ field: String, _ nested: PipelineRun,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        if let join {
            for document in try join.documents(with: values) {
                guard try body(document) else { return }
            }
        } else if let source = stage.stages?.first as? any PipelineSourceStage {
            let filter = try stage.parser.filter(EqualityJoin.filter(field, values))
            try source.forEach(nested) { (document) throws(StoreError) in
                guard try nested.matches(filter, document) else { return true }
                return try body(document)
            }
        }
    }
}

/// The matching documents for one document.
private final class LookupResults: PipelineSink {
    private(set) var documents: [BSONValue] = []
    private let namespace: Namespace
    private var bytes = 0
    private let holding = MemoryHolding.begin("$lookup")

    init(_ namespace: Namespace) { self.namespace = namespace }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        bytes += document.byteCount + 8
        guard bytes <= ExpressionLimits.bytesMax else {
            throw .location(
                4568,
                "Total size of documents in \(namespace.collection) matching pipeline's $lookup "
                    + "stage exceeds \(ExpressionLimits.bytesMax) bytes")
        }
        try holding?.add(document.byteCount + 8)
        documents.append(.document(document))
        return true
    }

    func finish() {}
}

/// A parser for the argument of `$lookup`.
private struct LookupParser {
    private let fields: StageArguments
    private let parser: PipelineParser
    private let pipeline: BSONArray?
    private let origin: BSONValue?

    init(_ document: BSONDocument, _ parser: PipelineParser) throws(StoreError) {
        fields = try StageArguments(
            "$lookup", document,
            known: ["from", "as", "localField", "foreignField", "let", "pipeline"])
        self.parser = parser
        origin = document["from"]
        // Unlike the other fields, null is not the same as none.
        switch document["pipeline"] {
        case nil: pipeline = nil
        case .array(let array): pipeline = array
        default:
            throw StoreError(.typeMismatch, "'pipeline' option must be specified as an array")
        }
    }

    private func from() throws(StoreError) -> String? {
        switch origin {
        case nil: return nil
        case .string(let text): return text
        case .document(let document):
            let names = ["db", "coll"].map { document[$0]?.stringValue ?? "" }
            throw StoreError(
                .failedToParse,
                "$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: "
                    + "\(names[0]) and coll: \(names[1])")
        case .some(let value):
            throw StoreError(
                .failedToParse,
                "$lookup 'from' field must be a string, but found \(value.type.alias)")
        }
    }

    func stage() throws(StoreError) -> LookupStage {
        guard case .string(let name) = try fields.required("as") else {
            throw fields.wrongType("as", try fields.required("as"), "string")
        }
        let from = try self.from()
        let local = try fields.string("localField") ?? ""
        let foreign = try fields.string("foreignField") ?? ""
        let variables = try fields.document("let")
        if from == nil { try checkDocuments() }
        guard pipeline != nil || (!local.isEmpty && !foreign.isEmpty) else {
            throw StoreError(
                .failedToParse,
                "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be "
                    + "specified")
        }
        guard local.isEmpty == foreign.isEmpty else {
            throw StoreError(
                .failedToParse,
                "$lookup requires both or neither of 'localField' and 'foreignField' to be "
                    + "specified")
        }
        guard pipeline != nil || variables == nil else {
            throw StoreError(
                .failedToParse, "$lookup with a 'let' argument must also specify 'pipeline'")
        }
        var stage = LookupStage(parser: parser)
        stage.from = from
        stage.field = try ExpressionPath(name).parts
        if !local.isEmpty {
            _ = try ExpressionPath(foreign)
            stage.equality = (try ExpressionPath(local).parts, foreign)
        }
        try readPipeline(variables, into: &stage)
        if from != nil, let pipeline { try Pipeline.checkFitsCollection(pipeline) }
        return stage
    }

    private func readPipeline(
        _ variables: BSONDocument?, into stage: inout LookupStage
    ) throws(StoreError) {
        guard let pipeline else { return }
        stage.isRandom = RandomChoice.isPart(of: pipeline)
        stage.others = PipelineCollections.read(by: pipeline)
        var nested = try parser.nested(in: .lookup)
        for (name, value) in variables ?? BSONDocument() {
            stage.variables.append(try Expression(value, in: parser.scope))
            try nested.scope.define(name)
        }
        if stage.equality == nil {
            stage.pipeline = try Pipeline(nested: pipeline, nested)
        } else {
            let stages = try nested.stages(pipeline)
            try checkSource(pipeline, stages)
            guard !stages.contains(where: { ($0 as? MatchStage)?.filter.waitsForText ?? false })
            else {
                throw StoreError(
                    .badValue,
                    "$lookup with 'localField' and 'foreignField' cannot have a pipeline with $text"
                )
            }
            stage.stages = stages
        }
    }

    /// Checks that the stage behind the match of the fields does not have to be the first one.
    private func checkSource(
        _ pipeline: BSONArray, _ stages: [any PipelineStage]
    ) throws(StoreError) {
        guard stages.first is ExternalSourceStage || stages.first is GeoNearStage else { return }
        let name = pipeline[0]?.documentValue?.keys.first ?? ""
        throw StoreError(
            .stageNotFirst, "\(name) is only valid as the first stage in a pipeline")
    }

    private func checkDocuments() throws(StoreError) {
        guard let pipeline else {
            throw StoreError(.failedToParse, "must specify 'pipeline' when 'from' is empty")
        }
        guard pipeline[0]?.documentValue?["$documents"] != nil else {
            throw StoreError(
                .failedToParse,
                "$lookup stage without explicit collection must have a pipeline with $documents as "
                    + "first stage")
        }
    }
}
