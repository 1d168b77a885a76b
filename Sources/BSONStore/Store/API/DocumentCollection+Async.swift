extension DocumentCollection {
    /// Adds a document; one without an `_id` gets an ObjectId.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Returns: the document's `_id`.
    /// - Throws: `duplicateKey` (11000), `documentTooLarge` (10334), and for an invalid `_id`.
    @discardableResult
    public func insertOne(
        _ document: BSONDocument
    ) async throws -> BSONValue {
        let document = document.withTimestampsFilled
        return try await store.write { try $0.insert(namespace, document)["_id"] ?? .null }
    }

    /// Adds documents in one transaction; a refused document is not added, and the others are.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Parameter ordered: whether to stop at the first refused document; otherwise the rest is
    ///   added all the same.
    /// - Returns: the documents' `_id`s in order.
    /// - Throws: as the synchronous form does, with `writes`.
    @discardableResult
    public func insertMany(
        _ documents: [BSONDocument], ordered: Bool = true
    ) async throws -> [BSONValue] {
        try await store.write {
            try $0.insertEach(namespace, documents, ordered: ordered)
        }.whole()
    }

    /// Applies an update to the first document that matches a filter.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func updateOne(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) async throws -> UpdateResult {
        let (filter, update) = try Self.parse(filter, update, arrayFilters)
        return try await store.write {
            try $0.updateOne(namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Applies an update to every document that matches a filter; a refused document ends the call,
    /// and documents changed before it stay changed.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: as the synchronous form does, with `writes`.
    @discardableResult
    public func updateMany(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) async throws -> UpdateResult {
        let (filter, update) = try Self.parse(filter, update, arrayFilters)
        return try await store.write {
            try $0.updateEach(namespace, filter, update, upsert: upsert)
        }.get()
    }

    /// Replaces the first document that matches a filter; its `_id` stays.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: BSONDocument, upsert: Bool = false
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        return try await store.write {
            try $0.replaceOne(namespace, filter: filter, document: document, upsert: upsert)
        }
    }

    /// Removes the first document that matches a filter.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Returns: how many were removed, 0 or 1.
    /// - Throws: for an invalid filter, and the store's errors.
    @discardableResult
    public func deleteOne(
        _ filter: BSONDocument
    ) async throws -> Int {
        let filter = try Filter(filter)
        return try await store.write { try $0.deleteOne(namespace, filter: filter) == nil ? 0 : 1 }
    }

    /// Removes every document that matches a filter.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Returns: how many were removed.
    /// - Throws: for an invalid filter, and the store's errors.
    @discardableResult
    public func deleteMany(
        _ filter: BSONDocument
    ) async throws -> Int {
        let filter = try Filter(filter)
        return try await store.write { try $0.deleteMany(namespace, filter: filter) }
    }

    /// Updates the first document that matches a filter and returns it, as it was before or after.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func findOneAndUpdate(
        _ filter: BSONDocument, _ update: BSONDocument, options: FindOneAndOptions = .init()
    ) async throws -> BSONDocument? {
        let (filter, update) = try Self.parse(filter, update, options.arrayFilters)
        return try await store.write { try $0.findAndModify(namespace, filter, update, options) }
    }

    /// Replaces the first document that matches a filter and returns it, as it was before or after.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func findOneAndReplace(
        _ filter: BSONDocument, _ document: BSONDocument, options: FindOneAndOptions = .init()
    ) async throws -> BSONDocument? {
        try options.checkReplaces()
        let (filter, update) = (try Filter(filter), try Update(replacement: document))
        return try await store.write { try $0.findAndModify(namespace, filter, update, options) }
    }

    /// Removes the first document that matches a filter and returns it, or `nil`.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Throws: for an invalid filter, and the store's errors.
    @discardableResult
    public func findOneAndDelete(
        _ filter: BSONDocument, options: FindOneAndOptions = .init()
    ) async throws -> BSONDocument? {
        try options.checkDeletes()
        let filter = try Filter(filter)
        return try await store.write { try $0.findAndDelete(namespace, filter, options) }
    }

    /// Performs several writes in one transaction; a refused write changes none of its documents,
    /// and the other writes stay.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Parameter ordered: whether to stop at the first refused write; otherwise the rest is
    ///   performed all the same.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: the store's errors; no write has an effect then.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) async throws -> BulkWriteResult {
        try await store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }
}
