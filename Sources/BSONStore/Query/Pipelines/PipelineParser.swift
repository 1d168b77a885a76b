/// A parser for the stages of a pipeline, including nested pipelines.
struct PipelineParser: Sendable {
    /// The place of a pipeline, which determines the stages that it may have.
    enum Place: Sendable, Hashable {
        case command
        case facet
        case lookup
        case unionWith
        case update
    }

    /// The maximum number of stages in a pipeline.
    static let stagesMax = 1_000
    /// The maximum depth of nested pipelines.
    static let depthMax = 20

    /// The variables that expressions may name.
    var scope: ExpressionScope
    /// The collation of texts.
    var collation: Collation?
    /// The additional first stages of the caller.
    let sources: [String: ServerStage]
    private(set) var place = Place.command
    private var depth = 0

    init(
        scope: ExpressionScope, collation: Collation?,
        sources: [String: ServerStage] = [:]
    ) {
        self.scope = scope
        self.scope.collation = collation
        self.collation = collation
        self.sources = sources
    }

    /// Returns a parser for a pipeline inside a stage.
    ///
    /// - Throws: 232 if they are nested too deeply.
    func nested(in place: Place) throws(StoreError) -> PipelineParser {
        var parser = self
        parser.place = place
        if place != .facet { parser.depth += 1 }
        guard parser.depth <= Self.depthMax else {
            throw StoreError(
                .maxSubPipelineDepthExceeded,
                "Maximum number of nested sub-pipelines exceeded. Limit is \(Self.depthMax)")
        }
        return parser
    }

    /// Parses the stages in order.
    ///
    /// - Throws: 17313, 40323, 40324, 40600, 40601, 40602 and the errors of the stages.
    func stages(_ array: BSONArray) throws(StoreError) -> [any PipelineStage] {
        let entries = try entries(array)
        var stages: [[any PipelineStage]] = []
        for entry in entries { stages.append(try parse(entry)) }
        for (index, entry) in entries.enumerated() {
            try checkPlace(entry, stages[index])
            try checkPosition(entry, isFirst: index == 0, isLast: index == entries.count - 1)
            // `$facet` refuses every search itself.
            if index > 0, place != .facet { try checkSearch(stages[index]) }
        }
        return stages.flatMap { $0 }
    }

    private typealias Entry = (name: String, argument: BSONValue)

    /// Returns the names with their arguments after checking that all names are known.
    private func entries(_ array: BSONArray) throws(StoreError) -> [Entry] {
        var entries: [Entry] = []
        for value in array {
            guard case .document(let document) = value else {
                throw StoreError(
                    .typeMismatch, "Each element of the 'pipeline' array must be an object")
            }
            var elements = document.makeIterator()
            guard let (name, argument) = elements.next(), elements.next() == nil else {
                throw StoreError(
                    .stageNotSingleField,
                    "A pipeline stage specification object must contain exactly one field.")
            }
            guard place != .facet || !StageDefinition.unsupportedSources.contains(name) else {
                throw Self.notInFacet(name)
            }
            guard place != .update || !StageDefinition.unknownToUpdates.contains(name) else {
                throw Self.notInUpdate(name)
            }
            guard StageDefinition.all[name] != nil || sources[name] != nil else {
                throw StoreError(
                    .unknownStage,
                    "Unrecognized pipeline stage name: '\(name)'")
            }
            entries.append((name, argument))
        }
        guard entries.count <= Self.stagesMax else {
            throw StoreError(
                .failedToParse,
                "Pipeline length must be no longer than \(Self.stagesMax) stages")
        }
        return entries
    }

    private func parse(_ entry: Entry) throws(StoreError) -> [any PipelineStage] {
        if let source = sources[entry.name] {
            try source.check(entry.argument)
            return [ExternalSourceStage(source: source, argument: entry.argument)]
        }
        guard let rule = StageDefinition.all[entry.name] else { return [] }
        return try rule.parse(entry.argument, self)
    }

    private func checkPlace(
        _ entry: Entry, _ stages: [any PipelineStage]
    ) throws(StoreError) {
        let rule = StageDefinition.all[entry.name]
        let isSource =
            rule == nil && !StageDefinition.statisticsOfCollections.contains(entry.name)
        switch place {
        case .command: return
        case .facet:
            guard rule?.isAllowedInFacet == true else { throw Self.notInFacet(entry.name) }
            if let name = Self.forbiddenInFacet(within: entry.name, entry.argument) {
                throw Self.notInFacet(name)
            }
        case .lookup where isSource || rule?.isAllowedInSubpipeline == false:
            throw StoreError(
                .stageNotAllowedInLookup,
                "\(entry.name) is not allowed within a $lookup's sub-pipeline")
        case .unionWith where isSource || rule?.isAllowedInSubpipeline == false:
            throw StoreError(
                .stageNotAllowedInUnion,
                "\(entry.name) is not allowed within a $unionWith's sub-pipeline")
        case .update where !stages.allSatisfy({ $0 is ProjectStage || $0 is ReplaceRootStage }):
            // What a stage consists of decides: `$fill` with values only is an `$addFields`.
            throw Self.notInUpdate(entry.name)
        case .lookup, .unionWith, .update: return
        }
    }

    private static func notInUpdate(_ name: String) -> StoreError {
        StoreError(.invalidOptions, "\(name) is not allowed to be used within an update")
    }

    private static func notInFacet(_ name: String) -> StoreError {
        StoreError(
            .stageNotAllowedInFacet, "\(name) is not allowed to be used within a $facet stage")
    }

    /// Returns the name of a stage in the pipeline of another that `$facet` does not allow, and of the
    /// stage around it; `nil` if there is none.
    private static func forbiddenInFacet(
        within stage: String, _ argument: BSONValue
    ) -> String? {
        guard case .array(let stages)? = argument.documentValue?["pipeline"] else { return nil }
        for inner in stages {
            guard let (name, argument) = inner.documentValue?.firstElement else { continue }
            guard StageDefinition.all[name]?.isAllowedInFacet == true else {
                return "\(name) inside of \(stage)"
            }
            if let found = forbiddenInFacet(within: name, argument) { return found }
        }
        return nil
    }

    /// Checks that a stage behind the first one does not search for text.
    ///
    /// Source: the server's `pipeline.cpp`, `validateCommon`.
    private func checkSearch(_ stages: [any PipelineStage]) throws(StoreError) {
        for case let match as MatchStage in stages where match.filter.waitsForText {
            throw StoreError(
                .textMatchNotFirst,
                "$match with $text is only allowed as the first pipeline stage")
        }
    }

    private func checkPosition(
        _ entry: Entry, isFirst: Bool, isLast: Bool
    ) throws(StoreError) {
        switch StageDefinition.all[entry.name]?.position ?? .first {
        case .any: return
        case .first:
            guard !isFirst else { return }
            throw StoreError(
                entry.name == "$geoNear" ? .geoNearNotFirst : .stageNotFirst,
                "\(entry.name) is only valid as the first stage in a pipeline")
        case .last:
            guard !isLast else { return }
            throw StoreError(
                .stageNotLast,
                "\(entry.name) can only be the final stage in the pipeline")
        }
    }

    /// Parses a filter of `$match`.
    ///
    /// - Throws: the errors of a filter.
    func filter(_ document: BSONDocument) throws(StoreError) -> Filter {
        var options = FilterOptions(variables: scope, collation: collation)
        options.isOfQuery = false
        options.defersText = true
        options.inheritsCollation = false
        return try Filter(document, options: options)
    }
}
