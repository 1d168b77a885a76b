/// A stage that removes parts of documents; an expression decides at every level.
struct RedactStage: PipelineStage {
    let expression: Expression

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        [RedactStage(expression: try Expression(value, in: parser.scope))]
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        MappingSink(next) { (document) throws(StoreError) in
            try redacted(document, run.frame(for: document))
        }
    }

    private func redacted(
        _ document: BSONDocument, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONDocument? {
        let answer = try expression.evaluate(document, frame)
        switch answer {
        case .string("keep"): return document
        case .string("prune"): return nil
        case .string("descend"): break
        default:
            throw .location(
                17053,
                "$redact's expression should not return anything aside from the variables "
                    + "$$KEEP, $$DESCEND, and $$PRUNE, but returned "
                    + ExpressionText.text(of: answer))
        }
        var result = BSONDocument()
        for (key, value) in document {
            if let kept = try redacted(value, frame) { result.append(key, kept) }
        }
        return result
    }

    private func redacted(
        _ value: BSONValue, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONValue? {
        switch value {
        case .document(let document):
            guard let kept = try redacted(document, frame) else { return nil }
            return .document(kept)
        case .array(let array):
            var values: [BSONValue] = []
            for value in array {
                if let kept = try redacted(value, frame) { values.append(kept) }
            }
            return .array(BSONArray(values))
        default: return value
        }
    }
}
