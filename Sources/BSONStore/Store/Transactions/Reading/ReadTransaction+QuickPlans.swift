extension ReadTransaction {
    /// Plans a query; skips the planner if the filter only bounds one field that a single index can
    /// look up.
    func quickPlan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, _ options: FindOptions
    ) throws(StoreError) -> QueryPlan {
        if accessPolicy == nil, sort == nil, !options.namesIndex, filter.collation == nil,
            let wanted = SingleFieldRange(filter.predicate)
        {
            let found = try onTable(namespace) { (table) throws(StoreError) -> StoredIndex? in
                guard table.isPlain else { return nil }
                return Self.sole(
                    wanted.field, try connection.catalogCache.indexes(of: table.id, connection))
            }
            if let index = found ?? nil {
                return QueryPlan(
                    access: .index(IndexScan(index, only: wanted.range)), isSorted: true)
            }
        }
        return try plan(namespace, filter, sort, options)
    }

    /// Returns the index that begins with a field and has one key per document, if no other index
    /// can help.
    private static func sole(_ name: String, _ indexes: [StoredIndex]) -> StoredIndex? {
        var sole: StoredIndex?
        for index in indexes {
            let definition = index.definition
            guard index.wildcard == nil else { return nil }
            guard !definition.isHidden, let key = definition.keys.first, key.path == name else {
                continue
            }
            guard sole == nil, key.kind == .ascending, definition.isFiled, !index.isMultikey,
                index.filter == nil, index.collation == nil
            else { return nil }
            sole = index
        }
        return sole
    }
}
