// MARK: - Maintenance

extension WriteTransaction {
    /// The changes to a document's index keys, prepared before the write so that a refused key
    /// leaves no trace.
    struct IndexChange {
        var removed: [(index: StoredIndex, key: [UInt8])] = []
        var added: [(index: StoredIndex, key: [UInt8])] = []
        var newMultikey: [StoredIndex] = []

        var isEmpty: Bool { removed.isEmpty && added.isEmpty }
    }

    /// Returns the index keys to add and to remove.
    ///
    /// - Throws: `duplicateKey` (11000) when another document has a unique key, 171 for parallel
    ///   arrays, 16755, 13026, 13027, 13068 or 16804 for an invalid place in a geo index.
    func indexChange(
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
                if index.refusesEqualKeys, let owner = try owner(of: key, in: index),
                    owner != row
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
        }
        for (index, key) in change.added {
            try run(.insert, index, key, row)
        }
        for index in change.newMultikey { try setMultikey(index, in: table) }
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
}

// MARK: - Definition

extension WriteTransaction {
    /// The largest number of indexes in a collection, including the `_id` index.
    static let indexesMax = 64

    /// Creates an index over the existing documents; creates the collection when it is missing.
    ///
    /// - Parameter progress: receives the number of documents read, every thousand; an error that
    ///   it throws cancels the build.
    /// - Returns: whether the index is new; the same index under the same name is not an error.
    /// - Throws: 67, 85 (IndexOptionsConflict), 86 (IndexKeySpecsConflict), 11000 for a unique
    ///   index over equal keys, 171 for parallel arrays, 166 for a view.
    @discardableResult
    public func createIndex(
        _ namespace: Namespace, _ definition: IndexDefinition,
        progress: (Int) throws -> Void = { _ in }
    ) throws -> Bool {
        guard let (table, made) = try make(definition, namespace, progress) else { return false }
        try record(.createIndex, table, Self.description(of: [made]))
        return true
    }

    /// Creates indexes as the command `createIndexes` does: change streams report those over
    /// documents as one event, those of an empty collection one by one.
    ///
    /// - Throws: as ``createIndex(_:_:progress:)`` does.
    package func createIndexes(_ namespace: Namespace, _ definitions: [IndexDefinition]) throws {
        let isEmpty = try view(namespace) == nil && count(namespace) == 0
        var made: [IndexDefinition] = []
        var table: CollectionTable?
        for definition in definitions {
            guard !isEmpty else {
                try createIndex(namespace, definition)
                continue
            }
            guard let index = try make(definition, namespace, { _ in }) else { continue }
            table = index.table
            made.append(index.definition)
        }
        if let table { try record(.createIndex, table, Self.description(of: made)) }
    }

    /// Creates an index without recording it in the feed; `nil` when it exists.
    private func make(
        _ definition: IndexDefinition, _ namespace: Namespace,
        _ progress: (Int) throws -> Void
    ) throws -> (table: CollectionTable, definition: IndexDefinition)? {
        let table = try onTableForWriting(namespace) { $0 }
        guard table.options.view == nil else {
            throw StoreError(.commandNotSupportedOnView, "Cannot create indexes on a view")
        }
        try IndexCreationCheck.check(definition, isCapped: table.options.capped != nil)
        let definition = try definition.inheriting(table.options.collation)
        let existing = try connection.catalogCache.indexes(of: table.id, connection)
        if try IndexConflict.isThere(definition, among: existing.map(\.definition)) { return nil }
        guard existing.count + 1 < Self.indexesMax else {
            throw StoreError(
                .cannotCreateIndex,
                "add index fails, too many indexes for \(namespace) key:"
                    + ShellText.text(of: definition.keyPattern))
        }
        try savepoint {
            let id = try register(definition, table)
            try connection.executeOnce(StoredIndex.tableStatement(id))
            let index = try StoredIndex(
                id: id, table: table.id, specification: definition.document.bytes,
                isMultikey: false,
                place: connection.reserveNumbers(StoredIndex.Statement.allCases.count))
            try fill(index, table, progress)
        }
        connection.catalogCache.forget(table.id)
        return (table, definition)
    }

    private static func description(of indexes: [IndexDefinition]) -> BSONDocument {
        ["indexes": .array(BSONArray(indexes.map { .document($0.document) }))]
    }

    private func register(
        _ definition: IndexDefinition, _ table: CollectionTable
    ) throws(StoreError) -> Int64 {
        let statement = try connection.prepare(
            """
            INSERT INTO store_indexes (collection, name, specification, multikey)
            VALUES (?1, ?2, ?3, 0)
            """)
        statement.bind(1, table.id)
        statement.bind(2, definition.name)
        statement.bind(3, definition.document.bytes)
        try statement.run()
        return connection.lastInsertedRowID
    }

    private func fill(
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

    /// Removes an index by its name.
    ///
    /// - Throws: 26 without the collection, 27 (IndexNotFound) without the index, 72
    ///   (InvalidOptions) for the `_id` index.
    public func dropIndex(_ namespace: Namespace, name: String) throws(StoreError) {
        try dropIndexes(namespace, [.string(name)], isAll: name == "*")
    }

    /// Removes all indexes except the `_id` index.
    ///
    /// - Throws: 26 when there is no such collection.
    public func dropIndexes(_ namespace: Namespace) throws(StoreError) {
        try dropIndexes(namespace, "*")
    }

    /// Removes the indexes that the command `dropIndexes` names (`"*"`, a name, several names or a
    /// key pattern), or none of them.
    ///
    /// - Returns: how many indexes the collection had, including the `_id` index.
    /// - Throws: 26, 27, 72, 14 and 181 (AmbiguousIndexKeyPattern) with MongoDB's messages.
    @discardableResult
    public func dropIndexes(
        _ namespace: Namespace, _ index: BSONValue
    ) throws(StoreError) -> Int {
        let names: [BSONValue]
        if case .array(let array) = index {
            names = array.values
            guard names.allSatisfy({ $0.stringValue != nil }) else {
                throw StoreError(
                    .typeMismatch,
                    "BSON field 'dropIndexes.index' is the wrong type 'array', expected types "
                        + "'[string, object]'")
            }
        } else {
            names = [index]
        }
        return try dropIndexes(namespace, names, isAll: index == "*")
    }

    @discardableResult
    private func dropIndexes(
        _ namespace: Namespace, _ names: [BSONValue], isAll: Bool
    ) throws(StoreError) -> Int {
        if try view(namespace) != nil {
            throw StoreError(
                .commandNotSupportedOnView, "Cannot drop indexes on view \(namespace)")
        }
        let count = try onTable(namespace) { (table) throws(StoreError) -> Int in
            let indexes = try connection.catalogCache.indexes(of: table.id, connection)
            var dropped: [StoredIndex] = isAll ? indexes : []
            for name in names where !isAll {
                let found = try self.index(name, among: indexes)
                if !dropped.contains(where: { $0.id == found.id }) { dropped.append(found) }
            }
            for index in dropped { try remove(index, table) }
            return indexes.count + 1
        }
        guard let count else {
            throw StoreError(.namespaceNotFound, "ns not found \(namespace)")
        }
        return count
    }

    /// Returns the index with a name or key pattern.
    private func index(
        _ value: BSONValue, among indexes: [StoredIndex]
    ) throws(StoreError) -> StoredIndex {
        if let name = value.stringValue {
            guard name != IndexDefinition.id.name else {
                throw StoreError(.invalidOptions, "cannot drop _id index")
            }
            guard let index = indexes.first(where: { $0.definition.name == name }) else {
                throw StoreError(.indexNotFound, "index not found with name [\(name)]")
            }
            return index
        }
        guard let pattern = value.documentValue else {
            throw StoreError(
                .typeMismatch,
                "BSON field 'dropIndexes.index' is the wrong type '\(value.type.alias)', expected "
                    + "types '[string, object]'")
        }
        guard !pattern.contentEquals(IndexDefinition.id.keyPattern) else {
            throw StoreError(.invalidOptions, "cannot drop _id index")
        }
        let found = indexes.filter { $0.definition.keyPattern.contentEquals(pattern) }
        guard let index = found.first else {
            throw StoreError(
                .indexNotFound, "can't find index with key: \(ShellText.text(of: pattern))")
        }
        guard found.count == 1 else {
            throw StoreError(
                .ambiguousIndexKeyPattern,
                "\(found.count) indexes found for key: \(ShellText.text(of: pattern)), identify by "
                    + "name instead. Conflicting indexes: "
                    + found.prefix(2).map { ShellText.text(of: $0.definition.document) }
                    .joined(separator: ", "))
        }
        return index
    }

    private func remove(_ index: StoredIndex, _ table: CollectionTable) throws(StoreError) {
        let statement = try connection.prepare("DELETE FROM store_indexes WHERE id = ?1")
        statement.bind(1, index.id)
        try statement.run()
        try connection.executeOnce("DROP TABLE \(StoredIndex.tableName(index.id))")
        connection.catalogCache.forget(table.id)
        try record(.dropIndex, table, Self.description(of: [index.definition]))
    }
}

extension ReadTransaction {
    /// Returns the indexes of a collection, the `_id` index first; an empty array when it does not
    /// exist or the access policy hides it.
    public func indexes(_ namespace: Namespace) throws(StoreError) -> [IndexDefinition] {
        guard isOpen(namespace) else { return [] }
        let found = try onTable(namespace) { (table) throws(StoreError) in
            [IndexDefinition.id]
                + (try connection.catalogCache.indexes(of: table.id, connection)).map(\.definition)
        }
        return found ?? []
    }
}
