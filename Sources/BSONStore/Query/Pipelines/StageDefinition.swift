/// The parser of a stage and the places where the stage is allowed.
package struct StageDefinition: Sendable {
    /// The position in a pipeline where a stage is allowed.
    package enum Position: Sendable {
        case any
        case first
        case last
    }

    package var position = Position.any
    /// Whether `$facet` allows the stage.
    var isAllowedInFacet = true
    /// Whether the pipelines of `$lookup` and `$unionWith` allow the stage.
    var isAllowedInSubpipeline = true
    /// Whether the stage runs on a database instead of a collection.
    package var isCollectionless = false
    /// The parser of the stage's argument; it may return several stages.
    let parse: Parse

    typealias Parse =
        @Sendable (BSONValue, PipelineParser) throws(StoreError) -> [any PipelineStage]

    init(_ position: Position = .any, parse: @escaping Parse) {
        self.position = position
        self.parse = parse
    }

    /// Returns the definition of a stage that provides its own documents.
    static func source(isCollectionless: Bool, _ parse: @escaping Parse) -> StageDefinition {
        var rule = StageDefinition(.first, parse: parse)
        rule.isAllowedInFacet = false
        rule.isCollectionless = isCollectionless
        return rule
    }

    /// Returns the definition of a stage that writes documents.
    static func writer(_ parse: @escaping Parse) -> StageDefinition {
        var rule = StageDefinition(.last, parse: parse)
        rule.isAllowedInFacet = false
        rule.isAllowedInSubpipeline = false
        return rule
    }

    /// The stages of a server that describe a collection; the pipelines of `$lookup` and
    /// `$unionWith` may begin with them, but those inside `$facet` may not.
    package static let statisticsOfCollections: Set<String> = [
        "$collStats", "$indexStats", "$planCacheStats",
    ]

    /// The stages of MongoDB that begin a pipeline and that this library does not have; `$facet`
    /// refuses them as such.
    static let unsupportedSources: Set<String> = [
        "$listCatalog", "$listClusterCatalog", "$listSampledQueries", "$querySettings",
        "$queryStats",
    ]

    /// The stages of a server that no update can have.
    static let unknownToUpdates = statisticsOfCollections.union(unsupportedSources).union([
        "$changeStream", "$currentOp", "$listLocalSessions", "$listSessions",
    ])

    /// All stages by name.
    package static let all: [String: StageDefinition] = [
        "$_internalInhibitOptimization": inhibition,
        "$addFields": StageDefinition(parse: ProjectStage.addFields),
        "$bucket": StageDefinition(parse: BucketStage.parse),
        "$bucketAuto": StageDefinition(parse: BucketAutoStage.parse),
        "$count": StageDefinition(parse: CountStage.parse),
        "$densify": StageDefinition(parse: DensifyStage.parse),
        "$documents": .source(isCollectionless: true, DocumentsStage.parse),
        "$facet": facet, "$fill": StageDefinition(parse: FillStage.parse),
        "$geoNear": .source(isCollectionless: false, GeoNearStage.parse),
        "$graphLookup": StageDefinition(parse: GraphLookupStage.parse),
        "$group": StageDefinition(parse: GroupStage.parse),
        "$limit": StageDefinition(parse: LimitStage.parse),
        "$lookup": StageDefinition(parse: LookupStage.parse),
        "$match": StageDefinition(parse: MatchStage.parse), "$merge": .writer(MergeStage.parse),
        "$out": .writer(OutStage.parse), "$project": StageDefinition(parse: ProjectStage.project),
        "$redact": StageDefinition(parse: RedactStage.parse),
        "$replaceRoot": StageDefinition(parse: ReplaceRootStage.replaceRoot),
        "$replaceWith": StageDefinition(parse: ReplaceRootStage.replaceWith),
        "$sample": StageDefinition(parse: SampleStage.parse),
        "$set": StageDefinition(parse: ProjectStage.set),
        "$setWindowFields": StageDefinition(parse: WindowStage.parse),
        "$skip": StageDefinition(parse: SkipStage.parse),
        "$sort": StageDefinition(parse: SortStage.parse),
        "$sortByCount": StageDefinition(parse: GroupStage.parseSortByCount),
        "$unionWith": StageDefinition(parse: UnionStage.parse),
        "$unset": StageDefinition(parse: ProjectStage.unset),
        "$unwind": StageDefinition(parse: UnwindStage.parse),
    ]

    /// A stage of MongoDB's tests that changes nothing: it keeps the server from moving others across it.
    ///
    /// Source: the server's `document_source_internal_inhibit_optimization.cpp`.
    private static let inhibition = StageDefinition { argument, _ throws(StoreError) in
        let name = "$_internalInhibitOptimization"
        guard let document = argument.documentValue else {
            throw StoreError(
                .typeMismatch, "\(name) must take a nested object but found: \(argument)")
        }
        guard document.isEmpty else {
            throw StoreError(
                .invalidOptions, "\(name) must take an empty object but found: \(argument)")
        }
        return []
    }

    private static let facet = {
        var rule = StageDefinition(parse: FacetStage.parse)
        rule.isAllowedInFacet = false
        return rule
    }()
}
