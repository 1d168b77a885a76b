/// The choice of the rows to read for a query, regardless of an access policy.
struct QueryPlanner {
    /// The reader with which a plan is tried.
    let scanner: RowScanner

    private var tables: TableLookup { TableLookup(connection: scanner.connection) }

    /// Chooses a query's plan: the bounds or the hint of the options, by id, by one index or
    /// several, or a scan of all documents.
    ///
    /// - Throws: as ``plan(_:_:_:hint:)`` and ``plan(_:_:_:between:)`` do.
    func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, _ options: FindOptions = .all
    ) throws(StoreError) -> QueryPlan {
        if !options.min.isEmpty || !options.max.isEmpty {
            return try plan(namespace, filter, sort, between: options)
        }
        if try tables.view(namespace) != nil {
            return QueryPlan(rows: .range(QueryPlan.Range()), isSorted: sort == nil)
        }
        if let hint = options.hint { return try plan(namespace, filter, sort, hint: hint) }
        if let sort, sort.isNatural { return .all(sort) }
        let sort = sort?.keys.isEmpty == true ? nil : sort
        return try cheapest(namespace, filter, sort, wanted: options.end ?? 0)
    }

    /// Chooses the plan by `_id`, or the one that ``PlanComparison`` estimates to be the cheapest.
    ///
    /// - Parameter wanted: the largest number of documents to read; 0 for all.
    private func cheapest(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, wanted: Int
    ) throws(StoreError) -> QueryPlan {
        let byID = QueryPlan(byIDOf: filter, sort)
        guard byID.mayBeImproved, !(filter.isEverything && sort == nil) else { return byID }
        let chosen = try tables.onTable(namespace) { (table) throws(StoreError) -> QueryPlan? in
            let indexes = try tables.indexes(of: table)
            let query = IndexQuery(filter)
            guard !indexes.isEmpty || !query.alternatives.isEmpty else { return nil }
            let comparison = PlanComparison(
                scanner: scanner, table: table, filter: filter, sort: sort, wanted: wanted)
            return try comparison.cheapest(
                comparison.plans(query, indexes) + (byID.isByKey ? [byID] : []))
        }
        return (chosen ?? nil) ?? byID
    }

    /// Returns the plan for reading the documents of a filter that only bounds one field, if a
    /// single index can help.
    ///
    /// The plan is for a query without a sort. It needs no comparison, and does not name its bounds.
    func soleIndex(
        _ namespace: Namespace, _ filter: Filter
    ) throws(StoreError) -> QueryPlan? {
        guard filter.collation == nil, let wanted = SingleFieldRange(filter.predicate) else {
            return nil
        }
        let found = try tables.onTable(namespace) { (table) throws(StoreError) -> StoredIndex? in
            table.isPlain ? Self.sole(wanted.field, try tables.indexes(of: table)) : nil
        }
        guard let index = found ?? nil else { return nil }
        return QueryPlan(rows: .index(IndexScan(index, only: wanted.range)), isSorted: true)
    }

    /// Returns the index that begins with a field and has one key per document, if no other index
    /// can help.
    private static func sole(_ name: String, _ indexes: [StoredIndex]) -> StoredIndex? {
        var sole: StoredIndex?
        for index in indexes {
            let definition = index.definition
            guard index.wildcard == nil else { return nil }
            guard !definition.isHidden, let key = definition.keys.first,
                key.path.hasSameBytes(as: name)
            else {
                continue
            }
            guard sole == nil, key.kind == .ascending, definition.hasKeys, !index.isMultikey,
                index.filter == nil, index.collation == nil
            else { return nil }
            sole = index
        }
        return sole
    }

    /// Returns a plan that reads the documents in an order; `nil` if no index has it.
    func sortedPlan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder
    ) throws(StoreError) -> QueryPlan? {
        guard try tables.view(namespace) == nil else { return nil }
        let found = try tables.onTable(namespace) { (table) throws(StoreError) -> QueryPlan? in
            let comparison = PlanComparison(
                scanner: scanner, table: table, filter: filter, sort: sort, wanted: 0)
            let plans = comparison.plans(IndexQuery(filter), try tables.indexes(of: table))
            return plans.first(where: \.isSorted)
        }
        return found ?? nil
    }

    /// Completes a filter with the collection's collation (unless it has its own), its text index
    /// and one time for all documents.
    ///
    /// - Throws: `indexNotFound` (27) for `$text` without a text index, 291 if it is hidden or
    ///   ``TextPlacement`` refuses it, and for `$near` without an index of its places; 5626500 for
    ///   `$near` on a view.
    func completed(_ filter: Filter, _ namespace: Namespace) throws(StoreError) -> Filter {
        let filter = filter.timed
        let found = try tables.onTable(namespace) { (table) throws(StoreError) -> Filter? in
            if filter.usesNear {
                // A query of a view is a `$match` behind the view's pipeline.
                guard table.options.view == nil else { throw GeoNear.notAllowed }
                let query = try filter.adapted(to: table.collation, nil)
                guard try tables.indexes(of: table).contains(where: { $0.measures(query) }) else {
                    throw GeoNear.noIndex
                }
            }
            let waits = filter.waitsForText
            guard table.collation != nil || waits else { return nil }
            guard waits else { return try filter.adapted(to: table.collation, nil) }
            let indexes = try tables.indexes(of: table)
            let index = indexes.first { $0.definition.textFields != nil }
            guard let index, let fields = index.definition.textFields else {
                throw StoreError(.indexNotFound, "text index required for $text query")
            }
            guard !index.definition.isHidden else { throw TextPlacement.unusable }
            let placement = TextPlacement(index.definition) {
                (alternatives) throws(StoreError) -> Bool in
                let others = try Filter(.any(alternatives), collation: filter.collation)
                let comparison = PlanComparison(
                    scanner: scanner, table: table, filter: others, sort: nil, wanted: 0)
                return QueryPlan(byIDOf: others, nil).isByKey
                    || !comparison.plans(IndexQuery(others), indexes).isEmpty
            }
            try placement.check(filter.predicate)
            return try filter.adapted(to: table.collation, fields)
        }
        return (found ?? nil) ?? filter
    }

    /// Returns the scan that steps from one value of a field to the next; `nil` if no index has
    /// one.
    func distinctScan(
        _ namespace: Namespace, _ field: String, _ filter: Filter
    ) throws(StoreError) -> IndexScan? {
        guard try tables.view(namespace) == nil else { return nil }
        let query = IndexQuery(filter)
        let found = try tables.onTable(namespace) { (table) throws(StoreError) -> IndexScan? in
            for index in try tables.indexes(of: table) {
                if let scan = IndexScan(distinct: index, field, query, filter) { return scan }
            }
            return nil
        }
        return found ?? nil
    }
}

// MARK: - Hints

extension QueryPlanner {
    /// Plans a query with a hint.
    ///
    /// A hinted sparse or partial index may miss matching documents, as in MongoDB: the whole index
    /// is read if the filter bounds none of its fields.
    ///
    /// - Throws: `badValue` (2) when the index does not exist; 291 for a wildcard index that lacks
    ///   keys of documents that may match.
    private func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, hint: IndexHint
    ) throws(StoreError) -> QueryPlan {
        if hint.isNatural { return .all(sort, hint) }
        if hint.isFor(.id) {
            guard !filter.usesNear else { throw GeoNear.noIndex }
            let byID = QueryPlan(byIDOf: filter, sort)
            guard !byID.isByKey else { return byID }
            // Reads the whole index, in its order.
            var range = QueryPlan.Range()
            range.order = .idAscending
            return QueryPlan(rows: .range(range), isSorted: byID.isSorted && sort == nil)
        }
        guard let index = try index(hint, of: namespace) else { return .all(sort) }
        guard !filter.usesNear || index.measures(filter) else { throw GeoNear.noIndex }
        let scans = IndexScan.scans(index, IndexQuery(filter), sort, isForced: true)
        guard let scan = scans.first(where: { $0.bounds.contains { $0 != .all } }) ?? scans.first
        else {
            // The server's query_planner.cpp; MongoDB manual, "Wildcard Indexes", "Restrictions".
            guard index.wildcard == nil || !index.definition.hasKeys else {
                throw StoreError(
                    .noQueryExecutionPlans,
                    "error processing query: planner returned error :: caused by :: $hint: refusing "
                        + "to build whole-index solution, because it's a wildcard index")
            }
            guard index.holdsPlaces else { return .all(sort) }
            return QueryPlan(rows: .members(index), isSorted: sort == nil)
        }
        return QueryPlan(rows: .index(scan), isSorted: scan.isSorted)
    }

    /// Returns the index of a hint; `nil` without a collection.
    private func index(
        _ hint: IndexHint, of namespace: Namespace
    ) throws(StoreError) -> StoredIndex? {
        try tables.onTable(namespace) { (table) throws(StoreError) -> StoredIndex in
            let indexes = try tables.indexes(of: table)
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
            // Ids are stored by their bytes, so they have no order by a collection's collation.
            let range = try IndexKeyBounds(
                options, keys: IndexDefinition.id.keys, nil, of: filter)
            var byID = QueryPlan.Range()
            byID.order = .idAscending
            byID.lower = range.lower
            byID.behind = range.upper
            return QueryPlan(rows: .range(byID), isSorted: sort == nil)
        }
        guard let index = try index(hint, of: namespace) else { return .all(sort) }
        // The keys of a wildcard index begin with a path; text and geo indexes have no keys.
        guard index.definition.hasKeys, index.wildcard == nil else {
            throw IndexKeyBounds.isIncompatible
        }
        let bounds = try IndexKeyBounds(
            options, keys: index.definition.keys, index.collation, of: filter)
        let direction = index.direction(sort, constants: 0)
        let range = IndexScan.Range(
            lower: bounds.lower ?? [], upper: bounds.upper ?? [0xFF, 0xFF])
        let scan = IndexScan(
            index, groups: [[range]], bounds: index.definition.keys.map { _ in nil },
            isReversed: direction == .backward, isSorted: sort == nil || direction != nil)
        return QueryPlan(rows: .index(scan), isSorted: scan.isSorted)
    }
}
