/// Says by which index a query is answered, whatever the planner would choose.
public enum IndexHint: Sendable, Hashable {
    /// The index with a name.
    case name(String)
    /// The index with a key pattern.
    case keyPattern(BSONDocument)
    /// No index: all documents are read.
    case natural

    /// Reads the `hint` of a command: a name, a key pattern or `{$natural: 1}`.
    ///
    /// - Throws: `failedToParse` (9) for other values.
    public init(_ value: BSONValue) throws(StoreError) {
        if let name = value.stringValue {
            self = .name(name)
        } else if let pattern = value.documentValue {
            self = pattern.contains(key: "$natural") ? .natural : .keyPattern(pattern)
        } else {
            throw StoreError(.failedToParse, "Hint must be a string or an object")
        }
    }

    /// Whether an index is meant.
    func isFor(_ definition: IndexDefinition) -> Bool {
        switch self {
        case .name(let name): definition.name == name
        case .keyPattern(let pattern): pattern.contentEquals(definition.keyPattern)
        case .natural: false
        }
    }
}

extension ReadTransaction {
    /// Plans by a hint.
    ///
    /// An index that lacks documents, sparse or partial, is used only where it has all that can
    /// pass; otherwise all documents are read.
    ///
    /// - Throws: `badValue` (2) when there is no such index.
    func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, _ hint: IndexHint
    ) throws(StoreError) -> QueryPlan {
        let all = QueryPlan(access: .range(QueryPlan.Range()), isSorted: sort == nil)
        if hint == .natural { return all }
        if hint.isFor(.id) { return QueryPlan(filter, sort) }
        let found = try onTable(namespace) { (table) throws(StoreError) -> StoredIndex in
            let indexes = try connection.indexCache.indexes(of: table.id, connection)
            let index = indexes.first { hint.isFor($0.definition) && !$0.definition.isHidden }
            guard let index else {
                throw StoreError(
                    .badValue,
                    "error processing query: planner returned error :: caused by :: hint "
                        + "provided does not correspond to an existing index")
            }
            return index
        }
        guard let found, let scan = IndexScan(found, filter, sort, isForced: true) else {
            return all
        }
        return QueryPlan(access: .index(scan), isSorted: scan.isSorted)
    }
}
