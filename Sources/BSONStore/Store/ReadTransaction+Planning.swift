extension ReadTransaction {
    /// Keys of a candidate are counted up to this before one is chosen.
    private static let sampleMax: Int64 = 300

    /// Chooses how a query is answered: by id, by the index with the fewest keys, or by all documents.
    func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, hint: IndexHint? = nil
    ) throws(StoreError) -> QueryPlan {
        if try view(namespace) != nil {
            return QueryPlan(access: .range(QueryPlan.Range()), isSorted: sort == nil)
        }
        if let hint { return try plan(namespace, filter, sort, hint) }
        let byID = QueryPlan(filter, sort)
        guard byID.mayBeImproved, !(filter.isEverything && sort == nil) else { return byID }
        let scan = try onTable(namespace) { (table) throws(StoreError) in
            try chosen(
                connection.indexCache.indexes(of: table.id, connection)
                    .compactMap { IndexScan($0, filter, sort) }, hasSort: sort != nil)
        }
        guard let scan, let scan else { return byID }
        return QueryPlan(access: .index(scan), isSorted: scan.isSorted)
    }

    private func chosen(
        _ candidates: [IndexScan], hasSort: Bool
    ) throws(StoreError) -> IndexScan? {
        guard candidates.count > 1 else { return candidates.first }
        var best: (scan: IndexScan, cost: Int64)?
        for candidate in candidates {
            var cost = candidate.isBounded ? try sample(candidate) : 2 * Self.sampleMax
            // Sorting what was found costs about as much again.
            if !candidate.isSorted { cost *= 2 }
            if cost < best?.cost ?? .max { best = (candidate, cost) }
        }
        return best?.scan
    }

    private func sample(_ scan: IndexScan) throws(StoreError) -> Int64 {
        var count: Int64 = 0
        for range in scan.ranges where count < Self.sampleMax {
            let statement = try connection.prepare(scan.index.statements.count)
            statement.bind(1, range.lower)
            statement.bind(2, range.upper)
            statement.bind(3, Self.sampleMax - count)
            if try statement.step() { count += statement.int64(0) }
        }
        return count
    }

    /// Lends the documents that an index scan leads to and that pass, until the body returns false.
    func scan(
        _ scan: IndexScan, _ table: CollectionTable, _ filter: Filter,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var seen: Set<Int64> = []
        let rows = try connection.prepare(
            scan.isReversed ? scan.index.statements.backward : scan.index.statements.forward)
        let documents = try connection.prepare(.getRow, table)
        for range in scan.isReversed ? scan.ranges.reversed() : scan.ranges {
            rows.bind(1, range.lower)
            rows.bind(2, range.upper)
            while try rows.step() {
                let row = rows.int64(0)
                if scan.index.isMultikey, !seen.insert(row).inserted { continue }
                documents.bind(1, row)
                guard try documents.step() else {
                    throw StoreError(
                        .corrupt,
                        "Index \(scan.index.definition.name) names a document that is not there",
                        namespace: table.namespace)
                }
                let goesOn = try documents.withBytes(1) { (bytes) throws(StoreError) -> Bool in
                    try StoredDocument.check(bytes, key: documents, 0, of: table)
                    return filter.matches(bytes) ? try body(row, bytes) : true
                }
                documents.reset()
                guard goesOn else { return }
            }
            rows.reset()
        }
    }
}
