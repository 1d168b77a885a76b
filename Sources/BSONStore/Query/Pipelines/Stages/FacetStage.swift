/// A stage that returns one document with the results of several pipelines on the same input.
struct FacetStage: PipelineStage {
    let facets: [(name: String, stages: [any PipelineStage])]

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value, !document.isEmpty else {
            throw .location(
                40169,
                "the $facet specification must be a non-empty object, but found: $facet: "
                    + ShellText.text(of: value))
        }
        let nested = try parser.nested(in: .facet)
        var facets: [(name: String, stages: [any PipelineStage])] = []
        for (name, value) in document {
            let array = try pipeline(name, value)
            let stages = try nested.stages(array)
            guard !stages.contains(where: { ($0 as? MatchStage)?.filter.waitsForText ?? false })
            else {
                throw StoreError(
                    .stageNotAllowedInFacet,
                    "$match with $text is not allowed to be used within a $facet stage")
            }
            facets.append((name, stages))
        }
        return [FacetStage(facets: facets)]
    }

    private static func pipeline(
        _ name: String, _ value: BSONValue
    ) throws(StoreError) -> BSONArray {
        do throws(StoreError) {
            try ExpressionPath.validate(fieldName: name)
        } catch {
            var named = error
            named.message =
                "$facet pipeline names must follow the naming rules of field path expressions. :: "
                + "caused by :: \(error.message)"
            throw named
        }
        guard case .array(let array) = value else {
            throw .location(
                40170, "arguments to $facet must be arrays, \(name) is type \(value.type.alias)")
        }
        for (index, value) in array.enumerated() {
            if case .document = value { continue }
            throw .location(
                40171,
                "elements of arrays in $facet spec must be non-empty objects, \(name) argument "
                    + "contained an element of type \(value.type.alias): \(index): "
                    + ShellText.text(of: value))
        }
        return array
    }

    func sink(
        into next: any PipelineSink, _ run: PipelineRun
    ) throws(StoreError) -> any PipelineSink {
        try FacetSink(next, self, run)
    }
}

/// The sink that feeds the pipelines of `$facet`.
final class FacetSink: PipelineSink {
    /// A pipeline with its results.
    private struct Facet {
        let name: String
        let first: any PipelineSink
        /// Separate from the facet, since the pipeline's last sink retains them.
        let results: FacetResults
        var wantsMore = true
    }

    private let next: any PipelineSink
    private var facets: [Facet] = []
    private let bytes: FacetBytes

    init(
        _ next: any PipelineSink, _ stage: FacetStage, _ run: PipelineRun
    ) throws(StoreError) {
        self.next = next
        bytes = FacetBytes(bytesMax: run.bytesMax)
        for (name, stages) in stage.facets {
            let results = FacetResults()
            let last = ClosureSink { [bytes] (document) throws(StoreError) in
                try bytes.add(document.byteCount)
                results.documents.append(.document(document.compacted()))
                return true
            }
            let first = try Pipeline.chain(stages[...], into: last, run)
            facets.append(Facet(name: name, first: first, results: results))
        }
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        var wantsMore = false
        for index in facets.indices where facets[index].wantsMore {
            facets[index].wantsMore = try facets[index].first.take(document)
            wantsMore = wantsMore || facets[index].wantsMore
        }
        return wantsMore
    }

    func finish() throws(StoreError) {
        var document = BSONDocument()
        for facet in facets {
            try facet.first.finish()
            document.append(facet.name, .array(BSONArray(facet.results.documents)))
        }
        _ = try next.take(document)
        try next.finish()
    }
}

/// The results of one pipeline of `$facet`.
private final class FacetResults {
    var documents: [BSONValue] = []
}

/// The total size of the results of `$facet`, in bytes.
private final class FacetBytes {
    private let bytesMax: Int
    private var bytes = 0
    private let holding = MemoryHolding.begin("$facet")

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    func add(_ count: Int) throws(StoreError) {
        bytes += count
        guard bytes <= bytesMax else {
            throw .location(
                4_031_700,
                "document constructed by $facet is \(bytes) bytes, which exceeds the limit of "
                    + "\(bytesMax) bytes")
        }
        try holding?.add(count)
    }
}
