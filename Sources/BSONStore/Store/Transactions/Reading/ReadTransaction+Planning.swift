extension ReadTransaction {
    /// Chooses a query's plan: by id, by one index or several, or a scan of all documents.
    ///
    /// - Parameter wanted: the largest number of documents to read; 0 for all.
    func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, wanted: Int = 0,
        hint: IndexHint? = nil
    ) throws(StoreError) -> QueryPlan {
        if isRestricted(namespace) { return .all(sort, hint) }
        if try view(namespace) != nil {
            return QueryPlan(access: .range(QueryPlan.Range()), isSorted: sort == nil)
        }
        if let hint { return try plan(namespace, filter, sort, hint) }
        if let sort, sort.isNatural { return .all(sort) }
        let sort = sort?.keys.isEmpty == true ? nil : sort
        let byID = QueryPlan(filter, sort)
        guard byID.mayBeImproved, !(filter.isEverything && sort == nil) else { return byID }
        let chosen = try onTable(namespace) { (table) throws(StoreError) -> QueryPlan? in
            let indexes = try connection.catalogCache.indexes(of: table.id, connection)
            let query = IndexQuery(filter)
            guard !indexes.isEmpty || !query.alternatives.isEmpty else { return nil }
            let planner = QueryPlanner(
                transaction: self, table: table, filter: filter, sort: sort, wanted: wanted)
            return try planner.chosen(
                planner.candidates(query, indexes) + (byID.isByKey ? [byID] : []))
        }
        return (chosen ?? nil) ?? byID
    }
}
