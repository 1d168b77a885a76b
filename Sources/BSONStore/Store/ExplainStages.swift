/// Builds the tree of stages that an explanation shows.
struct ExplainStages {
    let filter: Filter
    let options: FindOptions
    let plan: QueryPlan

    /// One stage without its input.
    private struct Stage {
        var name: String
        var details: BSONDocument = [:]
        /// What the stage gives on.
        var returned: (ExplainCounts) -> Int32 = { $0.matched }
        /// What the stage read itself.
        var examined: (ExplainCounts) -> BSONDocument = { _ in [:] }
    }

    /// The plan, the last stage outermost.
    var winning: BSONDocument { tree(nil) }

    /// The plan with what each stage did.
    func executed(_ counts: ExplainCounts) -> BSONDocument { tree(counts) }

    private func tree(_ counts: ExplainCounts?) -> BSONDocument {
        var inner: BSONDocument?
        for stage in access + shaping {
            var document: BSONDocument = ["stage": .string(stage.name)]
            if let counts {
                document.append("nReturned", .int32(stage.returned(counts)))
                document.append("executionTimeMillisEstimate", 0)
                for (key, value) in stage.examined(counts) { document.append(key, value) }
            }
            for (key, value) in stage.details { document.append(key, value) }
            if let inner { document.append("inputStage", .document(inner)) }
            inner = document
        }
        return inner ?? ["stage": "EOF"]
    }

    private var filterDetails: BSONDocument {
        filter.isEverything ? [:] : ["filter": .document(filter.document)]
    }

    /// The stages that read, the innermost first.
    private var access: [Stage] {
        switch plan.access {
        case .keys where filter.isDecidedByID:
            return [
                Stage(
                    name: "IDHACK",
                    examined: { ["keysExamined": 1, "docsExamined": .int32($0.documents)] })
            ]
        case .keys(let keys):
            let points = keys.map { key -> BSONValue in
                let text = ShellText.text(of: BSONKey.decode(key) ?? .null)
                return .string("[\(text), \(text)]")
            }
            return [idScan(points, isReversed: false), fetch]
        case .range(let range):
            let isByKey = range.lower != nil || range.upper != nil || range.order != .inserted
            guard isByKey else {
                var details = filterDetails
                details.append("direction", "forward")
                return [
                    Stage(
                        name: "COLLSCAN", details: details,
                        examined: { ["docsExamined": .int32($0.documents)] })
                ]
            }
            let isReversed = range.order == .idDescending
            let texts = ExplainBounds.texts(
                of: "_id", in: filter, isBounded: range.lower != nil || range.upper != nil,
                isReversed: isReversed)
            return [idScan(texts.map { .string($0) }, isReversed: isReversed), fetch]
        case .index(let scan): return [indexScan(scan), fetch]
        }
    }

    private var fetch: Stage {
        Stage(
            name: "FETCH", details: filterDetails,
            examined: { ["docsExamined": .int32($0.documents)] })
    }

    private func idScan(_ bounds: [BSONValue], isReversed: Bool) -> Stage {
        scan(
            .id, isMultikey: false, isReversed: isReversed,
            bounds: ["_id": .array(BSONArray(bounds))])
    }

    private func indexScan(_ scan: IndexScan) -> Stage {
        var bounds: BSONDocument = [:]
        for (key, bound) in zip(scan.index.definition.keys, scan.bounds) {
            let texts = ExplainBounds.texts(
                of: key.path, in: filter, isBounded: bound != nil,
                isReversed: scan.isReversed != (key.kind == .descending))
            bounds.append(key.path, .array(BSONArray(texts.map { .string($0) })))
        }
        return self.scan(
            scan.index.definition, isMultikey: scan.index.isMultikey,
            isReversed: scan.isReversed, bounds: bounds)
    }

    private func scan(
        _ index: IndexDefinition, isMultikey: Bool, isReversed: Bool, bounds: BSONDocument
    ) -> Stage {
        Stage(
            name: "IXSCAN",
            details: [
                "keyPattern": .document(index.keyPattern), "indexName": .string(index.name),
                "isMultiKey": .bool(isMultikey), "isUnique": .bool(index.isUnique),
                "isSparse": .bool(index.isSparse),
                "isPartial": .bool(index.partialFilter != nil), "indexVersion": 2,
                "direction": isReversed ? "backward" : "forward",
                "indexBounds": .document(bounds),
            ],
            returned: { $0.documents }, examined: { ["keysExamined": .int32($0.keys)] })
    }

    /// The stages that order and cut what was read.
    private var shaping: [Stage] {
        var stages: [Stage] = []
        let isSorting = options.sort != nil && !plan.isSorted
        let end = options.limit == 0 ? Int.max : options.skip + options.limit
        if isSorting, let sort = options.sort {
            var details: BSONDocument = [
                "sortPattern": .document(sort.pattern), "memLimit": 104_857_600,
            ]
            if end < Int.max { details.append("limitAmount", .int64(Int64(end))) }
            details.append("type", "simple")
            stages.append(
                Stage(
                    name: "SORT", details: details,
                    returned: { min($0.matched, Int32(clamping: end)) }))
        }
        if options.skip > 0 {
            let skip = Int32(clamping: options.skip)
            stages.append(
                Stage(
                    name: "SKIP", details: ["skipAmount": .int32(skip)],
                    returned: { max(0, $0.matched - skip) }))
        }
        if options.projection != nil {
            stages.append(Stage(name: "PROJECTION_DEFAULT", returned: { $0.returned }))
        }
        if options.limit > 0, !isSorting {
            stages.append(
                Stage(
                    name: "LIMIT",
                    details: ["limitAmount": .int32(Int32(clamping: options.limit))],
                    returned: { $0.returned }))
        }
        return stages
    }
}

extension SortOrder {
    /// The order as a key pattern.
    fileprivate var pattern: BSONDocument {
        BSONDocument(
            keys.map { ($0.path.description, .int32($0.isDescending ? -1 : 1)) })
    }
}
