/// A collection of documents in a store.
///
/// ```swift
/// let people = store.collection(Namespace("app", "people"))
/// try people.insertOne(["_id": 1, "name": "Ada"])
/// try people.updateOne(["_id": 1], ["$set": ["age": 36]])
/// let adults = try people.find(["age": ["$gte": 18]]).fetch()
///
/// let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
/// try todos.updateOne({ $0.id == 1 }) { $0.done.set(true) }
/// let open = todos.find { !$0.done }.sort(\.due)
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
/// `Docs/QUERIES.md` lists the operators of filters and updates.
///
/// The documents are BSON, or values of a `Codable` type. For a ``TypedDocument`` filters and updates
/// can be closures over its fields, too. Writes of a `Codable` type change only the fields whose
/// values differ: all others keep their stored bytes, and fields that the type does not know stay,
/// so that an older app does not drop what a newer one wrote.
///
/// All calls throw ``StoreError``, which has MongoDB's codes and messages. A call that throws has
/// changed nothing, except for those that write many documents: `insertMany`, `updateMany`
/// and `bulkWrite` say what they leave.
public struct DocumentCollection<Document: Sendable>: Sendable {
    /// The store that the collection is in.
    public let store: DocumentStore
    /// The collection's name.
    public let namespace: Namespace
    let coding: DocumentCoding<Document>

    /// The handle for the same collection with BSON documents.
    public var documents: DocumentCollection<BSONDocument> { store.collection(namespace) }
}

// MARK: - Find

extension DocumentCollection {
    /// Returns a query of the documents that match a filter.
    ///
    /// ```swift
    /// let adults = try people.find(["age": ["$gte": 18]]).fetch()
    /// let oldest = try people.find().sort(["age": -1]).limit(10).fetch()
    /// ```
    public func find(_ filter: BSONDocument = [:]) -> Query<Document> {
        Query(store, namespace, coding, filter)
    }

    /// Returns the document with an id, or `nil`; O(log n).
    ///
    /// ```swift
    /// let ada = try people.findOne(id: 1)
    /// ```
    ///
    /// - Throws: `corrupt` for a damaged document; `DocumentDecodingFailure` if the document does
    ///   not decode.
    public func findOne(id: BSONValue) throws -> Document? {
        try store.read { try $0.get(namespace, id: id) }.map(coding.decoded)
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
    public func insertOne(_ document: Document) throws -> BSONValue {
        let document = WallClock.fillingTimestamps(in: try coding.encode(document))
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
        _ documents: [Document], ordered: Bool = true
    ) throws -> [BSONValue] {
        let documents = try documents.map(coding.encode)
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
        let filter = try Filter(filter)
        let update = try Update(operators: update, arrayFilters: arrayFilters)
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
        let filter = try Filter(filter)
        let update = try Update(operators: update, arrayFilters: arrayFilters)
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
    /// Of a `Codable` type only the fields whose values differ are written. For a value that was
    /// read earlier and edited since, pass what was read as `original`: the writes that were made
    /// meanwhile to other fields stay.
    ///
    /// ```swift
    /// try todos.replaceOne(["_id": .objectID(todo.id)], edited, from: todo)
    /// ```
    ///
    /// - Parameters:
    ///   - document: the new document, without update operators.
    ///   - original: the value that the edit began with. Only the fields, also of nested documents,
    ///     that differ between it and the new value are written; an array counts as one value.
    ///   - upsert: whether to insert the document if none matches, with the `_id` that the filter
    ///     requires.
    /// - Returns: whether a document matched, was replaced or was inserted.
    /// - Throws: the parser's error for an invalid filter, `duplicateKey`, `documentTooLarge`, and
    ///   an error for another `_id` than the replaced document's; `DocumentDecodingFailure` if
    ///   there is an `original` and the stored document does not decode.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: Document, from original: Document? = nil,
        upsert: Bool = false
    ) throws -> UpdateResult {
        let filter = try Filter(filter)
        return try store.write {
            try replace($0, filter, document, from: original, upsert: upsert)
        }
    }

    /// Lets a closure change a document: reads it, calls the closure and stores the result, in one
    /// transaction.
    ///
    /// Only the fields that the closure changes are written. A closure that changes nothing stores
    /// nothing.
    ///
    /// ```swift
    /// try todos.modify(id: .objectID(id)) { todo in todo.tags.removeAll { $0 == "today" } }
    /// ```
    ///
    /// - Parameters:
    ///   - id: the document's `_id`.
    ///   - change: changes the document; what it throws is thrown on, and nothing is stored.
    /// - Returns: the document after the change; `nil` if the collection has no document of the
    ///   `_id`.
    /// - Throws: `DocumentDecodingFailure`, the encoder's error, `immutableField` (66) when the
    ///   closure changes the `_id`.
    @discardableResult
    public func modify(
        id: BSONValue, _ change: (_ document: inout Document) throws -> Void
    ) throws -> Document? {
        let filter = try Filter(comparingBytes: ["_id": id])
        return try store.write { transaction in
            guard let found = try transaction.get(namespace, id: id) else { return nil }
            var document = try coding.decoded(found)
            let edition = try coding.edition(document, found)
            try change(&document)
            let changed = try coding.change(document, [edition])
            guard changed != found else { return document }
            try transaction.updateOne(
                namespace, filter: filter, update: Update(storing: changed))
            return document
        }
    }

    /// Replaces the first matching document within a transaction.
    func replace(
        _ transaction: WriteTransaction, _ filter: Filter, _ document: Document,
        from original: Document?, upsert: Bool
    ) throws -> UpdateResult {
        let found =
            coding.isRaw && original == nil
            ? nil : try transaction.find(namespace, filter: filter, options: .first).first
        let update = try coding.replacing(found, by: document, from: original)
        guard let id = found?["_id"] else {
            return try transaction.updateOne(
                namespace, filter: filter, update: update, upsert: upsert)
        }
        return try transaction.updateOne(
            namespace, filter: try Filter(comparingBytes: ["_id": id]), update: update)
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
