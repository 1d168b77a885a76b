/// The changes to a document's index keys, prepared before the write so that a refused key
/// leaves no trace.
struct IndexChange {
    var removed: [(index: StoredIndex, key: [UInt8])] = []
    var added: [(index: StoredIndex, key: [UInt8])] = []
    var newMultikey: [StoredIndex] = []

    var isEmpty: Bool { removed.isEmpty && added.isEmpty }
}

/// A writer of the index keys of documents.
struct IndexWriter {
    /// The transaction's connection.
    let connection: SQLiteConnection
    /// The unique keys that are checked later; `nil` checks them before each write.
    var deferred: DeferredUniqueKeys?

    /// Returns the index keys to add and to remove.
    ///
    /// - Throws: `duplicateKey` (11000) when another document has a unique key, 171 for parallel
    ///   arrays, 16755, 13026, 13027, 13068 or 16804 for an invalid place in a geo index.
    func change(
        in table: CollectionTable, row: Int64?, from before: BSONDocument?,
        to after: BSONDocument?
    ) throws(StoreError) -> IndexChange {
        var change = IndexChange()
        for index in try connection.catalogCache.indexes(of: table.id, connection) {
            let old =
                try before.map { (document) throws(StoreError) in
                    try index.keys(of: document).keys
                } ?? []
            guard let after else {
                change.removed += old.map { (index, $0) }
                continue
            }
            try index.check(after)
            let new = try index.keys(of: after)
            if new.isMultikey, !index.isMultikey { change.newMultikey.append(index) }
            if old == new.keys { continue }
            let kept = old.isEmpty ? [] : Set(old).intersection(new.keys)
            change.removed += old.filter { !kept.contains($0) }.map { (index, $0) }
            for key in new.keys where kept.isEmpty || !kept.contains(key) {
                try WorkBudget.spend()
                if deferred == nil, index.refusesEqualKeys,
                    let owner = try owner(of: key, in: index), owner != row
                {
                    throw index.duplicate(of: after, key: key, in: table.namespace)
                }
                change.added.append((index, key))
            }
        }
        return change
    }

    /// Applies the changes to a row's keys.
    func apply(
        _ change: IndexChange, row: Int64, in table: CollectionTable
    ) throws(StoreError) {
        for (index, key) in change.removed {
            try run(.delete, index, key, row)
            note(key, of: index, row, isAdded: false, in: table)
        }
        for (index, key) in change.added {
            try run(.insert, index, key, row)
            note(key, of: index, row, isAdded: true, in: table)
        }
        for index in change.newMultikey { try setMultikey(index, in: table) }
    }

    private func note(
        _ key: [UInt8], of index: StoredIndex, _ row: Int64, isAdded: Bool,
        in table: CollectionTable
    ) {
        guard let deferred, index.refusesEqualKeys else { return }
        deferred.note(
            DeferredUniqueKeys.Entry(
                index: index, table: table, key: key, row: row, isAdded: isAdded))
    }

    /// Returns the rows that have a key.
    func owners(of key: [UInt8], in index: StoredIndex) throws(StoreError) -> [Int64] {
        let statement = try index.prepare(.rows, connection)
        statement.bind(1, key)
        var rows: [Int64] = []
        while try statement.step() { rows.append(statement.int64(0)) }
        return rows
    }

    private func owner(of key: [UInt8], in index: StoredIndex) throws(StoreError) -> Int64? {
        let statement = try index.prepare(.row, connection)
        statement.bind(1, key)
        return try statement.step() ? statement.int64(0) : nil
    }

    private func run(
        _ statement: StoredIndex.Statement, _ index: StoredIndex, _ key: [UInt8], _ row: Int64
    ) throws(StoreError) {
        let statement = try index.prepare(statement, connection)
        try key.withLentBytes { (key) throws(StoreError) in
            statement.bind(1, lending: key)
            statement.bind(2, row)
            try statement.run()
        }
    }

    private func setMultikey(
        _ index: StoredIndex, in table: CollectionTable
    ) throws(StoreError) {
        let statement = try connection.prepare(
            "UPDATE store_indexes SET multikey = 1 WHERE id = ?1")
        statement.bind(1, index.id)
        try statement.run()
        connection.catalogCache.forget(table.id)
    }

    /// Writes the keys of all documents of a table into a new index.
    ///
    /// - Parameter progress: receives the number of documents read, every thousand; an error that
    ///   it throws cancels the work.
    /// - Throws: `duplicateKey` (11000) for equal keys of a unique index, and as
    ///   ``change(in:row:from:to:)`` does.
    func fill(
        _ index: StoredIndex, _ table: CollectionTable, _ progress: (Int) throws -> Void
    ) throws {
        var isMultikey = false
        var read = 0
        let rows = try connection.prepare(.scanRows, table)
        while try rows.step() {
            let row = rows.int64(1)
            let document: BSONDocument
            do throws(BSONError) {
                document = try rows.withBytes(0) { (bytes) throws(BSONError) in
                    try BSONDocument(validating: bytes)
                }
            } catch {
                throw StoreError(
                    .corrupt, "A stored document is not valid BSON", namespace: table.namespace,
                    underlying: error)
            }
            try index.check(document)
            let keys = try index.keys(of: document)
            isMultikey = isMultikey || keys.isMultikey
            for key in keys.keys {
                if index.definition.isUnique, try owner(of: key, in: index) != nil {
                    throw index.duplicate(of: document, key: key, in: table.namespace)
                }
                try run(.insert, index, key, row)
            }
            read += 1
            if read.isMultiple(of: 1_000) { try progress(read) }
        }
        if isMultikey { try setMultikey(index, in: table) }
        try progress(read)
    }
}
