extension ReadTransaction {
    /// Returns the documents that match a filter.
    ///
    /// - Throws: `corrupt` naming a document whose bytes are not valid BSON, 292 when a sort needs
    ///   more than 100 MiB, and SQLite's errors.
    public func find(
        _ namespace: Namespace, filter: Filter, options: FindOptions = .all
    ) throws(StoreError) -> [BSONDocument] {
        try find(namespace, filter: filter, options: options, bytesMax: .max)
    }

    /// Finds documents as ``find(_:filter:options:)-(_,Filter,_)`` does until they reach a number
    /// of bytes.
    package func find(
        _ namespace: Namespace, filter: Filter, options: FindOptions, bytesMax: Int
    ) throws(StoreError) -> [BSONDocument] {
        var byteCount = 0
        if options.projection == nil {
            let query = try planned(namespace, filter, options)
            if query.isInOrder {
                var batch = BSONDocumentBatch()
                try lend(namespace, query, options) { bytes in
                    batch.append(bytes)
                    byteCount += bytes.count
                    return byteCount < bytesMax
                }
                return batch.finish()
            }
        }
        var documents: [BSONDocument] = []
        try visit(namespace, filter, options) { document in
            documents.append(document)
            byteCount += document.byteCount
            return byteCount < bytesMax
        }
        return documents
    }

    /// Parses a filter and returns the documents that match.
    ///
    /// - Throws: also what ``Filter/init(_:)`` throws.
    public func find(
        _ namespace: Namespace, filter: BSONDocument = [:], options: FindOptions = .all
    ) throws(StoreError) -> [BSONDocument] {
        try find(namespace, filter: try Filter(filter), options: options)
    }

    /// Calls a body with every document that matches a filter.
    ///
    /// The body must not write to the same collection: whether it would see the change is
    /// unspecified.
    ///
    /// - Throws: as ``find(_:filter:options:)-(_,Filter,_)`` does, and the body's error, which ends
    ///   the iteration.
    public func forEach(
        _ namespace: Namespace, filter: Filter, options: FindOptions = .all,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        var failure: (any Error)?
        try visit(namespace, filter, options) { document in
            do {
                try body(document)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Parses a filter and calls a body with every document that matches.
    ///
    /// - Throws: also what ``Filter/init(_:)`` throws.
    public func forEach(
        _ namespace: Namespace, filter: BSONDocument = [:], options: FindOptions = .all,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        try forEach(namespace, filter: try Filter(filter), options: options, body)
    }

    /// Returns how many documents match a filter.
    ///
    /// - Throws: `corrupt` naming a document whose bytes are not valid BSON.
    public func count(
        _ namespace: Namespace, filter: Filter, hint: IndexHint? = nil
    ) throws(StoreError) -> Int {
        let filter = try resolved(filter, namespace)
        if hint == nil, filter.isEverything, try view(namespace) == nil {
            return try count(namespace)
        }
        let plan =
            if let hint {
                try self.plan(namespace, filter, nil, hint: hint)
            } else {
                try quickPlan(namespace, filter, nil, .all)
            }
        if case .index(let scan) = plan.access, scan.isExact { return try count(scan) }
        var count = 0
        try scan(namespace, filter, plan, isContentUsed: false) {
            _, _ in
            count += 1
            return true
        }
        return count
    }

    /// Parses a filter and returns how many documents match.
    ///
    /// - Throws: also what ``Filter/init(_:)`` throws.
    public func count(_ namespace: Namespace, filter: BSONDocument) throws(StoreError) -> Int {
        try count(namespace, filter: try Filter(filter))
    }

    /// Returns the distinct values of a field in the documents that match a filter; array elements
    /// count one by one.
    ///
    /// - Throws: as ``count(_:filter:hint:)`` does.
    public func distinct(
        _ namespace: Namespace, field: String, filter: Filter = .all, hint: IndexHint? = nil
    ) throws(StoreError) -> [BSONValue] {
        let filter = try resolved(filter, namespace)
        var values = try DistinctValues(field, collation: filter.collation)
        if hint == nil, let scan = try distinctScan(namespace, field, filter) {
            try distinct(namespace, scan, into: &values)
            return values.values
        }
        let plan = try plan(namespace, filter, nil, hint: hint)
        do throws(StoreError) {
            try scan(namespace, filter, plan) { _, bytes in
                values.insert(bytes)
                return true
            }
        } catch {
            throw error.during(.execution)
        }
        return values.values
    }

    /// Calls a body with each document, ordered and projected, until the body returns false.
    func visit(
        _ namespace: Namespace, _ filter: Filter, _ options: FindOptions,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let query = try planned(namespace, filter, options)
        do throws(StoreError) {
            try visit(namespace, query, options, body)
        } catch {
            throw error.during(.execution)
        }
    }

    private func visit(
        _ namespace: Namespace, _ query: PlannedQuery, _ options: FindOptions,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let project = { (document: BSONDocument) throws(StoreError) -> BSONDocument in
            try options.projection?.apply(to: document, matching: query.filter) ?? document
        }
        guard let sort = query.order, !query.plan.isSorted else {
            return try lend(namespace, query, options) { (bytes) throws(StoreError) in
                try body(try project(BSONDocument(unchecked: Array(bytes))))
            }
        }
        var sorter = DocumentSorter(order: sort, skip: options.skip, limit: options.limit)
        try scan(namespace, query.filter, query.plan) { (_, bytes) throws(StoreError) in
            let document = BSONDocument(unchecked: Array(bytes))
            let metadata = sort.needsMetadata ? query.filter.metadata(of: document) : [:]
            try sorter.insert(document, metadata: metadata)
            return true
        }
        for document in sorter.sorted().dropFirst(options.skip) {
            guard try body(try project(document)) else { return }
        }
    }

    /// A query together with its plan.
    private struct PlannedQuery {
        /// The filter with the collection's collation and text index.
        let filter: Filter
        let order: SortOrder?
        let plan: QueryPlan

        /// Whether the plan reads the documents in the requested order.
        var isInOrder: Bool { order == nil || plan.isSorted }
    }

    private func planned(
        _ namespace: Namespace, _ given: Filter, _ options: FindOptions
    ) throws(StoreError) -> PlannedQuery {
        let filter = try resolved(given, namespace)
        // The sort compares strings as the filter does.
        let order =
            (given.collation == filter.collation
                ? options.sort : options.sort?.collated(filter.collation)) ?? filter.impliedOrder
        return PlannedQuery(
            filter: filter, order: order,
            plan: try quickPlan(namespace, filter, order, options))
    }

    /// Calls a body with the documents of an ordered plan, after the skipped ones.
    private func lend(
        _ namespace: Namespace, _ query: PlannedQuery, _ options: FindOptions,
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let (skip, limit) = (options.skip, options.limit)
        guard skip > 0 || limit > 0 else {
            return try scan(namespace, query.filter, query.plan, sort: query.order) {
                (_, bytes) throws(StoreError) in try body(bytes)
            }
        }
        var skipped = 0
        var given = 0
        try scan(namespace, query.filter, query.plan, sort: query.order) {
            (_, bytes) throws(StoreError) in
            guard skipped == skip else {
                skipped += 1
                return true
            }
            given += 1
            return try body(bytes) && given != limit
        }
    }

    /// Calls a body with the bytes of each matching document, and its row if wanted, until the body
    /// returns false.
    ///
    /// - Parameter isContentUsed: whether the body reads the bytes, which are then validated
    ///   completely.
    func scan(
        _ namespace: Namespace, _ filter: Filter, _ plan: QueryPlan, sort: SortOrder? = nil,
        withRows: Bool = false, isContentUsed: Bool = true,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        if let gate = gate(namespace) { return try scan(gate, namespace, filter, plan, body) }
        if let view = try view(namespace) {
            return try scan(view, of: namespace.database, filter, body)
        }
        _ = try onTable(namespace) { (table) throws(StoreError) in
            switch plan.access {
            case .keys(let keys): try scan(keys, table, filter, body)
            case .index(let index):
                try scan(index, table, filter, sort, withRows: withRows, body)
            case .union(let plans):
                try scan(plans, plan.isSorted ? sort : nil, table, filter, body)
            case .range(let range):
                let statement = try range.prepare(table, withRows: withRows, connection)
                do throws(StoreError) {
                    let count = try scan(statement, withRows, isContentUsed, filter, body)
                    // The body of a write transaction may have written.
                    if let count, range.isWhole, !(self is WriteTransaction) {
                        try connection.catalogCache.compare(count, with: table, connection)
                    }
                } catch {
                    guard error.code == .corrupt, error.sqliteCode == nil else { throw error }
                    throw try named(error, range, table)
                }
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
                    let isFound = filter.isDeterminedByID ? true : try filter.passes(bytes)
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
