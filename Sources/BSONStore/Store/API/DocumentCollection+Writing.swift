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
    /// - Throws: `duplicateKey` (11000), `documentTooLarge` (10334), and `badValue` (2) for an
    ///   invalid `_id`.
    @discardableResult
    public func insertOne(_ document: BSONDocument) throws -> BSONValue {
        try store.write {
            try $0.insert(namespace, WallClock.fillingTimestamps(in: document))["_id"] ?? .null
        }
    }

    /// Adds a document on the store's writer thread.
    ///
    /// ```swift
    /// let id = try await people.insertOne(["name": "Ada", "age": 36])
    /// ```
    ///
    /// - Returns: the document's `_id`.
    /// - Throws: the errors of the synchronous form.
    @discardableResult
    public func insertOne(_ document: BSONDocument) async throws -> BSONValue {
        let document = WallClock.fillingTimestamps(in: document)
        return try await store.write { try $0.insert(namespace, document)["_id"] ?? .null }
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
    /// - Throws: the first refusal, as `insertOne` does; its `writes` lists the added and the
    ///   refused documents. When the file cannot be written, `writes` is `nil`.
    @discardableResult
    public func insertMany(
        _ documents: [BSONDocument], ordered: Bool = true
    ) throws -> [BSONValue] {
        try store.write {
            try $0.insertEach(namespace, documents, ordered: ordered)
        }.whole()
    }

    /// Adds documents in one transaction on the store's writer thread.
    ///
    /// ```swift
    /// let ids = try await people.insertMany([["name": "Ada"], ["name": "Grace"]])
    /// ```
    ///
    /// - Parameter ordered: whether to stop at the first refused document.
    /// - Returns: the documents' `_id`s in order.
    /// - Throws: the errors of the synchronous form, with `writes`.
    @discardableResult
    public func insertMany(
        _ documents: [BSONDocument], ordered: Bool = true
    ) async throws -> [BSONValue] {
        try await store.write {
            try $0.insertEach(namespace, documents, ordered: ordered)
        }.whole()
    }
}

// MARK: - Update

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
    /// - Returns: whether a document matched, was modified or was inserted.
    /// - Throws: `failedToParse` (9) for an update without operators, the parser's error for an
    ///   invalid filter or update, `duplicateKey` (11000), and the error of an operator that does
    ///   not apply to its field.
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

    /// Applies an update to the first matching document on the store's writer thread.
    ///
    /// ```swift
    /// try await counters.updateOne(["_id": "visits"], ["$inc": ["count": 1]], upsert: true)
    /// ```
    ///
    /// - Returns: whether a document matched, was modified or was inserted.
    /// - Throws: the errors of the synchronous form.
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
    /// ```swift
    /// let result = try people.updateMany(["age": ["$lt": 18]], ["$set": ["minor": true]])
    /// let changed = result.modifiedCount
    /// ```
    ///
    /// - Returns: the counts, without the documents.
    /// - Throws: as `updateOne` does; after a refused document, `writes` counts the documents that
    ///   stay changed. Within `DocumentStore/write(_:)` none stays changed.
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

    /// Applies an update to every matching document on the store's writer thread.
    ///
    /// ```swift
    /// try await people.updateMany([:], ["$inc": ["age": 1]])
    /// ```
    ///
    /// - Returns: the counts, without the documents.
    /// - Throws: the errors of the synchronous form, with `writes`.
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

// MARK: - Replace

extension DocumentCollection {
    /// Replaces the first document that matches a filter; its `_id` stays.
    ///
    /// ```swift
    /// try people.replaceOne(["_id": 1], ["name": "Ada Lovelace"], upsert: true)
    /// ```
    ///
    /// - Parameters:
    ///   - document: the new document, without update operators.
    ///   - upsert: whether to insert the document when none matches, with the `_id` that the filter
    ///     requires.
    /// - Returns: whether a document matched, was replaced or was inserted.
    /// - Throws: the parser's error for an invalid filter, `duplicateKey` (11000),
    ///   `documentTooLarge` (10334), and for another `_id` than the replaced document's.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: BSONDocument, upsert: Bool = false
    ) throws -> UpdateResult {
        let filter = try Filter(filter)
        return try store.write {
            try $0.replaceOne(namespace, filter: filter, document: document, upsert: upsert)
        }
    }

    /// Replaces the first matching document on the store's writer thread.
    ///
    /// ```swift
    /// try await people.replaceOne(["_id": 1], ["name": "Ada Lovelace"])
    /// ```
    ///
    /// - Returns: whether a document matched, was replaced or was inserted.
    /// - Throws: the errors of the synchronous form.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: BSONDocument, upsert: Bool = false
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        return try await store.write {
            try $0.replaceOne(namespace, filter: filter, document: document, upsert: upsert)
        }
    }
}

// MARK: - Delete

extension DocumentCollection {
    /// Removes the first document that matches a filter.
    ///
    /// ```swift
    /// let wasThere = try people.deleteOne(["_id": 1]) == 1
    /// ```
    ///
    /// - Returns: how many were removed, 0 or 1.
    /// - Throws: the parser's error for an invalid filter, and the store's errors.
    @discardableResult
    public func deleteOne(_ filter: BSONDocument) throws -> Int {
        let filter = try Filter(filter)
        return try store.write { try $0.deleteOne(namespace, filter: filter) == nil ? 0 : 1 }
    }

    /// Removes the first matching document on the store's writer thread.
    ///
    /// ```swift
    /// try await people.deleteOne(["_id": 1])
    /// ```
    ///
    /// - Returns: how many were removed, 0 or 1.
    /// - Throws: the errors of the synchronous form.
    @discardableResult
    public func deleteOne(_ filter: BSONDocument) async throws -> Int {
        let filter = try Filter(filter)
        return try await store.write { try $0.deleteOne(namespace, filter: filter) == nil ? 0 : 1 }
    }

    /// Removes every document that matches a filter.
    ///
    /// ```swift
    /// let count = try people.deleteMany(["age": ["$exists": false]])
    /// try people.deleteMany([:])  // all of them
    /// ```
    ///
    /// - Returns: how many were removed.
    /// - Throws: the parser's error for an invalid filter, and the store's errors.
    @discardableResult
    public func deleteMany(_ filter: BSONDocument) throws -> Int {
        let filter = try Filter(filter)
        return try store.write { try $0.deleteMany(namespace, filter: filter) }
    }

    /// Removes every matching document on the store's writer thread.
    ///
    /// ```swift
    /// let count = try await people.deleteMany(["age": ["$exists": false]])
    /// ```
    ///
    /// - Returns: how many were removed.
    /// - Throws: the errors of the synchronous form.
    @discardableResult
    public func deleteMany(_ filter: BSONDocument) async throws -> Int {
        let filter = try Filter(filter)
        return try await store.write { try $0.deleteMany(namespace, filter: filter) }
    }
}

// MARK: - Several writes

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
    /// - Throws: the store's errors; a refused write is in the result instead.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }

    /// Performs several writes in one transaction on the store's writer thread.
    ///
    /// ```swift
    /// let result = try await people.bulkWrite([.insertOne(["_id": 2]), .deleteOne(["_id": 1])])
    /// ```
    ///
    /// - Parameter ordered: whether to stop at the first refused write.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: the store's errors; a refused write is in the result instead.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) async throws -> BulkWriteResult {
        try await store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }
}
