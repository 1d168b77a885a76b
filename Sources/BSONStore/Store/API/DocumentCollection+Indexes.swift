extension DocumentCollection {
    /// Creates an index; does nothing when the same index exists.
    ///
    /// ```swift
    /// try people.createIndex(["email": 1], ["unique": true])
    /// let name = try people.createIndex(["city": 1, "age": -1])  // "city_1_age_-1"
    /// ```
    ///
    /// - Parameters:
    ///   - keys: the fields, each with 1 or -1 as its direction, or with an index kind.
    ///   - options: options of MongoDB's `createIndex`, such as `unique`.
    /// - Returns: the index's name.
    /// - Throws: 67 for invalid keys or options, 85 and 86 for an index that differs from one of
    ///   the same name or keys, 11000 when documents violate `unique`, 171 for two arrays in one key; no index is created
    ///   then.
    @discardableResult
    public func createIndex(
        _ keys: BSONDocument, _ options: BSONDocument = [:]
    ) throws -> String {
        var specification: BSONDocument = ["key": .document(keys)]
        for (key, value) in options { specification.append(key, value) }
        return try createIndexes([specification])[0]
    }

    /// Creates several indexes or none.
    ///
    /// ```swift
    /// try people.createIndexes([["key": ["city": 1]], ["key": ["email": 1], "unique": true]])
    /// ```
    ///
    /// - Parameter specifications: documents with a `key` and options.
    /// - Returns: the indexes' names.
    /// - Throws: as `createIndex(_:_:)` does.
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
    ///
    /// ```swift
    /// let names = try people.listIndexes().map(\.name)
    /// ```
    ///
    /// - Throws: the store's errors.
    public func listIndexes() throws -> [IndexDefinition] {
        try store.read { try $0.indexes(namespace) }
    }

    /// Removes an index by its name.
    ///
    /// ```swift
    /// try people.dropIndex("email_1")
    /// ```
    ///
    /// - Throws: 26 when the collection does not exist, 27 when the index does not, 72 for the
    ///   `_id` index.
    public func dropIndex(_ name: String) throws {
        try store.write { try $0.dropIndex(namespace, name: name) }
    }

    /// Removes all indexes except the `_id` index.
    ///
    /// ```swift
    /// try people.dropIndexes()
    /// ```
    ///
    /// - Throws: 26 when the collection does not exist, and the store's errors.
    public func dropIndexes() throws {
        try store.write { try $0.dropIndexes(namespace) }
    }
}
