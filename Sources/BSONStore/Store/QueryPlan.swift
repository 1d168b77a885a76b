/// Says which rows of a collection have to be looked at for a filter.
struct QueryPlan {
    /// The rows.
    enum Access {
        /// Those with these id keys, each once, in order.
        case keys([[UInt8]])
        /// Those whose id key lies between, in the order of the keys when there is a bound or a sort.
        case range(Range)
        /// Those that keys of an index lead to.
        case index(IndexScan)
    }

    /// Bounds of id keys; without any, all rows.
    struct Range {
        var lower: [UInt8]?
        var upper: [UInt8]?
        var order = Order.inserted
    }

    /// The order in which rows are read.
    enum Order {
        case inserted
        case idAscending
        case idDescending
    }

    let access: Access
    /// Whether the documents come in the order that was asked for.
    let isSorted: Bool

    init(access: Access, isSorted: Bool) {
        self.access = access
        self.isSorted = isSorted
    }

    /// Whether an index may do better than this plan by ids.
    var mayBeImproved: Bool {
        switch access {
        case .keys, .index: false
        case .range(let range): range.lower == nil && range.upper == nil && range.order == .inserted
        }
    }

    /// Plans by the `_id` alone.
    init(_ filter: Filter, _ sort: SortOrder?) {
        var range = Range()
        if let key = sort?.keys.first, sort?.keys.count == 1, key.path.parts == ["_id"],
            sort?.collation == nil
        {
            range.order = key.isDescending ? .idDescending : .idAscending
        }
        let parts: [Predicate]
        if case .all(let all) = filter.predicate { parts = all } else { parts = [filter.predicate] }
        var keys: [[UInt8]]?
        // The ids' keys are in the order of bytes, which a collation's is not.
        for case .field(let path, let test) in parts
        where path.parts == ["_id"] && filter.collation == nil {
            if let found = Self.keys(test) { keys = keys ?? found }
            Self.narrow(&range, test)
        }
        if let keys {
            access = .keys(range.order == .idDescending ? keys.reversed() : keys)
        } else {
            access = .range(range)
        }
        isSorted =
            sort.map { $0.keys.isEmpty && !$0.reversesInsertion } ?? true
            || range.order != .inserted
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

    /// Both bounds are inclusive: the filter itself looks at each document again.
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
    /// The statement that reads documents, and rows as well when they are wanted.
    func prepare(
        _ table: CollectionTable, withRows: Bool, _ connection: SQLiteConnection
    ) throws(StoreError) -> SQLiteStatement {
        if lower == nil, upper == nil, order == .inserted {
            return try connection.prepare(withRows ? .scanRows : .scan, table)
        }
        var conditions: [String] = []
        if lower != nil { conditions.append("key >= ?1") }
        if upper != nil { conditions.append("key <= ?2") }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        let column =
            switch order {
            // Between bounds the index is read in its order; sorting by row would cost extra.
            case .inserted: "key"
            case .idAscending: "key"
            case .idDescending: "key DESC"
            }
        let name = StoreSchema.tableName(table.id)
        let statement = try connection.prepare(
            "SELECT doc, id FROM \(name)\(filter) ORDER BY \(column)")
        bind(statement)
        return statement
    }

    private func bind(_ statement: borrowing SQLiteStatement) {
        if let lower { statement.bind(1, lower) }
        if let upper { statement.bind(2, upper) }
    }
}
