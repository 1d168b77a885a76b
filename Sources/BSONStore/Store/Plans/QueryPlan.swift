/// The rows of a collection to read for a filter.
struct QueryPlan {
    /// The choice of rows.
    enum Rows {
        /// The rows with these id keys, each once, in order.
        case keys([[UInt8]])
        /// The rows with id keys in a range, in key order if there is a bound or a sort.
        case range(Range)
        /// The rows that keys of an index point to.
        case index(IndexScan)
        /// The rows of several plans, each once.
        case union([QueryPlan])
        /// The rows whose documents are in a geo index, which stores no keys; in the order of
        /// insertion.
        case members(StoredIndex)
    }

    /// Bounds of id keys; without any, all rows.
    struct Range {
        var lower: [UInt8]?
        var upper: [UInt8]?
        /// The end of the keys, itself excluded, for `max` with a hint on the `_id`.
        ///
        /// Such a range has the order ``Order/idAscending`` and is compared with no other plan, so
        /// ``isByKey`` and ``QueryPlan/isBounded`` need not ask for it.
        var behind: [UInt8]?
        var order = Order.inserted

        /// Whether the range contains all rows of the collection.
        var isWhole: Bool { lower == nil && upper == nil && behind == nil }

        /// Whether the rows are found by their keys.
        var isByKey: Bool {
            switch order {
            case .inserted, .insertedLast: lower != nil || upper != nil
            case .idAscending, .idDescending: true
            }
        }
    }

    /// The order of reading rows; a clustered collection keeps its documents in the order of their
    /// ids, not of insertion.
    ///
    /// Source: MongoDB manual, "Clustered Collections".
    enum Order {
        case inserted
        case insertedLast
        case idAscending
        case idDescending
    }

    let rows: Rows
    /// Whether the plan returns documents in the requested order.
    let isSorted: Bool
    /// The other possible plans, for `explain`.
    var rejected: [QueryPlan] = []
    /// Whether one key of each value is read, to find the distinct values of a field.
    var isDistinct = false

    init(rows: Rows, isSorted: Bool) {
        self.rows = rows
        self.isSorted = isSorted
    }

    /// Returns a plan for all documents, in reverse order of insertion if the sort or hint asks for
    /// it.
    static func all(_ sort: SortOrder?, _ hint: IndexHint? = nil) -> QueryPlan {
        var range = Range()
        if hint == .reverseNatural { range.order = .insertedLast }
        if let sort, sort.keys.isEmpty, sort.reversesInsertion { range.order = .insertedLast }
        return QueryPlan(rows: .range(range), isSorted: sort?.keys.isEmpty ?? true)
    }

    /// Whether an index may be better than this plan by ids.
    var mayBeImproved: Bool {
        switch rows {
        case .keys, .index, .union, .members: false
        case .range: true
        }
    }

    /// Whether only some documents are read.
    var isBounded: Bool {
        switch rows {
        case .keys: true
        case .range(let range): range.lower != nil || range.upper != nil
        case .index(let scan): scan.hasBounds
        case .union(let branches): branches.allSatisfy(\.isBounded)
        case .members: false
        }
    }

    /// Whether the plan reads by keys, even if all of them.
    var isByKey: Bool {
        switch rows {
        case .keys, .index, .union, .members: true
        case .range(let range): range.isByKey
        }
    }

    /// Plans with the `_id` alone: by keys, by a range of them, or a scan of all documents.
    init(byIDOf filter: Filter, _ sort: SortOrder?) {
        let parts: [Predicate]
        let predicate = filter.plannedPredicate
        if case .all(let all) = predicate { parts = all } else { parts = [predicate] }
        self.init(parts, filter.collation, sort)
    }

    /// Plans with the conditions that the parts of a filter put on the `_id`.
    init(_ parts: [Predicate], _ collation: Collation?, _ sort: SortOrder?) {
        var range = Range()
        if let key = sort?.keys.first, sort?.keys.count == 1, key.path.parts == ["_id"],
            sort?.collation == nil
        {
            range.order = key.isDescending ? .idDescending : .idAscending
        } else if let sort, sort.keys.isEmpty, sort.reversesInsertion {
            range.order = .insertedLast
        }
        var keys: [[UInt8]]?
        for case .field(let path, let test) in parts where path.parts == ["_id"] {
            // Id keys have byte order, which differs from a collation's.
            guard collation == nil || !Self.concernsTexts(test) else { continue }
            if let found = Self.keys(test) { keys = keys ?? found }
            Self.narrow(&range, test)
        }
        if let keys {
            let isReversed = range.order == .idDescending
            rows = .keys(isReversed ? keys.reversed() : keys)
        } else {
            rows = .range(range)
        }
        switch range.order {
        case .inserted: isSorted = sort?.keys.isEmpty ?? true
        case .insertedLast: isSorted = keys.map { $0.count < 2 } ?? !range.isByKey
        case .idAscending, .idDescending: isSorted = true
        }
    }

    private static func concernsTexts(_ test: Predicate.Test) -> Bool {
        switch test {
        case .compare(_, let value): Collation.concerns(value)
        case .isIn(let values, _): values.contains { Collation.concerns($0) }
        case .matches, .exists, .hasType, .hasSize, .modulo, .hasDocument, .hasElement, .special:
            false
        }
    }

    private static func keys(_ test: Predicate.Test) -> [[UInt8]]? {
        switch test {
        case .compare(.equal, let value): return [BSONKey.encode(value)]
        case .isIn(let values, let expressions):
            guard expressions.isEmpty else { return nil }
            var keys = values.map { BSONKey.encode($0) }
            keys.sort { $0.lexicographicallyPrecedes($1) }
            var last: [UInt8]?
            return keys.filter { key in
                defer { last = key }
                return key != last
            }
        case .compare, .matches, .exists, .hasType, .hasSize, .modulo, .hasDocument, .hasElement,
            .special:
            return nil
        }
    }

    /// Narrows a range; both bounds are inclusive because the filter checks each document again.
    private static func narrow(_ range: inout Range, _ test: Predicate.Test) {
        guard case .compare(let comparison, let value) = test else { return }
        switch value {
        case .undefined, .null, .minKey, .maxKey: return
        default: break
        }
        switch comparison {
        case .equal: return
        case .greater, .greaterOrEqual: range.lower = BSONKey.encode(value)
        case .less, .lessOrEqual: range.upper = BSONKey.encode(value)
        }
    }
}

extension QueryPlan.Range {
    /// Returns the statement that reads documents, and rows if wanted.
    func prepare(
        _ table: CollectionTable, withRows: Bool, _ connection: SQLiteConnection
    ) throws(StoreError) -> SQLiteStatement {
        if lower == nil, upper == nil, order == .inserted, !table.isClustered {
            return try connection.prepare(withRows ? .scanRows : .scan, table)
        }
        let statement = try connection.prepare(
            "SELECT doc, id FROM \(source(table)) ORDER BY \(column(table))")
        bind(statement)
        return statement
    }

    /// Returns the number of rows, counting at most up to a limit.
    func count(
        upTo max: Int64, _ table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) -> Int64 {
        let statement = try connection.prepare(
            "SELECT count(*) FROM (SELECT 1 FROM \(source(table)) LIMIT ?3)")
        bind(statement)
        statement.bind(3, max)
        return try statement.step() ? statement.int64(0) : 0
    }

    private func source(_ table: CollectionTable) -> String {
        var conditions: [String] = []
        if lower != nil { conditions.append("key >= ?1") }
        if upper != nil { conditions.append("key <= ?2") }
        if behind != nil { conditions.append("key < ?4") }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        return StoreSchema.tableName(table.id) + filter
    }

    private func column(_ table: CollectionTable) -> String {
        switch order {
        case .inserted where table.isClustered: "key"
        case .insertedLast where table.isClustered: "key DESC"
        // A bounded range is read in index order; sorting by row would cost extra.
        case .inserted: "key"
        case .insertedLast: lower != nil || upper != nil ? "key" : "id DESC"
        case .idAscending: "key"
        case .idDescending: "key DESC"
        }
    }

    private func bind(_ statement: borrowing SQLiteStatement) {
        if let lower { statement.bind(1, lower) }
        if let upper { statement.bind(2, upper) }
        if let behind { statement.bind(4, behind) }
    }
}
