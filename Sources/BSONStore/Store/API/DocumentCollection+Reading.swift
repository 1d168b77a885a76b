// MARK: - Documents

extension DocumentCollection {
    /// Returns the documents that match a filter, in the order of insertion or of a sort.
    ///
    /// ```swift
    /// let oldest = try people.find(
    ///     ["age": ["$gte": 18]], options: FindOptions(sort: SortOrder(["age": -1]), limit: 10))
    /// ```
    ///
    /// - Parameter options: the order, the number and the fields of the returned documents.
    /// - Throws: `badValue` (2) and others with MongoDB's messages for an invalid filter;
    ///   `corrupt`.
    public func find(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) throws -> [BSONDocument] {
        let filter = try Filter(filter)
        return try store.read { try $0.find(namespace, filter: filter, options: options) }
    }

    /// Returns the first document that matches a filter, or `nil`.
    ///
    /// ```swift
    /// let ada = try people.findOne(["name": "Ada"])
    /// ```
    ///
    /// - Throws: as ``find(_:options:)`` does.
    public func findOne(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) throws -> BSONDocument? {
        if let id = Self.soleID(filter), options.skip == 0, try !isCollated(id) {
            let found = try findOne(id: id)
            guard let found, let projection = options.projection else { return found }
            return try projection.apply(to: found, matching: try Filter(filter))
        }
        var options = options
        options.limit = 1
        return try find(filter, options: options).first
    }

    /// Returns the document with an id, or `nil`.
    ///
    /// ```swift
    /// let ada = try people.findOne(id: 1)
    /// ```
    ///
    /// - Throws: `corrupt` when its bytes are not valid BSON.
    public func findOne(id: BSONValue) throws -> BSONDocument? {
        try store.read { try $0.get(namespace, id: id) }
    }

    /// Whether the collection's collation may treat other ids as equal to this one.
    private func isCollated(_ id: BSONValue) throws -> Bool {
        guard Collation.concerns(id) else { return false }
        return try store.read { try $0.options(namespace)?.collation != nil }
    }

    /// Returns the `_id` of a filter that tests nothing else.
    private static func soleID(_ document: BSONDocument) -> BSONValue? {
        Filter.soleID(document)
    }

    /// Calls a body with every document that matches a filter, from one snapshot of the store.
    ///
    /// ```swift
    /// var total = 0
    /// try people.forEach(["age": ["$exists": true]]) { total += Int($0["age"]?.int64Value ?? 0) }
    /// ```
    ///
    /// Unlike `find`, it does not hold all documents in memory.
    ///
    /// - Throws: as ``find(_:options:)`` does, and the body's error, which ends the iteration.
    public func forEach(
        _ filter: BSONDocument = [:], options: FindOptions = .all,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        let filter = try Filter(filter)
        try store.read { transaction in
            try transaction.forEach(namespace, filter: filter, options: options, body)
        }
    }

    /// Returns how many documents match a filter.
    ///
    /// ```swift
    /// let adults = try people.count(["age": ["$gte": 18]])
    /// ```
    ///
    /// - Throws: as ``find(_:options:)`` does.
    public func count(_ filter: BSONDocument = [:]) throws -> Int {
        let filter = try Filter(filter)
        return try store.read { try $0.count(namespace, filter: filter) }
    }

    /// Returns the distinct values of a field in the documents that match a filter.
    ///
    /// ```swift
    /// let cities = try people.distinct("address.city", ["age": ["$gte": 18]])
    /// ```
    ///
    /// - Throws: as ``find(_:options:)`` does.
    public func distinct(
        _ field: String, _ filter: BSONDocument = [:]
    ) throws -> [BSONValue] {
        let filter = try Filter(filter)
        return try store.read { try $0.distinct(namespace, field: field, filter: filter) }
    }

    /// Returns a query's plan in the shape of the command `explain`.
    ///
    /// ```swift
    /// let plan = try people.explain(["age": 36], verbosity: .executionStats)
    /// ```
    ///
    /// - Throws: for an invalid filter, and the store's errors.
    public func explain(
        _ filter: BSONDocument = [:], options: FindOptions = .all,
        verbosity: ExplainVerbosity = .queryPlanner, command: ExplainedCommand = .find
    ) throws -> BSONDocument {
        let filter = try Filter(filter)
        return try store.read { transaction in
            try transaction.explain(
                namespace, filter: filter, options: options, verbosity: verbosity,
                command: command)
        }
    }
}

// MARK: - Observe

extension DocumentCollection {
    /// Returns a live query of the documents that match a filter; it also notices commits of other
    /// processes.
    ///
    /// ```swift
    /// for try await snapshot in try people.observe(["age": ["$gte": 18]]) {
    ///     show(snapshot.documents)
    /// }
    /// ```
    ///
    /// - Parameter limit: the largest number of documents in a snapshot; 0 for all.
    /// - Throws: for an invalid filter or limit.
    public func observe(
        _ filter: BSONDocument = [:], sort: SortOrder? = nil, limit: Int = 0
    ) throws(StoreError) -> LiveQuery<BSONDocument> {
        LiveQuery(self, try Filter(filter), try FindOptions(sort: sort, limit: limit)) { $0 }
    }
}
