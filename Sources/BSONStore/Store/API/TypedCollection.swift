/// A handle for reading and writing one collection as values of a Codable type.
///
/// Filters are BSON documents, or closures over the type's fields if it is a `TypedDocument`; use
/// ``documents`` for operations on BSON.
///
/// ```swift
/// let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
/// try todos.updateOne({ $0.id == 1 }) { $0.done.set(true) }
/// let open = try todos.find { !$0.done }
/// ```
public struct TypedCollection<Document: Codable & Sendable>: Sendable {
    /// The handle for the same collection with BSON documents.
    public let documents: DocumentCollection
    /// The encoder of values to BSON.
    public var encoder = BSONEncoder()
    /// The decoder of BSON to values.
    public var decoder = BSONDecoder()
}

extension TypedCollection {
    /// Returns the documents that match a filter, in the order of insertion or of a sort.
    ///
    /// A document that does not decode is in the result's `failures`, not an error; the result's
    /// `strict` throws for it.
    ///
    /// - Throws: for an invalid filter.
    public func find(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) throws -> FoundDocuments<Document> {
        let found = try documents.find(filter, options: options)
        return FoundDocuments(decoding: found) { try decoder.decode(Document.self, from: $0) }
    }

    /// Returns the first document that matches a filter, or `nil`.
    ///
    /// - Throws: for an invalid filter; `DocumentDecodingFailure` if the document does not decode.
    public func findOne(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) throws -> Document? {
        try documents.findOne(filter, options: options).map(decode)
    }

    /// Returns the document with an id, or `nil`.
    ///
    /// - Throws: `DocumentDecodingFailure` if the document does not decode.
    public func findOne(id: BSONValue) throws -> Document? {
        try documents.findOne(id: id).map(decode)
    }

    /// Returns how many documents match a filter.
    ///
    /// - Throws: for an invalid filter.
    public func count(_ filter: BSONDocument = [:]) throws -> Int { try documents.count(filter) }

    /// Adds a document.
    ///
    /// - Returns: the document's `_id`, a new ObjectId when the value has none.
    /// - Throws: the encoder's error, and as `DocumentCollection/insertOne(_:)-(BSONDocument)`.
    @discardableResult
    public func insertOne(_ document: Document) throws -> BSONValue {
        try documents.insertOne(try encoder.encode(document))
    }

    /// Adds a document; the commit runs on the store's writer thread.
    ///
    /// - Throws: as the synchronous form.
    @discardableResult
    public func insertOne(_ document: Document) async throws -> BSONValue {
        try await documents.insertOne(try encoder.encode(document))
    }

    /// Adds documents; a refused document does not undo the others.
    ///
    /// - Parameter ordered: whether to stop at the first refused document.
    /// - Returns: the documents' `_id`s in order.
    /// - Throws: the encoder's error, before anything is added; else as
    ///   `DocumentCollection/insertMany(_:ordered:)` does.
    @discardableResult
    public func insertMany(_ values: [Document], ordered: Bool = true) throws -> [BSONValue] {
        try documents.insertMany(try values.map { try encoder.encode($0) }, ordered: ordered)
    }

    /// Adds documents; the commit runs on the store's writer thread.
    ///
    /// - Parameter ordered: whether to stop at the first refused document.
    /// - Returns: the documents' `_id`s in order.
    /// - Throws: as the synchronous form does.
    @discardableResult
    public func insertMany(
        _ values: [Document], ordered: Bool = true
    ) async throws -> [BSONValue] {
        try await documents.insertMany(
            try values.map { try encoder.encode($0) }, ordered: ordered)
    }

    /// Replaces the first document that matches a filter with a value.
    ///
    /// Only the fields whose values differ are written: all others keep their stored bytes, and
    /// fields that the type does not know stay, so that an older app does not drop what a newer one
    /// wrote. To change a value that was read earlier, use ``modify(id:_:)``, which keeps the
    /// writes that were made meanwhile.
    ///
    /// - Throws: the encoder's error; `immutableField` (66) when the value has another `_id`.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: Document, upsert: Bool = false
    ) throws -> UpdateResult {
        let filter = try Filter(filter)
        return try documents.store.write {
            try replace($0, filter, document, upsert: upsert)
        }
    }

    /// Replaces the first document that matches a filter; the commit runs on the store's writer
    /// thread.
    ///
    /// - Throws: as the synchronous form.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: Document, upsert: Bool = false
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        return try await documents.store.write {
            try replace($0, filter, document, upsert: upsert)
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
        return try documents.store.write { transaction in
            guard let found = try transaction.get(documents.namespace, id: id) else { return nil }
            var document = try decode(found)
            let edition = try encoder.edition(of: document, decodedFrom: found)
            try change(&document)
            let changed = try encoder.encode(document, changing: [edition])
            guard changed != found else { return document }
            try transaction.updateOne(
                documents.namespace, filter: filter, update: Update(storing: changed))
            return document
        }
    }

    private func replace(
        _ transaction: WriteTransaction, _ filter: Filter, _ document: Document, upsert: Bool
    ) throws -> UpdateResult {
        let namespace = documents.namespace
        let found = try transaction.find(namespace, filter: filter, options: .first).first
        guard let found, let id = found["_id"] else {
            return try transaction.replaceOne(
                namespace, filter: filter, document: try encoder.encode(document),
                upsert: upsert)
        }
        return try transaction.replaceOne(
            namespace, filter: try Filter(comparingBytes: ["_id": id]),
            document: try encoder.encode(
                document,
                changing: [encoder.edition(decoding: found, as: Document.self, by: decoder)]))
    }

    func decode(_ document: BSONDocument) throws(DocumentDecodingFailure) -> Document {
        do {
            return try decoder.decode(Document.self, from: document)
        } catch {
            throw DocumentDecodingFailure(error, decoding: document, as: Document.self)
        }
    }
}
