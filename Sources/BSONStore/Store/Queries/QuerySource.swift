/// The source of a pipeline's documents in one transaction.
final class QuerySource: AggregationSource {
    private let executor: QueryExecutor
    /// The target of `$merge` and `$out`; `nil` if the transaction only reads.
    private let writeTarget: (any AggregationTarget)?

    private var catalog: CatalogReader {
        CatalogReader(connection: executor.connection, access: executor.access)
    }

    init(executor: QueryExecutor, writesTo target: (any AggregationTarget)?) {
        self.executor = executor
        writeTarget = target
    }

    func completed(_ filter: Filter, _ namespace: Namespace) throws(StoreError) -> Filter {
        try executor.completed(filter, namespace)
    }

    func forEach(
        _ namespace: Namespace, _ selection: AggregationSelection,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try executor.visit(try planned(namespace, selection), body)
    }

    private func planned(
        _ namespace: Namespace, _ selection: AggregationSelection
    ) throws(StoreError) -> PlannedQuery {
        try executor.planned(
            namespace, selection.filter.bound(to: selection.frame), try options(selection))
    }

    private func options(_ selection: AggregationSelection) throws(StoreError) -> FindOptions {
        var options = try FindOptions(
            sort: selection.sort, skip: selection.skip, limit: selection.limit,
            hint: selection.hint)
        if selection.sort != nil { options.sortBytesMax = selection.sortBytesMax }
        return options
    }

    func placement(
        _ namespace: Namespace, _ selection: AggregationSelection, _ requested: RequestedMetadata
    ) throws(StoreError) -> (any DocumentPlacement)? {
        try executor.placement(try planned(namespace, selection), requested)
    }

    func count(
        _ namespace: Namespace, _ selection: AggregationSelection
    ) throws(StoreError) -> Int {
        guard selection.hint == nil else {
            var found = 0
            try forEach(namespace, selection) { _ in
                found += 1
                return true
            }
            return found
        }
        let filter = try executor.completed(selection.filter, namespace).bound(to: selection.frame)
        let end = FindOptions.end(skip: selection.skip, limit: selection.limit) ?? 0
        let found = try executor.count(namespace, filter: filter, hint: nil, limit: end)
        let rest = max(0, found - selection.skip)
        return selection.limit > 0 ? min(selection.limit, rest) : rest
    }

    func isIndexed(_ namespace: Namespace, _ field: String) throws(StoreError) -> Bool {
        try catalog.indexes(namespace).contains { index in
            index.isOrdered && !index.isHidden && !index.isSparse && index.partialFilter == nil
                // Ids are stored by their bytes, whatever the collation of the collection is.
                && (index.document["collation"] == nil || field.hasSameBytes(as: "_id"))
                && index.keyPattern.keys.first.hasSameBytes(as: field)
        }
    }

    func choosesAtRandom(_ namespace: Namespace) throws(StoreError) -> Bool {
        var (open, seen): ([String], Set<Name>) = ([namespace.collection], [])
        while let name = open.popLast() {
            guard seen.insert(Name(name)).inserted,
                let view = try executor.tables.view(Namespace(namespace.database, name))
            else { continue }
            if RandomChoice.isPart(of: view.pipeline) { return true }
            open += [view.on] + PipelineCollections.read(by: view.pipeline)
        }
        return false
    }

    func uniqueness(
        _ namespace: Namespace, _ fields: [String], _ collation: Collation?
    ) throws(StoreError) -> FieldUniqueness {
        let ofMissing: FieldUniqueness = fields == ["_id"] ? .ofAll : .none
        guard executor.access.isOpen(namespace) else { return ofMissing }
        let found = try executor.tables.onTable(namespace) {
            (table) throws(StoreError) -> FieldUniqueness in
            // The collection compares the `_id` by its own collation.
            if fields == ["_id"] { return table.collation == collation ? .ofAll : .none }
            let indexes = try executor.tables.indexes(of: table).filter { index in
                index.definition.isUnique && index.definition.partialFilter == nil
                    && index.collation == collation
                    && Set(names: index.definition.keyPattern.keys) == Set(names: fields)
            }
            guard !indexes.isEmpty else { return .none }
            return indexes.contains { !$0.definition.isSparse } ? .ofAll : .ofValues
        }
        return found ?? ofMissing
    }

    func placeIndexes(_ namespace: Namespace) throws(StoreError) -> [[GeoIndexField]]? {
        let all = try catalog.indexes(namespace)
        guard !all.isEmpty else { return nil }
        return all.filter { !$0.isHidden }.map(\.geoFields)
    }

    func target() throws(StoreError) -> any AggregationTarget {
        guard let target = writeTarget else {
            throw StoreError(
                .illegalOperation, "$merge and $out need a transaction that can write")
        }
        return target
    }
}
