/// A collection of documents in a store.
///
/// ```swift
/// let people = store.collection(Namespace("app", "people"))
/// try people.insertOne(["_id": 1, "name": "Ada"])
/// try people.updateOne(["_id": 1], ["$set": ["age": 36]])
/// let adults = try people.find(["age": ["$gte": 18]])
/// ```
///
/// The collection itself is in the file; this value only names it. The first insert creates it.
///
/// Each call is one transaction. `DocumentStore/write(_:)` combines several. Each call that writes
/// also has an `await` form, which blocks no thread of Swift's pool.
///
/// Names and meanings are those of MongoDB's drivers:
///
/// - A *filter* is a condition, such as `["age": ["$gte": 18]]`. An empty filter matches every
///   document.
/// - An *update* names changes, such as `["$set": ["age": 36]]`.
/// - `upsert: true` inserts a document if none matches the filter.
///
/// `Docs/QUERIES.md` lists the operators of filters and updates. For values of a `Codable` type, use
/// ``TypedCollection``.
///
/// All calls throw ``StoreError``, which has MongoDB's codes and messages. A call that throws has
/// changed nothing, except for those that write many documents: `insertMany`, `updateMany`
/// and `bulkWrite` say what they leave.
public struct DocumentCollection: Sendable {
    /// The store that the collection is in.
    public let store: DocumentStore
    /// The collection's name.
    public let namespace: Namespace
}

// MARK: - Find

extension DocumentCollection {
    /// Returns the documents that match a filter, in the order of insertion or of a sort.
    ///
    /// ```swift
    /// let adults = try people.find(["age": ["$gte": 18]])
    /// let oldest = try people.find(
    ///     [:], options: FindOptions(sort: SortOrder(["age": -1]), limit: 10))
    /// ```
    ///
    /// - Parameter options: the order, the number and the fields of the returned documents.
    /// - Throws: `badValue` and others for an invalid filter; `corrupt` for a damaged document.
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
        if let id = Filter.soleID(filter), options.skip == 0, try !isCollated(id) {
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
    /// - Throws: `corrupt` for a damaged document.
    public func findOne(id: BSONValue) throws -> BSONDocument? {
        try store.read { try $0.get(namespace, id: id) }
    }

    /// Calls a closure with each document that matches a filter, without holding all of them in
    /// memory.
    ///
    /// ```swift
    /// var total = 0
    /// try people.forEach(["age": ["$exists": true]]) { total += Int($0["age"]?.int64Value ?? 0) }
    /// ```
    ///
    /// All documents are of the same moment, whatever other tasks write meanwhile.
    ///
    /// - Throws: as ``find(_:options:)`` does, and the closure's error, which ends the iteration.
    public func forEach(
        _ filter: BSONDocument = [:], options: FindOptions = .all,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        let filter = try Filter(filter)
        try store.read { try $0.forEach(namespace, filter: filter, options: options, body) }
    }

    /// Returns how many documents match a filter.
    ///
    /// ```swift
    /// let adultCount = try people.count(["age": ["$gte": 18]])
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

    /// Whether the collection compares texts so that other ids may be equal to this one.
    private func isCollated(_ id: BSONValue) throws -> Bool {
        guard Collation.concerns(id) else { return false }
        return try store.read { try $0.options(namespace)?.collation != nil }
    }
}

// MARK: - Observe

extension DocumentCollection {
    /// Returns a sequence of the documents that match a filter: as they are now, and again after each
    /// change.
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

// MARK: - Insert

extension DocumentCollection {
    /// Adds a document; one without an `_id` gets an ObjectId.
    ///
    /// ```swift
    /// let id = try people.insertOne(["name": "Ada", "age": 36])
    /// ```
    ///
    /// As in MongoDB, a field that holds `Timestamp(0, 0)` is set to the current time.
    ///
    /// - Returns: the document's `_id`.
    /// - Throws: `duplicateKey` if the `_id`, or a value that a unique index covers, exists already;
    ///   `documentTooLarge`; `badValue` for an invalid `_id`.
    @discardableResult
    public func insertOne(_ document: BSONDocument) throws -> BSONValue {
        let document = WallClock.fillingTimestamps(in: document)
        return try store.write { try $0.insert(namespace, document)["_id"] ?? .null }
    }

    /// Adds documents in one transaction, except for those that `insertOne` would refuse.
    ///
    /// ```swift
    /// // Adds 1 and 2, then throws: 1 exists already.
    /// try people.insertMany([["_id": 1], ["_id": 1], ["_id": 2]], ordered: false)
    /// ```
    ///
    /// - Parameter ordered: whether to stop at the first refused document; otherwise the documents
    ///   after it are added.
    /// - Returns: the documents' `_id`s in order.
    /// - Throws: the first refusal. Its `writes` lists the added and the refused documents; it is
    ///   `nil` when the file cannot be written, and then no document is added.
    @discardableResult
    public func insertMany(
        _ documents: [BSONDocument], ordered: Bool = true
    ) throws -> [BSONValue] {
        let result = try store.write {
            try $0.insertEach(namespace, documents, ordered: ordered)
        }
        return try result.idsOrRefusal()
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
    /// - Parameters:
    ///   - upsert: whether to insert a document if none matches: the values that the filter requires,
    ///     with the update applied.
    ///   - arrayFilters: one filter for each `$[name]` in the update's paths, with conditions on
    ///     `name`; only the elements that match it are changed.
    /// - Returns: whether a document matched, was modified or was inserted.
    /// - Throws: `failedToParse` for an update without operators, the parser's error for an invalid
    ///   filter or update, `duplicateKey`, and the error of an operator that does not apply to its
    ///   field.
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

    /// Applies an update to every document that matches a filter, until one is refused.
    ///
    /// ```swift
    /// let result = try people.updateMany(["age": ["$lt": 18]], ["$set": ["minor": true]])
    /// let changed = result.modifiedCount
    /// ```
    ///
    /// - Parameters:
    ///   - upsert: as in `updateOne`.
    ///   - arrayFilters: as in `updateOne`.
    /// - Returns: the counts, without the documents.
    /// - Throws: as `updateOne` does. The documents that were changed before the refused one stay
    ///   changed, and the error's `writes` counts them. Within `DocumentStore/write(_:)` none stays
    ///   changed.
    @discardableResult
    public func updateMany(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) throws -> UpdateResult {
        let (filter, update) = try Self.parse(filter, update, arrayFilters)
        let result = try store.write {
            try $0.updateEach(namespace, filter, update, upsert: upsert)
        }
        return try result.get()
    }

    /// Replaces the first document that matches a filter; its `_id` stays.
    ///
    /// ```swift
    /// try people.replaceOne(["_id": 1], ["name": "Ada Lovelace"], upsert: true)
    /// ```
    ///
    /// - Parameters:
    ///   - document: the new document, without update operators.
    ///   - upsert: whether to insert the document if none matches, with the `_id` that the filter
    ///     requires.
    /// - Returns: whether a document matched, was replaced or was inserted.
    /// - Throws: the parser's error for an invalid filter, `duplicateKey`, `documentTooLarge`, and
    ///   an error for another `_id` than the replaced document's.
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
}
