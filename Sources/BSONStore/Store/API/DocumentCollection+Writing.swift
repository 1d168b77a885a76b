extension DocumentCollection {
    /// Adds a document; one without an `_id` gets an ObjectId.
    ///
    /// Top-level fields that hold `Timestamp(0, 0)` are set to the current time. Source: MongoDB
    /// manual, "BSON Types", "Timestamps".
    ///
    /// - Returns: the document's `_id`.
    /// - Throws: `duplicateKey` (11000), `documentTooLarge` (10334), and for an invalid `_id`.
    @discardableResult
    public func insertOne(
        _ document: BSONDocument
    ) throws -> BSONValue {
        try store.write {
            try $0.insert(namespace, WallClock.fillingTimestamps(in: document))["_id"] ?? .null
        }
    }

    /// Adds documents in one transaction; as in MongoDB's drivers, a refused document does not undo
    /// the others.
    ///
    /// - Parameter ordered: whether to stop at the first refused document; otherwise the rest is
    ///   added all the same.
    /// - Returns: the documents' `_id`s in order.
    /// - Throws: the first refusal, as `insertOne(_:)-(BSONDocument)` does; its `writes` lists the
    ///   added and the refused documents. When the file cannot be written, `writes` is `nil` and
    ///   nothing was added.
    @discardableResult
    public func insertMany(
        _ documents: [BSONDocument], ordered: Bool = true
    ) throws -> [BSONValue] {
        try store.write {
            try $0.insertEach(namespace, documents, ordered: ordered)
        }.whole()
    }

    /// Applies an update to the first document that matches a filter.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func updateOne(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) throws -> UpdateResult {
        let (filter, update) = try Self.read(filter, update, arrayFilters)
        return try store.write {
            try $0.updateOne(namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Applies an update to every document that matches a filter.
    ///
    /// - Returns: the counts, without the documents.
    /// - Throws: errors with MongoDB's codes and messages. As in MongoDB, documents changed before
    ///   the refused one stay changed and `writes` counts them; within `DocumentStore/write(_:)`
    ///   none stays changed.
    @discardableResult
    public func updateMany(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) throws -> UpdateResult {
        let (filter, update) = try Self.read(filter, update, arrayFilters)
        return try store.write {
            try $0.updateEach(namespace, filter, update, upsert: upsert)
        }.get()
    }

    /// Replaces the first document that matches a filter; its `_id` stays.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: BSONDocument, upsert: Bool = false
    ) throws -> UpdateResult {
        let filter = try Filter(filter)
        return try store.write {
            try $0.replaceOne(namespace, filter: filter, document: document, upsert: upsert)
        }
    }

    /// Removes the first document that matches a filter.
    ///
    /// - Returns: how many were removed, 0 or 1.
    /// - Throws: for an invalid filter, and the store's errors.
    @discardableResult
    public func deleteOne(
        _ filter: BSONDocument
    ) throws -> Int {
        let filter = try Filter(filter)
        return try store.write { try $0.deleteOne(namespace, filter: filter) == nil ? 0 : 1 }
    }

    /// Removes every document that matches a filter.
    ///
    /// - Returns: how many were removed.
    /// - Throws: for an invalid filter, and the store's errors.
    @discardableResult
    public func deleteMany(
        _ filter: BSONDocument
    ) throws -> Int {
        let filter = try Filter(filter)
        return try store.write { try $0.deleteMany(namespace, filter: filter) }
    }

    /// Updates the first document that matches a filter and returns it, as it was before or after.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func findOneAndUpdate(
        _ filter: BSONDocument, _ update: BSONDocument, options: FindOneAndOptions = .init()
    ) throws -> BSONDocument? {
        let (filter, update) = try Self.read(filter, update, options.arrayFilters)
        return try store.write { try $0.findAndModify(namespace, filter, update, options) }
    }

    /// Replaces the first document that matches a filter and returns it, as it was before or after.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func findOneAndReplace(
        _ filter: BSONDocument, _ document: BSONDocument, options: FindOneAndOptions = .init()
    ) throws -> BSONDocument? {
        let (filter, update) = (try Filter(filter), try Update(replacement: document))
        return try store.write { try $0.findAndModify(namespace, filter, update, options) }
    }

    /// Removes the first document that matches a filter and returns it, or `nil`.
    ///
    /// - Throws: for an invalid filter, and the store's errors.
    @discardableResult
    public func findOneAndDelete(
        _ filter: BSONDocument, options: FindOneAndOptions = .init()
    ) throws -> BSONDocument? {
        let filter = try Filter(filter)
        return try store.write { transaction in
            let found = try transaction.deleteOne(namespace, filter: filter, sort: options.sort)
            return try found.map { try options.projection?.apply(to: $0, matching: filter) ?? $0 }
        }
    }

    /// Parses a filter and an update that must consist of operators.
    static func read(
        _ filter: BSONDocument, _ update: BSONDocument, _ arrayFilters: [BSONDocument]
    ) throws(StoreError) -> (Filter, Update) {
        let parsed = try Update(update, arrayFilters: arrayFilters)
        guard !parsed.isReplacement || update.isEmpty else {
            throw StoreError(
                .failedToParse, "the update operation document must contain atomic operators")
        }
        guard !update.isEmpty else {
            throw StoreError(.failedToParse, "the update operation document must not be empty")
        }
        return (try Filter(filter), parsed)
    }

    /// Performs several writes in one transaction; each succeeds as a whole or changes nothing.
    ///
    /// - Parameter ordered: whether to stop at the first refused write; otherwise the rest is done
    ///   all the same.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: the store's errors; nothing is changed then.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }
}
