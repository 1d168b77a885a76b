extension DocumentCollection {
    /// Makes an index, such as `["age": 1, "name": -1]` with `unique`; the same index again is no
    /// error.
    ///
    /// - Returns: the index's name.
    /// - Throws: 67, 85, 86, 11000, 171 with MongoDB's messages; nothing is left of it then.
    @discardableResult
    public func createIndex(
        _ keys: BSONDocument, _ options: BSONDocument = [:]
    ) throws -> String {
        var specification: BSONDocument = ["key": .document(keys)]
        for (key, value) in options { specification.append(key, value) }
        return try createIndexes([specification])[0]
    }

    /// Makes indexes, all or nothing; each specification has a `key` and options.
    ///
    /// - Returns: the indexes' names.
    /// - Throws: as ``createIndex(_:_:)`` does.
    @discardableResult
    public func createIndexes(_ specifications: [BSONDocument]) throws -> [String] {
        let definitions = try specifications.map(IndexDefinition.init)
        try store.write { transaction in
            for definition in definitions {
                try transaction.createIndex(namespace, definition)
            }
        }
        return definitions.map(\.name)
    }

    /// Returns the indexes, that of the `_id` first; none when there is no such collection.
    public func listIndexes() throws -> [IndexDefinition] {
        try store.read { try $0.indexes(namespace) }
    }

    /// Removes an index by its name.
    ///
    /// - Throws: 26, 27 or 72 as ``WriteTransaction/dropIndex(_:name:)`` does.
    public func dropIndex(_ name: String) throws {
        try store.write { try $0.dropIndex(namespace, name: name) }
    }

    /// Removes all indexes but that of the `_id`.
    public func dropIndexes() throws {
        try store.write { try $0.dropIndexes(namespace) }
    }
}
