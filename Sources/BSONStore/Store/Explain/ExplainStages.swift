/// A builder of the tree of stages in an explanation.
struct ExplainStages {
    let command: ExplainedCommand
    let filter: Filter
    let options: FindOptions
    let plan: QueryPlan
    /// Whether there is such a collection.
    let exists: Bool

    /// One stage with its inputs.
    struct Stage {
        var name: String
        var details: BSONDocument = [:]
        /// The number of documents that the stage passes on.
        var returned: (ExplainCounts) -> Int32 = { $0.matched }
        /// The documents and keys that the stage itself has read.
        var examined: (ExplainCounts) -> BSONDocument = { _ in [:] }
        var inputs: [Stage] = []

        /// Returns an outer stage with this one as its input.
        func passed(to outer: Stage) -> Stage {
            var outer = outer
            outer.inputs = [self]
            return outer
        }
    }

    /// The plan; its last stage is the outermost.
    var winning: BSONDocument { Self.document(root, nil) }

    /// Returns the plan with the counts of each stage.
    func executed(_ counts: ExplainCounts) -> BSONDocument { Self.document(root, counts) }

    private static func document(_ stage: Stage, _ counts: ExplainCounts?) -> BSONDocument {
        var document: BSONDocument = ["stage": .string(stage.name)]
        if let counts {
            let returned = stage.returned(counts)
            document.append("nReturned", .int32(returned))
            document.append("executionTimeMillisEstimate", 0)
            document.append("works", .int32(returned + 1))
            document.append("advanced", .int32(returned))
            document.append("needTime", 0)
            document.append("needYield", 0)
            document.append("saveState", 0)
            document.append("restoreState", 0)
            document.append("isEOF", 1)
            for (key, value) in stage.examined(counts) { document.append(key, value) }
        }
        for (key, value) in stage.details { document.append(key, value) }
        if stage.inputs.count == 1, let input = stage.inputs.first {
            document.append("inputStage", .document(Self.document(input, counts)))
        } else if !stage.inputs.isEmpty {
            let inputs = stage.inputs.map { BSONValue.document(Self.document($0, counts)) }
            document.append("inputStages", .array(BSONArray(inputs)))
        }
        return document
    }

    private var root: Stage {
        guard exists else {
            let end = Stage(
                name: "EOF", details: ["type": "nonExistentNamespace"], returned: { _ in 0 })
            return command == .count ? end.passed(to: count("COUNT")) : end
        }
        switch command {
        case .find: return shaped(access)
        case .count:
            if isWholeCount { return count("RECORD_STORE_FAST_COUNT") }
            guard case .index(let scan) = plan.rows, scan.isExact else {
                return access.passed(to: count("COUNT"))
            }
            var keys = indexScan(scan)
            if let bounds = scan.singleInterval {
                keys.name = "COUNT_SCAN"
                keys.details.set("indexBounds", to: .document(bounds))
            }
            return keys.passed(to: count("COUNT"))
        case .distinct:
            guard case .index(let scan) = plan.rows, plan.isDistinct else { return access }
            var keys = indexScan(scan)
            keys.name = "DISTINCT_SCAN"
            return keys.passed(to: Stage(name: "FETCH", returned: { $0.documents }))
        }
    }

    /// Whether all documents are counted, for which none is read.
    var isWholeCount: Bool { command == .count && filter.isEverything && options.hint == nil }

    private func count(_ name: String) -> Stage {
        Stage(
            name: name, returned: { _ in 0 },
            examined: {
                ["nCounted": .int32($0.counted), "nSkipped": .int32($0.skipped)]
            })
    }

    private var filterDetails: BSONDocument {
        filter.isEverything ? [:] : ["filter": .document(ExplainFilter.document(of: filter))]
    }

    /// The stages that read documents.
    private var access: Stage {
        switch plan.rows {
        case .keys where filter.isDeterminedByID && options.hint == nil:
            return Stage(
                name: "IDHACK",
                examined: {
                    ["keysExamined": .int32($0.documents), "docsExamined": .int32($0.documents)]
                })
        case .range(let range) where !range.isByKey:
            var details = filterDetails
            details.append(
                "direction", range.order == .insertedLast ? "backward" : "forward")
            return Stage(
                name: "COLLSCAN", details: details,
                examined: { ["docsExamined": .int32($0.documents)] })
        case .index(let scan) where scan.isExact:
            var fetch = fetch
            fetch.details = [:]
            return keys(plan).passed(to: fetch)
        case .union:
            let read = keys(plan).passed(to: fetch)
            let isRooted = if case .any = filter.predicate { true } else { false }
            return isRooted ? read.passed(to: Stage(name: "SUBPLAN")) : read
        case .keys, .range, .index, .members: return keys(plan).passed(to: fetch)
        }
    }

    private var fetch: Stage {
        Stage(
            name: "FETCH", details: filterDetails,
            examined: { ["docsExamined": .int32($0.documents)] })
    }

    /// Returns the stages that read index keys.
    private func keys(_ plan: QueryPlan) -> Stage {
        switch plan.rows {
        case .keys(let keys):
            let points = keys.map { key -> BSONValue in
                let text = ShellText.text(of: BSONKey.decode(key) ?? .null)
                return .string("[\(text), \(text)]")
            }
            return idScan(points, isReversed: false)
        case .range(let range):
            let isReversed = range.order == .idDescending
            func text(_ key: [UInt8]?, _ end: String) -> String {
                key.flatMap { BSONKey.decode($0) }.map { ShellText.text(of: $0) } ?? end
            }
            let (lower, upper) = (text(range.lower, "MinKey"), text(range.upper, "MaxKey"))
            let bounds = isReversed ? "[\(upper), \(lower)]" : "[\(lower), \(upper)]"
            return idScan([.string(bounds)], isReversed: isReversed)
        case .index(let scan): return indexScan(scan)
        case .members(let index):
            return scan(
                index.definition, index.definition.keyPattern, isMultikey: false, isReversed: false,
                bounds: [:])
        case .union(let plans):
            let isMerged = options.sort != nil && plan.isSorted
            var stage = Stage(
                name: isMerged ? "SORT_MERGE" : "OR", returned: { $0.documents })
            if isMerged, let sort = options.sort {
                stage.details = ["sortPattern": .document(sort.pattern)]
            }
            stage.inputs = plans.map(keys)
            return stage
        }
    }

    private func idScan(_ bounds: [BSONValue], isReversed: Bool) -> Stage {
        scan(
            .id, IndexDefinition.id.keyPattern, isMultikey: false, isReversed: isReversed,
            bounds: ["_id": .array(BSONArray(bounds))])
    }

    private func indexScan(_ scan: IndexScan) -> Stage {
        var bounds: BSONDocument = [:]
        var pattern = scan.index.definition.keyPattern
        var paths = scan.index.definition.keys
        if let path = scan.wildcardPath {
            pattern = ["$_path": 1, path: 1]
            let text = ShellText.text(of: .string(path))
            bounds.append("$_path", [.string("[\(text), \(text)]")])
            paths = [IndexDefinition.Key(path)]
        }
        for (key, bound) in zip(paths, scan.bounds) {
            let texts = (bound ?? .all).texts(
                isReversed: scan.isReversed != (key.kind == .descending))
            bounds.append(key.path, .array(BSONArray(texts.map { .string($0) })))
        }
        return self.scan(
            scan.index.definition, pattern, isMultikey: scan.index.isMultikey,
            isReversed: scan.isReversed, bounds: bounds)
    }

    private func scan(
        _ index: IndexDefinition, _ pattern: BSONDocument, isMultikey: Bool, isReversed: Bool,
        bounds: BSONDocument
    ) -> Stage {
        var details: BSONDocument = [
            "keyPattern": .document(pattern), "indexName": .string(index.name),
        ]
        if let collation = index.collation { details.append("collation", .document(collation)) }
        details.append("isMultiKey", .bool(isMultikey))
        if !isMultikey {
            let none = BSONDocument(pattern.keys.map { ($0, []) })
            details.append("multiKeyPaths", .document(none))
        }
        details.append("isUnique", .bool(index.isUnique))
        details.append("isSparse", .bool(index.isSparse))
        details.append("isPartial", .bool(index.partialFilter != nil))
        details.append("indexVersion", 2)
        details.append("direction", isReversed ? "backward" : "forward")
        details.append("indexBounds", .document(bounds))
        return Stage(
            name: "IXSCAN", details: details, returned: { $0.documents },
            examined: { ["keysExamined": .int32($0.keys)] })
    }
}

extension IndexScan {
    /// The bounds as one range of keys from a start to an end; `nil` if they are several.
    ///
    /// Source: the server's `IndexBoundsBuilder::isSingleInterval`.
    fileprivate var singleInterval: BSONDocument? {
        guard wildcardPath == nil, bounds.count == index.definition.keys.count else { return nil }
        var (start, end): (BSONDocument, BSONDocument) = ([:], [:])
        var (includesStart, includesEnd, isRange) = (true, true, false)
        for (key, bound) in zip(index.definition.keys, bounds) {
            let intervals = (bound ?? .all).intervals
            guard intervals.count == 1, let interval = intervals.first else { return nil }
            let isDescending = isReversed != (key.kind == .descending)
            let (first, last) =
                isDescending ? (interval.upper, interval.lower) : (interval.lower, interval.upper)
            if isRange {
                guard interval.lower == .first, interval.upper == .last else { return nil }
                start.append(key.path, includesStart ? first.value : last.value)
                end.append(key.path, includesEnd ? last.value : first.value)
                continue
            }
            start.append(key.path, first.value)
            end.append(key.path, last.value)
            guard interval.point == nil else { continue }
            (includesStart, includesEnd, isRange) = (first.isInclusive, last.isInclusive, true)
        }
        return [
            "startKey": .document(start), "startKeyInclusive": .bool(includesStart),
            "endKey": .document(end), "endKeyInclusive": .bool(includesEnd),
        ]
    }
}
