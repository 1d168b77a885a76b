extension ReadTransaction {
    /// Applies an access policy for the duration of a body.
    package func through<R, T: ReadTransaction>(
        _ accessPolicy: (any AccessPolicy)?, _ transaction: T, _ body: (T) throws -> R
    ) rethrows -> R {
        let kept = self.accessPolicy
        self.accessPolicy = accessPolicy
        defer { self.accessPolicy = kept }
        return try body(transaction)
    }

    /// Whether a collection may have hidden documents or fields.
    func isRestricted(_ namespace: Namespace) -> Bool { gate(namespace) != nil }

    /// Returns the access to a collection; `nil` for full access.
    func gate(_ namespace: Namespace) -> (any CollectionAccess)? {
        accessPolicy.flatMap { $0.gate(namespace) }
    }

    /// Whether any documents of a collection may be visible.
    func isOpen(_ namespace: Namespace) -> Bool {
        gate(namespace).map { $0.filter != nil } ?? true
    }

    /// Whether any documents of a database may be visible.
    func isOpen(database: String) throws(StoreError) -> Bool {
        guard accessPolicy != nil else { return true }
        return try collections().contains { $0.database == database && isOpen($0) }
    }

    /// Returns a document as the access policy shows it; `nil` when hidden.
    func visible(_ document: BSONDocument, _ gate: any CollectionAccess) -> BSONDocument? {
        guard let filter = gate.filter, filter.matches(document) else { return nil }
        return gate.shown(document)
    }

    /// Returns the document with an id as the access policy shows it.
    func visible(
        _ namespace: Namespace, id: BSONValue, _ gate: any CollectionAccess
    ) throws(StoreError) -> BSONDocument? {
        try stored(namespace, id: id).flatMap { visible($0.document, gate) }
    }

    /// Returns the stored document with an id and its row, even if hidden.
    func stored(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> StoredDocument? {
        try BSONKey.lend(id) { (key) throws(StoreError) -> StoredDocument? in
            let found = try onTable(namespace) { (table) throws(StoreError) -> StoredDocument? in
                try row(lent: key, table)
            }
            return found ?? nil
        }
    }

    /// Returns the stored document of a row, even if hidden.
    func stored(_ namespace: Namespace, row: Int64) throws(StoreError) -> StoredDocument? {
        let found = try onTable(namespace) { (table) throws(StoreError) -> StoredDocument? in
            let statement = try connection.prepare(
                readsChanges ? .getRowToWrite : .getRow, table)
            statement.bind(1, row)
            guard try statement.step() else { return nil }
            let change = readsChanges ? statement.int64(2) : nil
            return try statement.withBytes(1) { (bytes) throws(StoreError) in
                try StoredDocument.check(bytes, key: statement, 0, of: table)
                return StoredDocument(
                    row: row, document: BSONDocument(unchecked: Array(bytes)), change: change)
            }
        }
        return found ?? nil
    }

    /// Returns how many documents are visible.
    func countVisible(
        _ namespace: Namespace, _ gate: any CollectionAccess
    ) throws(StoreError) -> Int {
        var count = 0
        try scan(gate, namespace, .all, .all(nil)) { _, _ in
            count += 1
            return true
        }
        return count
    }

    /// Calls a body with each visible, matching document until it returns false; in the order of
    /// insertion, so that the order reveals nothing hidden.
    func scan(
        _ gate: any CollectionAccess, _ namespace: Namespace, _ filter: Filter, _ plan: QueryPlan,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard let visible = gate.filter else { return }
        func pass(_ row: Int64, _ document: BSONDocument) throws(StoreError) -> Bool {
            guard visible.matches(document) else { return true }
            return try gate.shown(document).withUnsafeBytes { (bytes) throws(StoreError) -> Bool in
                try filter.passes(bytes) ? try body(row, bytes) : true
            }
        }
        if let view = try view(namespace) {
            return try scan(view, of: namespace.database, .all) { (row, bytes) throws(StoreError) in
                try pass(row, BSONDocument(unchecked: Array(bytes)))
            }
        }
        if let id = filter.determiningID {
            if let found = try stored(namespace, id: id) { _ = try pass(found.row, found.document) }
            return
        }
        guard let rows = try candidates(gate, namespace, filter, visible) else {
            return try scanRows(namespace, plan, pass)
        }
        for row in plan.readsLastFirst ? rows.reversed() : rows {
            guard let found = try stored(namespace, row: row) else { continue }
            guard try pass(row, found.document) else { return }
        }
    }

    /// Returns the rows, in the order of insertion, that include all visible matching documents;
    /// `nil` for all rows.
    private func candidates(
        _ gate: any CollectionAccess, _ namespace: Namespace, _ filter: Filter, _ visible: Filter
    ) throws(StoreError) -> [Int64]? {
        // An index on hidden fields would answer from hidden values.
        for filter in gate.hidesFields ? [visible] : [filter, visible] {
            guard filter.textSearch == nil, filter.impliedOrder == nil else { continue }
            let filter = try resolved(filter, namespace)
            let rows = try withoutAccessPolicy { () throws(StoreError) -> [Int64]? in
                let plan = try plan(namespace, filter, nil)
                guard plan.isBounded else { return nil }
                var rows: Set<Int64> = []
                try scan(namespace, .all, plan, withRows: true) { row, _ in
                    rows.insert(row)
                    return true
                }
                return rows.sorted()
            }
            if let rows { return rows }
        }
        return nil
    }

    /// Runs a body without the access policy; the body must reveal nothing it reads.
    private func withoutAccessPolicy<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R
    {
        let kept = accessPolicy
        accessPolicy = nil
        defer { accessPolicy = kept }
        return try body()
    }

    private func scanRows(
        _ namespace: Namespace, _ plan: QueryPlan,
        _ body: (Int64, BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var range = QueryPlan.Range()
        if plan.readsLastFirst { range.order = .insertedLast }
        _ = try onTable(namespace) { (table) throws(StoreError) in
            let statement = try range.prepare(table, withRows: true, connection)
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
