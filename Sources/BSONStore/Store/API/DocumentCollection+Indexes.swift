extension DocumentCollection {
    /// Creates an index, such as `["age": 1, "name": -1]` with `unique`; does nothing when the same
    /// index exists.
    ///
    /// - Returns: the index's name.
    /// - Throws: 67, 85, 86, 11000, 171 with MongoDB's messages; no index is created then.
    @discardableResult
    public func createIndex(
        _ keys: BSONDocument, _ options: BSONDocument = [:]
    ) throws -> String {
        var specification: BSONDocument = ["key": .document(keys)]
        for (key, value) in options { specification.append(key, value) }
        return try createIndexes([specification])[0]
    }

    /// Creates several indexes or none; each specification has a `key` and options.
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

    /// Returns the indexes, the `_id` index first; an empty array when the collection does not
    /// exist.
    public func listIndexes() throws -> [IndexDefinition] {
        try store.read { try $0.indexes(namespace) }
    }

    /// Removes an index by its name.
    ///
    /// - Throws: 26, 27 or 72 as ``WriteTransaction/dropIndex(_:name:)`` does.
    public func dropIndex(_ name: String) throws {
        try store.write { try $0.dropIndex(namespace, name: name) }
    }

    /// Removes all indexes except the `_id` index.
    public func dropIndexes() throws {
        try store.write { try $0.dropIndexes(namespace) }
    }
}
