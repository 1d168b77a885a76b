/// A stage that sorts the documents; equal ones keep their order.
struct SortStage: PipelineStage {
    let order: SortOrder
    /// The maximum number of documents; 0 for all.
    var limit = 0

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw .location(15973, "the $sort key specification must be an object")
        }
        guard !document.isEmpty else {
            throw .location(15976, "$sort stage must have at least one sort key")
        }
        return [SortStage(order: try order(document, parser))]
    }

    /// Parses the keys of `$sort` and of similar orders.
    ///
    /// - Throws: 7472500, 13103, 15974, 15975, 17312, 31138 and the errors of invalid paths.
    static func order(
        _ document: BSONDocument, _ parser: PipelineParser
    ) throws(StoreError) -> SortOrder {
        try SortOrder.checkCount(of: document)
        var fields: Set<Name> = []
        for (field, value) in document {
            if case .document(let document) = value {
                guard document.keys.first == "$meta" else {
                    throw StoreError(
                        .sortExpressionNotMeta,
                        "$meta is the only expression supported by $sort right now")
                }
                continue
            }
            guard BSONNumber(value) != nil else {
                throw StoreError(
                    .sortDirectionNotNumber,
                    "Illegal key in $sort specification: \(field): \(ShellText.text(of: value))")
            }
            let direction = value.clampedNumber
            guard direction == 1 || direction == -1 else {
                throw StoreError(
                    .sortDirectionUnknown,
                    "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
            }
            _ = try ExpressionPath(field)
            guard fields.insert(field).inserted else {
                throw .location(
                    7_472_500, "$sort key must not contain duplicate keys (duplicate: '\(field)')")
            }
        }
        return try SortOrder(document, collation: parser.collation)
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        SortingSink(next, order, limit, run)
    }
}
