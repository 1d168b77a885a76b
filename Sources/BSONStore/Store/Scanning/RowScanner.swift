/// A reader of the documents that a plan chooses, regardless of an access policy.
struct RowScanner {
    /// The transaction's connection.
    let connection: SQLiteConnection
    /// Whether the transaction may write between two documents.
    let isWriting: Bool

    private var indexes: IndexScanner { IndexScanner(connection: connection) }

    /// Calls a body with the bytes of each matching document, and its row if wanted, until the body
    /// returns false.
    ///
    /// - Parameter isContentUsed: whether the body reads the bytes, which are then validated
    ///   completely.
    func scan(
        _ table: CollectionTable, _ filter: Filter, _ plan: QueryPlan, sort: SortOrder? = nil,
        withRows: Bool = false, isContentUsed: Bool = true,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        switch plan.rows {
        case .keys(let keys): try scan(keys, table, filter, body)
        case .index(let index):
            try indexes.scan(index, table, filter, sort, withRows: withRows, body)
        case .union(let plans):
            try scan(plans, plan.isSorted ? sort : nil, table, filter, body)
        case .members(let index):
            try scan(table, filter, .all(nil), withRows: withRows) {
                (row, bytes) throws(StoreError) in
                try index.holds(BSONDocument(unchecked: Array(bytes))) ? try body(row, bytes) : true
            }
        case .range(let range):
            let statement = try range.prepare(table, withRows: withRows, connection)
            do throws(StoreError) {
                let count = try scan(statement, withRows, isContentUsed, filter, body)
                // A lost page shows itself only in that rows and index differ in number. The body of a
                // write transaction may have written.
                if let count, range.isWhole, !isWriting {
                    try connection.catalogCache.compare(count, with: table, connection)
                }
            } catch {
                guard error.code == .corrupt, error.sqliteCode == nil else { throw error }
                throw try named(error, range, table)
            }
        }
    }

    /// Calls a body once with each matching document of several plans until the body returns false,
    /// in the sort order that all plans share.
    private func scan(
        _ plans: [QueryPlan], _ sort: SortOrder?, _ table: CollectionTable, _ filter: Filter,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let scans = plans.compactMap { plan in
            if case .index(let scan) = plan.rows { scan } else { nil }
        }
        if let sort, scans.count == plans.count {
            return try indexes.merge(scans, sort, table, filter, body)
        }
        var seen: Set<Int64> = []
        var goesOn = true
        for plan in plans where goesOn {
            try scan(table, filter, plan, withRows: true) {
                (row, bytes) throws(StoreError) in
                guard seen.insert(row).inserted else { return true }
                goesOn = try body(row, bytes)
                return goesOn
            }
        }
    }

    private func scan(
        _ keys: [[UInt8]], _ table: CollectionTable, _ filter: Filter,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let statement = try connection.prepare(.get, table)
        for key in keys {
            let goesOn = try key.withLentBytes { (lent) throws(StoreError) -> Bool in
                statement.bind(1, lending: lent)
                guard try statement.step() else { return true }
                let row = statement.int64(0)
                return try statement.withBytes(1) { (bytes) throws(StoreError) in
                    try StoredDocument.check(bytes, key: key, of: table)
                    let isFound = filter.isDeterminedByID ? true : try filter.evaluate(bytes)
                    guard isFound else { return true }
                    return try body(row, bytes)
                }
            }
            guard goesOn else { return }
            statement.reset()
        }
    }

    /// Calls a body with each matching row of a statement; returns the number of all rows, or `nil`
    /// if the body stopped.
    private func scan(
        _ statement: borrowing SQLiteStatement, _ withRows: Bool, _ isContentUsed: Bool,
        _ filter: Filter, _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Int64? {
        try filter.matchingStored { (check) throws(StoreError) -> Int64? in
            var count: Int64 = 0
            while try statement.step() {
                count += 1
                let goesOn = try statement.withBytes(0) { (bytes) throws(StoreError) -> Bool in
                    switch try check(bytes) {
                    case .fails: return true
                    case .damaged: throw StoredDocument.damaged
                    case .passes: break
                    case .passesUnchecked:
                        guard !isContentUsed || BSONValidator.isValid(bytes) else {
                            throw StoredDocument.damaged
                        }
                    }
                    return try body(withRows ? statement.int64(1) : 0, bytes)
                }
                guard goesOn else { return nil }
            }
            return count
        }
    }

    /// Returns an error that names the document at which a scan failed, for scans that do not read
    /// keys.
    private func named(
        _ error: StoreError, _ range: QueryPlan.Range, _ table: CollectionTable
    ) throws(StoreError) -> StoreError {
        let rows = try range.prepare(table, withRows: true, connection)
        while try rows.step() {
            guard !rows.withBytes(0, { BSONValidator.isValid($0) }) else { continue }
            let statement = try connection.prepare(.getRow, table)
            statement.bind(1, rows.int64(1))
            var named = error
            named.namespace = table.namespace
            named.documentID = try statement.step() ? BSONKey.decode(statement.bytes(0)) : nil
            return named
        }
        return error
    }
}
