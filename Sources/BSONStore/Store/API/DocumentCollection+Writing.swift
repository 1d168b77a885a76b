// MARK: - Insert

extension DocumentCollection {
    /// Adds a document; one without an `_id` gets an ObjectId.
    ///
    /// ```swift
    /// let id = try people.insertOne(["name": "Ada", "age": 36])
    /// let ada = try people.findOne(id: id)
    /// ```
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

    /// Adds documents in one transaction; a refused document is not added, and the others are.
    ///
    /// ```swift
    /// // Adds 1 and 2, then throws: 1 exists already.
    /// try people.insertMany([["_id": 1], ["_id": 1], ["_id": 2]], ordered: false)
    /// ```
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
}

// MARK: - Update and replace

extension DocumentCollection {
    /// Applies an update to the first document that matches a filter.
    ///
    /// ```swift
    /// // Adds a counter, or inserts ["_id": "visits", "count": 1].
    /// try counters.updateOne(["_id": "visits"], ["$inc": ["count": 1]], upsert: true)
    /// // Changes only the grades below 50 in the array.
    /// try pupils.updateOne(
    ///     ["_id": 1], ["$set": ["grades.$[low]": 50]], arrayFilters: [["low": ["$lt": 50]]])
    /// ```
    ///
    /// - Parameters:
    ///   - filter: the condition in MongoDB's query language; an empty one matches every document.
    ///   - update: MongoDB's update operators, such as `$set`.
    ///   - upsert: whether to insert a document when none matches: the values that the filter
    ///     requires, with the update applied.
    ///   - arrayFilters: one filter for each `$[name]` in the update's paths, with conditions on
    ///     the field `name`; it selects the array elements to change.
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func updateOne(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) throws -> UpdateResult {
        let (filter, update) = try Self.parse(filter, update, arrayFilters)
        return try store.write {
            try $0.updateOne(namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Applies an update to every document that matches a filter; a refused document ends the call,
    /// and documents changed before it stay changed.
    ///
    /// ```swift
    /// let result = try people.updateMany(["age": ["$lt": 18]], ["$set": ["minor": true]])
    /// let changed = result.modifiedCount
    /// ```
    ///
    /// - Parameters:
    ///   - filter: the condition in MongoDB's query language; an empty one matches every document.
    ///   - update: MongoDB's update operators, such as `$set`.
    ///   - upsert: whether to insert a document when none matches: the values that the filter
    ///     requires, with the update applied.
    ///   - arrayFilters: one filter for each `$[name]` in the update's paths, with conditions on
    ///     the field `name`; it selects the array elements to change.
    /// - Returns: the counts, without the documents.
    /// - Throws: errors with MongoDB's codes and messages; after a refused document, `writes`
    ///   counts the documents that stay changed. Within `DocumentStore/write(_:)` none stays changed.
    @discardableResult
    public func updateMany(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) throws -> UpdateResult {
        let (filter, update) = try Self.parse(filter, update, arrayFilters)
        return try store.write {
            try $0.updateEach(namespace, filter, update, upsert: upsert)
        }.get()
    }

    /// Replaces the first document that matches a filter; its `_id` stays.
    ///
    /// ```swift
    /// try people.replaceOne(["_id": 1], ["name": "Ada Lovelace"], upsert: true)
    /// ```
    ///
    /// - Parameters:
    ///   - filter: the condition in MongoDB's query language; an empty one matches every document.
    ///   - document: the new document, without update operators.
    ///   - upsert: whether to insert the document when none matches, with the `_id` that the filter
    ///     requires.
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

    /// Parses a filter and an update that must consist of operators.
    static func parse(
        _ filter: BSONDocument, _ update: BSONDocument, _ arrayFilters: [BSONDocument]
    ) throws(StoreError) -> (Filter, Update) {
        let parsed = try Update(update, arrayFilters: arrayFilters)
        guard !update.isEmpty else {
            throw StoreError(.failedToParse, "the update operation document must not be empty")
        }
        guard !parsed.isReplacement else {
            throw StoreError(
                .failedToParse, "the update operation document must contain atomic operators")
        }
        return (try Filter(filter), parsed)
    }
}

// MARK: - Delete

extension DocumentCollection {
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
    /// ```swift
    /// let count = try people.deleteMany(["age": ["$exists": false]])
    /// try people.deleteMany([:])  // all of them
    /// ```
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
}

// MARK: - Find one and change it

extension DocumentCollection {
    /// Updates the first document that matches a filter and returns it, as it was before or after.
    ///
    /// ```swift
    /// let ticket = try counters.findOneAndUpdate(
    ///     ["_id": "tickets"], ["$inc": ["last": 1]],
    ///     options: FindOneAndOptions(upsert: true, returnsAfter: true))
    /// ```
    ///
    /// - Parameter options: the order of the candidates, the returned fields and edition, and
    ///   `upsert` and `arrayFilters` as in
    ///   `updateOne(_:_:upsert:arrayFilters:)`.
    /// - Returns: the document; `nil` when none matches, and before an upsert.
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func findOneAndUpdate(
        _ filter: BSONDocument, _ update: BSONDocument, options: FindOneAndOptions = .init()
    ) throws -> BSONDocument? {
        let (filter, update) = try Self.parse(filter, update, options.arrayFilters)
        return try store.write { try $0.findAndModify(namespace, filter, update, options) }
    }

    /// Replaces the first document that matches a filter and returns it, as it was before or after.
    ///
    /// - Parameter options: the order of the candidates, the returned fields and edition, and
    ///   whether to insert the document when none matches.
    /// - Returns: the document; `nil` when none matches, and before an upsert.
    /// - Throws: errors with MongoDB's codes and messages, and for `arrayFilters`, since a
    ///   replacement has no paths; nothing is changed then.
    @discardableResult
    public func findOneAndReplace(
        _ filter: BSONDocument, _ document: BSONDocument, options: FindOneAndOptions = .init()
    ) throws -> BSONDocument? {
        try options.checkReplaces()
        let (filter, update) = (try Filter(filter), try Update(replacement: document))
        return try store.write { try $0.findAndModify(namespace, filter, update, options) }
    }

    /// Removes the first document that matches a filter and returns it, or `nil`.
    ///
    /// ```swift
    /// let oldest = try jobs.findOneAndDelete(
    ///     [:], options: FindOneAndOptions(sort: try SortOrder(["at": 1])))
    /// ```
    ///
    /// - Parameter options: the order of the candidates and the returned fields; `upsert` and
    ///   `returnsAfter` have no effect.
    /// - Throws: for an invalid filter and for `arrayFilters`, and the store's errors.
    @discardableResult
    public func findOneAndDelete(
        _ filter: BSONDocument, options: FindOneAndOptions = .init()
    ) throws -> BSONDocument? {
        try options.checkDeletes()
        let filter = try Filter(filter)
        return try store.write { try $0.findAndDelete(namespace, filter, options) }
    }
}

// MARK: - Bulk

extension DocumentCollection {
    /// Performs several writes in one transaction; a refused write changes none of its documents,
    /// and the other writes stay.
    ///
    /// ```swift
    /// let result = try people.bulkWrite([
    ///     .insertOne(["_id": 2]), .updateMany([:], ["$inc": ["age": 1]]), .deleteOne(["_id": 1]),
    /// ])
    /// let refused = result.errors.map(\.index)
    /// ```
    ///
    /// - Parameter ordered: whether to stop at the first refused write; otherwise the rest is
    ///   performed all the same.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: the store's errors; no write has an effect then.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }
}
