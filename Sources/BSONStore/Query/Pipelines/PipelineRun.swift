/// Holds what the stages of a pipeline need while it runs.
final class PipelineRun {
    /// Gives and takes documents.
    let source: any AggregationSource
    /// The collection whose documents come first.
    let namespace: Namespace
    /// What expressions see, without a document.
    let frame: ExpressionFrame
    /// How texts compare.
    let collation: Collation?
    /// How many bytes a stage may hold.
    let bytesMax: Int
    /// What `$meta` tells about the document that passes the stages now.
    var metadata: [String: BSONValue] = [:]

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

    /// What expressions see while a document is looked at.
    func frame(for document: BSONDocument) -> ExpressionFrame {
        var frame = frame
        frame.root = document
        frame.metadata = metadata
        return frame
    }

    /// Counts the bytes of a stage.
    func memory(_ stage: String) -> PipelineMemory { PipelineMemory(stage, bytesMax) }

    /// The run of a pipeline inside of a stage, on a collection, with the values of its variables.
    func nested(
        on namespace: Namespace, values: [BSONValue?]? = nil, collation: Collation?
    ) -> PipelineRun {
        var frame = frame
        if let values { frame.values = values }
        return PipelineRun(
            source: source, namespace: namespace, frame: frame, collation: collation,
            bytesMax: bytesMax)
    }

    /// Bytes that are equal when two values are equal for the collation, as group keys are.
    func key(of value: BSONValue) -> [UInt8] {
        BSONKey.encode(collation?.key(value) ?? value)
    }

    /// Orders two values by the collation.
    func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        guard let collation else { return BSONOrder.compare(left, right) }
        return BSONOrder.compare(collation.key(left), collation.key(right))
    }
}
