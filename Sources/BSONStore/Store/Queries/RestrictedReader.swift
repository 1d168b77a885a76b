/// A reader of one collection that shows only what the access policy allows.
struct RestrictedReader {
    /// The access to the collection.
    let gate: any CollectionAccess
    /// The reader of the documents, which knows no policy; what it reads must not be revealed.
    let scanner: RowScanner
    /// The place of the documents; `nil` for the store itself.
    let source: (any CandidateSource)?

    private var tables: TableLookup { TableLookup(connection: scanner.connection) }
    private var planner: QueryPlanner { QueryPlanner(scanner: scanner) }
    private var rows: RowLookup {
        RowLookup(connection: scanner.connection, readsChanges: scanner.isWriting)
    }

    /// Returns the document with an id as the access policy shows it.
    func document(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> BSONDocument? {
        guard let source else {
            return try rows.stored(namespace, id: id).flatMap { gate.visible($0.document) }
        }
        var found: BSONDocument?
        let query = CandidateQuery(filter: try Filter(["_id": ["$eq": id]]))
        try source.forEach(namespace, query) { (document) throws(StoreError) in
            try pass(0, document, query.filter) { _, bytes in
                found = BSONDocument(unchecked: Array(bytes))
                return false
            }
        }
        return found
    }

    /// Returns the documents of ids until they reach a number of bytes; `nil` for each hidden or
    /// missing one.
    func documents(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int
    ) throws(StoreError) -> [BSONDocument?] {
        var documents: [BSONDocument?] = []
        var byteCount = 0
        for id in ids where byteCount < bytesMax {
            let document = try document(namespace, id: id)
            byteCount += document?.byteCount ?? 0
            documents.append(document)
        }
        return documents
    }

    /// Calls a body with each visible, matching document until it returns false; in the order of
    /// insertion, so that the order reveals nothing hidden.
    ///
    /// - Parameter first: the documents that are needed if not all are.
    func scan(
        _ namespace: Namespace, _ filter: Filter, _ plan: QueryPlan, first: FirstDocuments?,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard let visible = gate.filter else { return }
        if let source {
            let query = CandidateQuery(
                filter: filter, readsLastFirst: plan.readsLastFirst, first: first)
            return try source.forEach(namespace, query) { (document) throws(StoreError) in
                try WorkBudget.spend()
                return try pass(0, document, filter, body)
            }
        }
        if let id = filter.determiningID {
            if let found = try rows.stored(namespace, id: id) {
                _ = try pass(found.row, found.document, filter, body)
            }
            return
        }
        guard let rows = try boundedRows(namespace, filter, visible) else {
            return try scanRows(namespace, plan) { (row, document) throws(StoreError) in
                try pass(row, document, filter, body)
            }
        }
        for row in plan.readsLastFirst ? rows.reversed() : rows {
            guard let found = try self.rows.stored(namespace, row: row) else { continue }
            guard try pass(row, found.document, filter, body) else { return }
        }
    }

    /// Calls a body with a document as the access policy shows it, if it is visible and matches.
    ///
    /// - Returns: false if the body stops the scan.
    func pass(
        _ row: Int64, _ document: BSONDocument, _ filter: Filter,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        guard let shown = gate.visible(document) else { return true }
        return try shown.withUnsafeBytes { (bytes) throws(StoreError) -> Bool in
            try filter.evaluate(bytes) ? try body(row, bytes) : true
        }
    }

    /// Returns how many visible documents match; `nil` if they must be read to tell.
    func count(
        _ namespace: Namespace, _ filter: Filter, limit: Int
    ) throws(StoreError) -> Int? {
        guard gate.filter != nil else { return 0 }
        return try source?.count(namespace, filter, limit: limit)
    }

    /// Returns the rows, in the order of insertion, that include all visible matching documents;
    /// `nil` for all rows.
    private func boundedRows(
        _ namespace: Namespace, _ filter: Filter, _ visible: Filter
    ) throws(StoreError) -> [Int64]? {
        // An index on hidden fields would answer from hidden values.
        for filter in gate.hidesFields ? [visible] : [filter, visible] {
            guard filter.textSearch == nil, filter.impliedOrder == nil else { continue }
            let filter = try planner.completed(filter, namespace)
            let plan = try planner.plan(namespace, filter, nil)
            guard plan.isBounded else { continue }
            var rows: Set<Int64> = []
            _ = try tables.onTable(namespace) { (table) throws(StoreError) in
                try scanner.scan(table, .all, plan, withRows: true) { row, _ in
                    rows.insert(row)
                    return true
                }
            }
            return rows.sorted()
        }
        return nil
    }

    private func scanRows(
        _ namespace: Namespace, _ plan: QueryPlan,
        _ body: (Int64, BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var range = QueryPlan.Range()
        if plan.readsLastFirst { range.order = .insertedLast }
        _ = try tables.onTable(namespace) { (table) throws(StoreError) in
            let statement = try range.prepare(table, withRows: true, scanner.connection)
            while try statement.step() {
                let document = try statement.withBytes(0) {
                    (bytes) throws(StoreError) -> BSONDocument in
                    guard BSONValidator.isValid(bytes) else { throw StoredDocument.damaged }
                    return BSONDocument(unchecked: Array(bytes))
                }
                guard try body(statement.int64(1), document) else { return }
            }
        }
    }
}

extension QueryPlan {
    /// Whether the most recently inserted documents are read first.
    fileprivate var readsLastFirst: Bool {
        if case .range(let range) = rows { range.order == .insertedLast } else { false }
    }
}
