/// The answers of the command `explain`.
struct QueryExplainer {
    /// The execution of the explained queries.
    let executor: QueryExecutor

    private var indexes: IndexScanner { IndexScanner(connection: executor.connection) }

    /// Returns a query's plan in the shape of the command `explain`.
    ///
    /// `queryPlanner.winningPlan` has the stages `COLLSCAN`, `IDHACK`, `IXSCAN`, `FETCH`, `OR`,
    /// `SORT_MERGE`, `SORT`, `SKIP`, `LIMIT`, `PROJECTION_DEFAULT` and `PROJECTION_SIMPLE`,
    /// `COUNT_SCAN` and `DISTINCT_SCAN`; `rejectedPlans` lists the other plans. With
    /// `executionStats` the query is executed, and `totalDocsExamined` and `totalKeysExamined`
    /// count the documents and keys read.
    ///
    /// - Throws: as ``QueryExecutor/find(_:filter:options:bytesMax:)`` does.
    ///
    /// Source: MongoDB manual, "Explain Results".
    func explain(
        _ namespace: Namespace, filter: Filter, options: FindOptions,
        verbosity: ExplainVerbosity, command: ExplainedCommand
    ) throws(StoreError) -> BSONDocument {
        let filter = try executor.completed(filter, namespace)
        let plan = try explainedPlan(namespace, filter, options, command)
        let exists = try executor.tables.onTable(namespace) { _ in true } ?? false
        let isThere = exists && executor.access.isOpen(namespace)
        func stages(_ plan: QueryPlan) -> ExplainStages {
            ExplainStages(
                command: command, filter: filter, options: options, plan: plan, exists: isThere)
        }
        let rejected = plan.rejected.map { BSONValue.document(stages($0).winning) }
        var explained: BSONDocument = [
            "explainVersion": "1",
            "queryPlanner": [
                "namespace": .string(namespace.description), "indexFilterSet": false,
                "parsedQuery": .document(ExplainFilter.document(of: filter)),
                "maxIndexedOrSolutionsReached": false, "maxIndexedAndSolutionsReached": false,
                "maxScansToExplodeReached": false,
                "winningPlan": .document(stages(plan).winning),
                "rejectedPlans": .array(BSONArray(isThere ? rejected : [])),
            ],
        ]
        guard verbosity != .queryPlanner else { return explained }
        let counts = try execute(namespace, stages(plan))
        var execution: BSONDocument = [
            "executionSuccess": true, "nReturned": .int32(counts.returned),
            "executionTimeMillis": 0, "totalKeysExamined": .int32(counts.keys),
            "totalDocsExamined": .int32(counts.documents),
            "executionStages": .document(stages(plan).executed(counts)),
        ]
        if verbosity == .allPlansExecution { execution.append("allPlansExecution", []) }
        explained.append("executionStats", .document(execution))
        return explained
    }

    private func explainedPlan(
        _ namespace: Namespace, _ filter: Filter, _ options: FindOptions,
        _ command: ExplainedCommand
    ) throws(StoreError) -> QueryPlan {
        if case .distinct(let field) = command,
            let scan = try executor.distinctScan(namespace, field, filter)
        {
            var plan = QueryPlan(rows: .index(scan), isSorted: true)
            plan.isDistinct = true
            return plan
        }
        return try executor.plan(namespace, filter, options.sort ?? filter.impliedOrder, options)
    }

    /// Executes a query and counts.
    private func execute(
        _ namespace: Namespace, _ stages: ExplainStages
    ) throws(StoreError) -> ExplainCounts {
        guard stages.exists else { return ExplainCounts() }
        var counts = try executed(namespace, stages)
        guard stages.command == .count else { return counts }
        let (skip, limit) = (stages.options.skip, stages.options.limit)
        counts.skipped = min(counts.matched, Int32(clamping: skip))
        let rest = counts.matched - counts.skipped
        counts.counted = limit > 0 ? min(rest, Int32(clamping: limit)) : rest
        return counts
    }

    private func executed(
        _ namespace: Namespace, _ stages: ExplainStages
    ) throws(StoreError) -> ExplainCounts {
        let (filter, options, plan) = (stages.filter, stages.options, stages.plan)
        let command = stages.command
        var counts = ExplainCounts()
        if stages.isWholeCount {
            counts.matched = Int32(
                clamping: try executor.count(namespace, filter: filter, hint: nil))
            return counts
        }
        if command == .count, case .index(let scan) = plan.rows, scan.isExact {
            counts.matched = Int32(clamping: try indexes.count(scan))
            counts.keys = counts.matched
            return counts
        }
        if case .distinct(let field) = command, plan.isDistinct,
            case .index(let scan) = plan.rows
        {
            var values = try DistinctValues(field, collation: filter.collation)
            try executor.collect(&values, scan, namespace)
            counts.documents = Int32(clamping: values.count)
            counts.keys = counts.documents
            counts.returned = counts.documents
            return counts
        }
        let isSorting = options.sort != nil && !plan.isSorted
        let end = options.end ?? .max
        var documents = 0
        var matched = 0
        try executor.scan(namespace, .all, plan, sort: options.sort) {
            (_, bytes) throws(StoreError) in
            documents += 1
            if try filter.evaluate(bytes) { matched += 1 }
            return isSorting || matched < end
        }
        counts.documents = Int32(clamping: documents)
        counts.matched = Int32(clamping: matched)
        if command != .count {
            counts.returned = Int32(clamping: max(0, min(matched, end) - options.skip))
        }
        counts.keys = try keys(plan, filter, documents, isWhole: isSorting || matched < end)
        return counts
    }

    private func keys(
        _ plan: QueryPlan, _ filter: Filter, _ documents: Int, isWhole: Bool
    ) throws(StoreError) -> Int32 {
        switch plan.rows {
        case .index(let index):
            return Int32(
                clamping: index.index.isMultikey && isWhole ? try keys(of: index) : documents)
        case .keys, .members: return Int32(clamping: documents)
        case .range(let range): return range.isByKey ? Int32(clamping: documents) : 0
        case .union(let plans):
            var sum: Int32 = 0
            for plan in plans {
                if case .index(let index) = plan.rows {
                    sum += Int32(clamping: try keys(of: index))
                } else {
                    sum += try keys(plan, filter, documents, isWhole: isWhole)
                }
            }
            return sum
        }
    }

    private func keys(of scan: IndexScan) throws(StoreError) -> Int {
        var count: Int64 = 0
        for range in scan.ranges {
            let statement = try scan.index.prepare(.count, executor.connection)
            statement.bind(1, range.lower)
            statement.bind(2, range.upper)
            statement.bind(3, Int64(Int32.max))
            if try statement.step() { count += statement.int64(0) }
        }
        return Int(count)
    }
}

/// The counts of a query's execution.
struct ExplainCounts {
    var keys: Int32 = 0
    var documents: Int32 = 0
    /// The number of documents that matched the filter.
    var matched: Int32 = 0
    /// The number of documents after skip and limit.
    var returned: Int32 = 0
    /// The number of documents that a count skips, and that it counts.
    var skipped: Int32 = 0
    var counted: Int32 = 0
}
