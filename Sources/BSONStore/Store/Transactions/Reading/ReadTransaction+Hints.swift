extension ReadTransaction {
    /// Plans a query with the options of `find`.
    func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, _ options: FindOptions
    ) throws(StoreError) -> QueryPlan {
        if !options.min.isEmpty || !options.max.isEmpty {
            return try plan(namespace, filter, sort, between: options)
        }
        return try plan(
            namespace, filter, sort, wanted: options.end ?? 0, hint: options.hint)
    }

    /// Plans a query with a hint.
    ///
    /// A hinted sparse or partial index may miss matching documents, as in MongoDB: the whole index
    /// is read if the filter bounds none of its fields.
    ///
    /// - Throws: `badValue` (2) when the index does not exist; 291 for a wildcard index that lacks
    ///   keys of documents that may match.
    func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, _ hint: IndexHint
    ) throws(StoreError) -> QueryPlan {
        if hint.isNatural { return .all(sort, hint) }
        if hint.isFor(.id) {
            let byID = QueryPlan(filter, sort)
            guard !byID.isByKey else { return byID }
            // Reads the whole index, in its order.
            var range = QueryPlan.Range()
            range.order = .idAscending
            return QueryPlan(access: .range(range), isSorted: byID.isSorted && sort == nil)
        }
        guard let index = try index(hint, of: namespace) else { return .all(sort) }
        let scans = IndexScan.candidates(index, IndexQuery(filter), sort, isForced: true)
        guard let scan = scans.first(where: { $0.bounds.contains { $0 != .all } }) ?? scans.first
        else {
            // The server's query_planner.cpp; MongoDB manual, "Wildcard Indexes", "Restrictions".
            guard index.wildcard == nil || !index.definition.isFiled else {
                throw StoreError(
                    .noQueryExecutionPlans,
                    "error processing query: planner returned error :: caused by :: $hint: refusing "
                        + "to build whole-index solution, because it's a wildcard index")
            }
            return .all(sort)
        }
        return QueryPlan(access: .index(scan), isSorted: scan.isSorted)
    }

    /// Returns the index of a hint; `nil` without a collection.
    private func index(
        _ hint: IndexHint, of namespace: Namespace
    ) throws(StoreError) -> StoredIndex? {
        try onTable(namespace) { (table) throws(StoreError) -> StoredIndex in
            let indexes = try connection.catalogCache.indexes(of: table.id, connection)
            let index = indexes.first { hint.isFor($0.definition) && !$0.definition.isHidden }
            guard let index else {
                throw StoreError(
                    .badValue,
                    "error processing query: planner returned error :: caused by :: hint "
                        + "provided does not correspond to an existing index")
            }
            return index
        }
    }

    /// Plans a query with the bounds `min` and `max` on a hinted index.
    private func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, between options: FindOptions
    ) throws(StoreError) -> QueryPlan {
        guard let hint = options.hint, !hint.isNatural else {
            throw StoreError(
                .indexBoundsWithoutHint,
                "When using min()/max() a hint of which index to use must be provided")
        }
        if hint.isFor(.id) {
            let range = try IndexKeyBounds(options, keys: IndexDefinition.id.keys, nil)
            var byID = QueryPlan.Range()
            byID.order = .idAscending
            byID.lower = range.lower
            byID.behind = range.upper
            return QueryPlan(access: .range(byID), isSorted: sort == nil)
        }
        guard let index = try index(hint, of: namespace) else { return .all(sort) }
        // The keys of a wildcard index begin with a path; text and geo indexes have no keys.
        guard index.definition.isFiled, index.wildcard == nil else {
            throw IndexKeyBounds.isIncompatible
        }
        let bounds = try IndexKeyBounds(
            options, keys: index.definition.keys, index.collation)
        let direction = index.direction(sort, constants: 0)
        let range = IndexScan.Range(
            lower: bounds.lower ?? [], upper: bounds.upper ?? [0xFF, 0xFF])
        let scan = IndexScan(
            index, groups: [[range]], bounds: index.definition.keys.map { _ in nil },
            isReversed: direction == .backward, isSorted: sort == nil || direction != nil)
        return QueryPlan(access: .index(scan), isSorted: scan.isSorted)
    }
}
