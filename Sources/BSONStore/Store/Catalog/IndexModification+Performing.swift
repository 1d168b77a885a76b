extension IndexModification {
    /// Changes the index of a table.
    ///
    /// - Parameter isDry: whether to check only that the change is possible.
    /// - Returns: the options before and after, as the command answers.
    func perform(
        on table: CollectionTable, isDry: Bool, _ connection: SQLiteConnection
    ) throws(StoreError) -> BSONDocument {
        let indexes = try connection.catalogCache.indexes(of: table.id, connection)
        if isFor(IndexDefinition.id) { throw refusalForID(isClustered: table.isClustered) }
        if table.options.capped != nil, expires {
            throw StoreError(
                .invalidOptions, "TTL indexes are not supported for capped collections.")
        }
        let found = indexes.filter { isFor($0.definition) }
        guard let index = found.first else {
            throw StoreError(
                .indexNotFound,
                "cannot find index \(nameText) for ns \(table.namespace)")
        }
        guard found.count == 1 else {
            throw StoreError(
                .ambiguousIndexKeyPattern,
                "index keyPattern \(nameText) matches \(found.count) indexes, must use index "
                    + "name. Conflicting indexes:"
                    + found.prefix(2).map { ShellText.text(of: $0.definition.document) }
                    .joined(separator: ", "))
        }
        let (specification, answer) = try apply(to: index.definition)
        _ = try IndexDefinition(specification)
        if becomesUnique { try Self.checkIsUnique(index, connection) }
        if isDry { return answer }
        let statement = try connection.prepare(
            "UPDATE store_indexes SET specification = ?2 WHERE id = ?1")
        statement.bind(1, index.id)
        statement.bind(2, specification.bytes)
        try statement.run()
        connection.catalogCache.forget(table.id)
        return answer
    }

    /// Throws when an index that is to become unique has equal keys.
    private static func checkIsUnique(
        _ index: StoredIndex, _ connection: SQLiteConnection
    ) throws(StoreError) {
        let statement = try connection.prepare(
            "SELECT 1 FROM \(StoredIndex.tableName(index.id)) GROUP BY key HAVING count(*) > 1")
        guard try statement.step() else { return }
        throw StoreError(
            .cannotConvertIndexToUnique,
            "Cannot convert the index to unique. Please resolve conflicting documents before "
                + "running collMod again.")
    }
}
