/// A comparison of the plans that can answer a query.
///
/// Each plan's keys are counted, up to a limit. A plan that gives the requested order to a query with a
/// limit is also tried on some documents, unless its keys decide which documents match.
struct PlanComparison {
    /// The number up to which a plan's keys are counted at first.
    private static let sampleMax: Int64 = 300
    /// The number up to which they are counted if the first count does not decide.
    private static let secondSampleMax: Int64 = 5_000
    /// The number of documents to read to estimate how many match.
    private static let trialMax = 100

    let scanner: RowScanner
    let table: CollectionTable
    let filter: Filter
    let sort: SortOrder?
    /// The largest number of documents to read; 0 for all.
    let wanted: Int

    /// Returns the plans with indexes.
    func plans(_ query: IndexQuery, _ indexes: [StoredIndex]) -> [QueryPlan] {
        var plans = scans(query, indexes, sort)
        for branches in query.alternatives {
            if let union = union(branches, with: query, indexes) { plans.append(union) }
        }
        return plans
    }

    private func scans(
        _ query: IndexQuery, _ indexes: [StoredIndex], _ sort: SortOrder?
    ) -> [QueryPlan] {
        indexes.flatMap { IndexScan.scans($0, query, sort) }.map {
            QueryPlan(rows: .index($0), isSorted: $0.isSorted)
        }
    }

    /// Returns the plan for the union of some alternatives; `nil` when one needs a full scan.
    private func union(
        _ branches: [IndexQuery], with query: IndexQuery, _ indexes: [StoredIndex]
    ) -> QueryPlan? {
        guard branches.count <= IndexScan.rangesMax else { return nil }
        var plans: [QueryPlan] = []
        for branch in branches {
            guard let plan = planOfBranch(branch.joined(query), branch, indexes) else { return nil }
            plans.append(plan)
        }
        let isSorted =
            sort == nil
            || plans.allSatisfy { plan in
                if case .index = plan.rows { plan.isSorted } else { false }
            }
        return QueryPlan(rows: .union(plans), isSorted: isSorted)
    }

    /// Returns the plan of one alternative: by id, or with the index that bounds the most fields.
    private func planOfBranch(
        _ query: IndexQuery, _ branch: IndexQuery, _ indexes: [StoredIndex]
    ) -> QueryPlan? {
        if let byID = branch.planByID { return byID }
        let plans = scans(query, indexes, sort).filter(\.isBounded)
        if plans.isEmpty {
            for inner in branch.alternatives {
                if let union = union(inner, with: query, indexes) { return union }
            }
        }
        return plans.max { rank($0) < rank($1) }
    }

    private func rank(_ plan: QueryPlan) -> Int {
        guard case .index(let scan) = plan.rows else { return 0 }
        let isWide = scan.bounds.contains { $0 == .all }
        return scan.equalities * 4 + (plan.isSorted ? 2 : 0) + (isWide ? 0 : 1)
    }

    /// Returns the cheapest plan, with the others as rejected; `nil` without plans.
    func cheapest(_ plans: [QueryPlan]) throws(StoreError) -> QueryPlan? {
        guard plans.count > 1 else { return plans.first }
        var costs = try costs(plans, upTo: Self.sampleMax)
        let least = costs.min() ?? 0
        if least >= Double(Self.sampleMax), costs.count(where: { $0 == least }) > 1 {
            costs = try self.costs(plans, upTo: Self.secondSampleMax)
        }
        let ranked = plans.indices.sorted { left, right in
            costs[left] == costs[right]
                ? (rank(plans[right]), left) < (rank(plans[left]), right)
                : costs[left] < costs[right]
        }
        guard let first = ranked.first else { return nil }
        var plan = plans[first]
        plan.rejected = ranked.dropFirst().map { plans[$0] }
        return plan
    }

    private func costs(
        _ plans: [QueryPlan], upTo limit: Int64
    ) throws(StoreError) -> [Double] {
        var costs: [Double] = []
        for plan in plans { costs.append(try cost(plan, upTo: limit)) }
        return costs
    }

    /// Returns an estimate of the documents that a plan reads, plus the cost of sorting them.
    private func cost(_ plan: QueryPlan, upTo limit: Int64) throws(StoreError) -> Double {
        let everything = 2 * Double(limit)
        let stopsEarly = wanted > 0 && plan.isSorted
        guard plan.isBounded else {
            return stopsEarly ? min(everything, try trial(plan)) : everything
        }
        let keys = Double(try count(plan, upTo: limit))
        if stopsEarly {
            return isExact(plan)
                ? min(keys, Double(wanted)) : min(keys, max(Double(wanted), try trial(plan)))
        }
        return plan.isSorted ? keys : keys * 1.5
    }

    private func isExact(_ plan: QueryPlan) -> Bool {
        if case .index(let scan) = plan.rows { scan.isExact } else { false }
    }

    private func count(_ plan: QueryPlan, upTo limit: Int64) throws(StoreError) -> Int64 {
        switch plan.rows {
        case .keys(let keys): return Int64(keys.count)
        case .range(let range): return try range.count(upTo: limit, table, scanner.connection)
        case .index(let scan):
            var count: Int64 = 0
            for group in scan.groups {
                for range in group where count < limit {
                    let statement = try scan.index.prepare(.count, scanner.connection)
                    statement.bind(1, range.lower)
                    statement.bind(2, range.upper)
                    statement.bind(3, limit - count)
                    if try statement.step() { count += statement.int64(0) }
                }
            }
            return count
        case .union(let branches):
            var count: Int64 = 0
            for branch in branches where count < limit {
                count += try self.count(branch, upTo: limit)
            }
            return min(count, limit)
        case .members: return limit
        }
    }

    /// Returns an estimate of the documents that a plan reads until it has found the wanted number.
    private func trial(_ plan: QueryPlan) throws(StoreError) -> Double {
        var read = 0
        var passed = 0
        try scanner.scan(table, .all, plan, sort: sort) {
            (_, bytes) throws(StoreError) in
            read += 1
            if try filter.evaluate(bytes) { passed += 1 }
            return read < Self.trialMax && passed < wanted
        }
        if passed >= wanted || read < Self.trialMax { return Double(read) }
        return Double(wanted) * Double(read) / max(Double(passed), 0.5)
    }
}

extension IndexQuery {
    /// The plan by `_id` when the query names single ids.
    fileprivate var planByID: QueryPlan? {
        for condition in conditions
        where condition.name == "_id" && !condition.isNegated && condition.elements.isEmpty {
            let plan = QueryPlan([.field(condition.path, condition.test)], collation, nil)
            if case .keys = plan.rows { return plan }
        }
        return nil
    }
}
