/// Says how much an explanation of a query tells.
public enum ExplainVerbosity: String, Sendable, Hashable {
    /// The plan only.
    case queryPlanner
    /// The plan, and what carrying it out took.
    case executionStats
    /// As `executionStats`, since other plans are not tried.
    case allPlansExecution
}

extension ReadTransaction {
    /// Tells how a query is answered, in the shape of the command `explain`.
    ///
    /// `queryPlanner.winningPlan` has the stages `COLLSCAN`, `IDHACK`, `IXSCAN`, `FETCH`, `SORT`,
    /// `SKIP`, `LIMIT` and `PROJECTION_DEFAULT`. With `executionStats` the query is carried out, and
    /// `totalDocsExamined` and `totalKeysExamined` count what was read.
    ///
    /// - Throws: as ``find(_:filter:options:)-(_,Filter,_)`` does.
    ///
    /// Source: MongoDB manual, "Explain Results".
    public func explain(
        _ namespace: Namespace, filter: Filter, options: FindOptions = .all,
        verbosity: ExplainVerbosity = .queryPlanner
    ) throws(StoreError) -> BSONDocument {
        let plan = try plan(namespace, filter, options.sort, hint: options.hint)
        let isThere = try onTable(namespace) { _ in true } ?? false
        let stages = ExplainStages(filter: filter, options: options, plan: plan)
        var explained: BSONDocument = [
            "explainVersion": "1",
            "queryPlanner": [
                "namespace": .string(namespace.description), "indexFilterSet": false,
                "parsedQuery": .document(filter.document),
                "maxIndexedOrSolutionsReached": false, "maxIndexedAndSolutionsReached": false,
                "maxScansToExplodeReached": false,
                "winningPlan": .document(isThere ? stages.winning : ["stage": "EOF"]),
                "rejectedPlans": [],
            ],
        ]
        switch verbosity {
        case .queryPlanner: break
        case .executionStats, .allPlansExecution:
            let counts = try carryOut(namespace, filter, options, plan)
            explained.append(
                "executionStats",
                [
                    "executionSuccess": true, "nReturned": .int32(counts.returned),
                    "executionTimeMillis": 0, "totalKeysExamined": .int32(counts.keys),
                    "totalDocsExamined": .int32(counts.documents),
                    "executionStages": .document(
                        isThere
                            ? stages.executed(counts)
                            : ["stage": "EOF", "nReturned": 0]),
                ])
        }
        return explained
    }

    /// Carries a query out and counts.
    private func carryOut(
        _ namespace: Namespace, _ filter: Filter, _ options: FindOptions, _ plan: QueryPlan
    ) throws(StoreError) -> ExplainCounts {
        let isSorting = options.sort != nil && !plan.isSorted
        let end = options.limit == 0 ? Int.max : options.skip + options.limit
        var documents = 0
        var matched = 0
        try scan(namespace, .all, plan) { (_, bytes) throws(StoreError) in
            documents += 1
            if try filter.passes(bytes) { matched += 1 }
            return isSorting || matched < end
        }
        var counts = ExplainCounts()
        counts.documents = Int32(clamping: documents)
        counts.matched = Int32(clamping: matched)
        counts.returned = Int32(clamping: max(0, min(matched, end) - options.skip))
        switch plan.access {
        case .index(let index):
            let isWhole = isSorting || matched < end
            counts.keys = Int32(
                clamping: index.index.isMultikey && isWhole ? try keys(of: index) : documents)
        case .keys:
            counts.keys = filter.isDecidedByID ? 0 : counts.documents
        case .range(let range):
            let isByKey = range.lower != nil || range.upper != nil || range.order != .inserted
            counts.keys = isByKey ? counts.documents : 0
        }
        return counts
    }

    private func keys(of scan: IndexScan) throws(StoreError) -> Int {
        var count: Int64 = 0
        for range in scan.ranges {
            let statement = try connection.prepare(scan.index.statements.count)
            statement.bind(1, range.lower)
            statement.bind(2, range.upper)
            statement.bind(3, Int64(Int32.max))
            if try statement.step() { count += statement.int64(0) }
        }
        return Int(count)
    }
}

/// Counts what carrying out a query took.
struct ExplainCounts {
    var keys: Int32 = 0
    var documents: Int32 = 0
    /// Documents that passed the filter.
    var matched: Int32 = 0
    /// Documents behind skip and limit.
    var returned: Int32 = 0
}

extension DocumentCollection {
    /// Tells how a query is answered, in the shape of the command `explain`.
    ///
    /// - Throws: for what is no filter, and what the store says.
    public func explain(
        _ filter: BSONDocument = [:], options: FindOptions = .all,
        verbosity: ExplainVerbosity = .queryPlanner
    ) throws -> BSONDocument {
        let filter = try Filter(filter)
        return try store.read { transaction in
            try transaction.explain(
                namespace, filter: filter, options: options, verbosity: verbosity)
        }
    }
}
