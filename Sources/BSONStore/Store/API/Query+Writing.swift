public import BSONCore
public import BSONQuery

/// The side that runs the writes of a query: a store, or a sync engine over it.
package protocol QueryWriter: Sendable {
    /// Changes the documents that match a filter.
    ///
    /// - Parameter range: which of the matching documents; `nil` for all.
    func update(
        _ namespace: Namespace, _ filter: Filter, within range: FindOptions?, _ update: Update,
        upsert: Bool
    ) async throws -> UpdateResult

    /// Removes the documents that match a filter, and returns how many.
    ///
    /// - Parameter range: which of the matching documents; `nil` for all.
    func delete(
        _ namespace: Namespace, _ filter: Filter, within range: FindOptions?
    ) async throws -> Int
}

/// The verbs that write: each is one transaction.
extension Query {
    /// Changes all documents of the query.
    ///
    /// ```swift
    /// try await people.find(["age": ["$lt": 18]]).update(["$set": ["minor": true]])
    /// // Only the three oldest:
    /// try await people.find().sort(["age": -1]).limit(3).update(["$inc": ["prize": 1]])
    /// ```
    ///
    /// - Parameters:
    ///   - update: MongoDB's update operators.
    ///   - upsert: whether to insert a document if none matches; not with a skip, limit or bounds.
    ///   - arrayFilters: one filter for each `$[name]` in the update's paths.
    /// - Returns: how many documents matched and were modified.
    /// - Throws: the error of an invalid query or update, `duplicateKey`, and the error of an
    ///   operator that does not apply to its field. In a `SyncCollection` nothing is changed then;
    ///   in a `DocumentCollection` the documents before the refused one stay changed, and the
    ///   error's `writes` counts them.
    @discardableResult
    public func update(
        _ update: BSONDocument, upsert: Bool = false, arrayFilters: [BSONDocument] = []
    ) async throws -> UpdateResult {
        let update = try Update(
            operators: update, arrayFilters: arrayFilters, collation: try namedCollation())
        return try await run(update, upsert: upsert)
    }

    /// Changes all documents of the query by a pipeline of `$set`, `$unset`, `$replaceWith` and
    /// their aliases.
    ///
    /// ```swift
    /// try await people.find().update(pipeline: [["$set": ["name": ["$toUpper": "$name"]]]])
    /// ```
    ///
    /// - Throws: as ``update(_:upsert:arrayFilters:)`` does.
    @discardableResult
    public func update(
        pipeline: [BSONDocument], upsert: Bool = false
    ) async throws -> UpdateResult {
        let update = try Update(pipeline: pipeline, collation: try namedCollation())
        return try await run(update, upsert: upsert)
    }

    /// Removes all documents of the query.
    ///
    /// ```swift
    /// let count = try await people.find(["age": ["$exists": false]]).delete()
    /// ```
    ///
    /// - Returns: how many were removed.
    /// - Throws: the error of an invalid query, and the store's errors.
    @discardableResult
    public func delete() async throws -> Int {
        let (filter, options) = try parsed()
        return try await writer.delete(namespace, filter, within: writtenRange(options))
    }

    private func run(_ update: Update, upsert: Bool) async throws -> UpdateResult {
        let (filter, options) = try parsed()
        guard !upsert || refinement.isOfAll && !refinement.isBounded else {
            throw StoreError(
                .badValue,
                "an upsert takes all documents that match: omit skip, limit and "
                    + "bounds",
                namespace: namespace)
        }
        return try await writer.update(
            namespace, filter, within: writtenRange(options), update, upsert: upsert)
    }
}

extension Query where Document: TypedDocument {
    /// Changes all documents of the query.
    ///
    /// ```swift
    /// try await todos.find { $0.due < today }.update { $0.late.set(true); $0.delays.increment() }
    /// ```
    ///
    /// - Throws: as ``update(_:upsert:arrayFilters:)`` and `TypedUpdate/bson(with:)` do.
    @discardableResult
    public func update(
        upsert: Bool = false,
        @TypedListBuilder<TypedUpdate> _ update: (Document.Fields) throws -> [TypedUpdate]
    ) async throws -> UpdateResult {
        try await self.update(
            try Document.update(update).bson(with: coders.encoder), upsert: upsert)
    }
}

extension DocumentStore: QueryWriter {
    package func update(
        _ namespace: Namespace, _ filter: Filter, within range: FindOptions?, _ update: Update,
        upsert: Bool
    ) async throws -> UpdateResult {
        let result = try await write {
            try $0.updateEach(namespace, filter, update, upsert: upsert, within: range)
        }
        return try result.get()
    }

    package func delete(
        _ namespace: Namespace, _ filter: Filter, within range: FindOptions?
    ) async throws -> Int {
        try await write { try $0.deleteMany(namespace, filter: filter, within: range) }
    }
}

extension Update {
    /// Parses an update that must consist of operators.
    ///
    /// - Throws: `failedToParse` for a replacement and for an empty update.
    package init(
        operators update: BSONDocument, arrayFilters: [BSONDocument], collation: Collation? = nil
    ) throws(StoreError) {
        try self.init(update, arrayFilters: arrayFilters, collation: collation)
        guard !update.isEmpty else {
            throw StoreError(.failedToParse, "the update operation document must not be empty")
        }
        guard !isReplacement else {
            throw StoreError(
                .failedToParse, "the update operation document must contain atomic operators")
        }
    }
}
