/// The changes of the list of indexes.
struct IndexCatalog {
    /// The writer, which creates tables and records changes.
    let writer: DocumentWriter
    /// The execution of queries as the access policy allows.
    let executor: QueryExecutor

    private var connection: SQLiteConnection { writer.connection }
    private var tables: TableLookup { writer.tables }

    /// The largest number of indexes in a collection, including the `_id` index.
    static let indexesMax = 64
    /// The steps of work that comparing one definition with those of the collection counts as.
    private static let stepsOfComparison = 64

    /// Creates an index over the existing documents; creates the collection when it is missing.
    ///
    /// - Parameter progress: receives the number of documents read, every thousand; an error that
    ///   it throws cancels the build.
    /// - Returns: whether the index is new; the same index under the same name is not an error.
    /// - Throws: 67, 85 (IndexOptionsConflict), 86 (IndexKeySpecsConflict), 11000 for a unique
    ///   index over equal keys, 171 for parallel arrays, 166 for a view.
    func createIndex(
        _ namespace: Namespace, _ definition: IndexDefinition,
        progress: (Int) throws -> Void
    ) throws -> Bool {
        guard let (table, made) = try make(definition, namespace, progress) else { return false }
        try writer.recorder.record(.createIndex, table, Self.description(of: [made]))
        return true
    }

    /// Creates indexes as the command `createIndexes` does: change streams report those over
    /// documents as one event, those of an empty collection one by one.
    ///
    /// - Throws: as ``createIndex(_:_:progress:)`` does.
    func createIndexes(_ namespace: Namespace, _ definitions: [IndexDefinition]) throws {
        let isEmpty = try tables.view(namespace) == nil && executor.count(namespace) == 0
        var made: [IndexDefinition] = []
        var table: CollectionTable?
        for definition in definitions {
            try WorkBudget.spend(Self.stepsOfComparison)
            guard !isEmpty else {
                _ = try createIndex(namespace, definition, progress: { _ in })
                continue
            }
            guard let index = try make(definition, namespace, { _ in }) else { continue }
            table = index.table
            made.append(index.definition)
        }
        if let table { try writer.recorder.record(.createIndex, table, Self.description(of: made)) }
    }

    /// Creates an index without recording it in the feed; `nil` when it exists.
    private func make(
        _ definition: IndexDefinition, _ namespace: Namespace,
        _ progress: (Int) throws -> Void
    ) throws -> (table: CollectionTable, definition: IndexDefinition)? {
        let table = try writer.onTableForWriting(namespace) { $0 }
        guard table.options.view == nil else {
            throw StoreError(.commandNotSupportedOnView, "Cannot create indexes on a view")
        }
        try IndexCreationCheck.check(definition, isCapped: table.options.capped != nil)
        let definition = try definition.inheriting(table.options.collation)
        let existing = try tables.indexes(of: table)
        if try IndexConflict.isThere(definition, among: existing.map(\.definition)) { return nil }
        guard existing.count + 1 < Self.indexesMax else {
            throw StoreError(
                .cannotCreateIndex,
                "add index fails, too many indexes for \(namespace) key:"
                    + ShellText.text(of: definition.keyPattern))
        }
        try writer.savepoint {
            let id = try register(definition, table)
            try connection.executeOnce(StoredIndex.tableStatement(id))
            let index = try StoredIndex(
                id: id, table: table.id, specification: definition.document.bytes,
                isMultikey: false,
                place: connection.reserveNumbers(StoredIndex.Statement.allCases.count))
            try IndexWriter(connection: connection).fill(index, table, progress)
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

    /// Removes the indexes that the command `dropIndexes` names (`"*"`, a name, several names or a
    /// key pattern), or none of them.
    ///
    /// - Returns: how many indexes the collection had, including the `_id` index.
    /// - Throws: 26, 27, 72, 14 and 181 (AmbiguousIndexKeyPattern) with MongoDB's messages.
    func dropIndexes(
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

    func dropIndexes(
        _ namespace: Namespace, _ names: [BSONValue], isAll: Bool
    ) throws(StoreError) -> Int {
        if try tables.view(namespace) != nil {
            throw StoreError(
                .commandNotSupportedOnView, "Cannot drop indexes on view \(namespace)")
        }
        let count = try tables.onTable(namespace) { (table) throws(StoreError) -> Int in
            let indexes = try tables.indexes(of: table)
            var dropped: [StoredIndex] = isAll ? indexes : []
            for name in names where !isAll {
                if table.isClustered { try Self.checkIsNotClustered(name, table) }
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

    /// Checks that a name or key pattern is not that of the order of a clustered collection.
    ///
    /// - Throws: 5979800.
    private static func checkIsNotClustered(
        _ index: BSONValue, _ table: CollectionTable
    ) throws(StoreError) {
        let clustered = table.options.document["clusteredIndex"]?.documentValue
        let names = [.string(IndexDefinition.id.name), clustered?["name"]]
        guard names.contains(index) || IndexDefinition.id.hasKeyPattern(index.documentValue ?? [:])
        else { return }
        throw .location(5_979_800, "Cannot drop the clustered index. Try dropping the collection")
    }

    /// Returns the index with a name or key pattern.
    private func index(
        _ value: BSONValue, among indexes: [StoredIndex]
    ) throws(StoreError) -> StoredIndex {
        if let name = value.stringValue {
            guard name != IndexDefinition.id.name else {
                throw StoreError(.invalidOptions, "cannot drop _id index")
            }
            guard let index = indexes.first(where: { $0.definition.name.hasSameBytes(as: name) })
            else {
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
        guard !IndexDefinition.id.hasKeyPattern(pattern) else {
            throw StoreError(.invalidOptions, "cannot drop _id index")
        }
        let found = indexes.filter { $0.definition.hasKeyPattern(pattern) }
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
        try writer.recorder.record(.dropIndex, table, Self.description(of: [index.definition]))
    }
}
