/// The state that the stages of a running pipeline share.
final class PipelineRun {
    /// The source of documents, and their target.
    let source: any AggregationSource
    /// The collection on which the pipeline runs.
    let namespace: Namespace
    /// The frame for expressions, without a document.
    let frame: ExpressionFrame
    /// The collation of texts.
    let collation: Collation?
    /// The maximum memory of a stage in bytes.
    let bytesMax: Int
    /// The values of `$meta` for the document that is passing the stages.
    var metadata: [String: BSONValue] = [:]
    /// Whether a stage requests the values by which a document sorts.
    var asksForSortKey = false

    init(
        source: any AggregationSource, namespace: Namespace, frame: ExpressionFrame,
        collation: Collation?, bytesMax: Int
    ) {
        self.source = source
        self.namespace = namespace
        self.frame = frame
        self.collation = collation
        self.bytesMax = bytesMax
    }

    /// Returns the frame for expressions on a document.
    func frame(for document: BSONDocument) -> ExpressionFrame {
        var frame = frame
        frame.root = document
        frame.metadata = metadata
        return frame
    }

    /// Adds the values by which a document sorts to its metadata, if a stage requests them.
    func noteSortKey(of document: BSONDocument, _ order: SortOrder) {
        guard asksForSortKey else { return }
        metadata["sortKey"] = .array(order.values(of: document, metadata: metadata))
    }

    /// Returns a memory counter for a stage.
    func memory(_ stage: String) -> PipelineMemory { PipelineMemory(stage, bytesMax) }

    /// Returns the run of a pipeline inside a stage, on a collection, with the values of its
    /// variables.
    func nested(
        on namespace: Namespace, values: [BSONValue?]? = nil, collation: Collation?
    ) -> PipelineRun {
        var frame = frame
        if let values { frame.values = values }
        return PipelineRun(
            source: source, namespace: namespace, frame: frame, collation: collation,
            bytesMax: bytesMax)
    }

    /// Returns bytes that are equal if two values are equal under the collation, as group keys are.
    func key(of value: BSONValue) -> [UInt8] {
        BSONKey.encode(collation?.key(value) ?? value)
    }

    /// Orders two values by the collation.
    func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        guard let collation else { return BSONOrder.compare(left, right) }
        return BSONOrder.compare(collation.key(left), collation.key(right))
    }
}
