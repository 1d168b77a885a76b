/// The `await` forms of the calls that write.
///
/// They have the names, parameters, results and errors of the forms without `await`; in asynchronous
/// code Swift chooses these. A form without `await` waits for other writers and commits on the calling
/// thread. These commit on a thread of the store, together with other calls that wait.
///
/// ```swift
/// try people.insertOne(["_id": 2])        // in a synchronous function
/// try await people.insertOne(["_id": 2])  // in an asynchronous one
/// ```
extension DocumentCollection {
    /// Adds a document; one without an `_id` gets an ObjectId.
    ///
    /// ```swift
    /// let id = try await people.insertOne(["name": "Ada", "age": 36])
    /// ```
    @discardableResult
    public func insertOne(_ document: Document) async throws -> BSONValue {
        let document = WallClock.fillingTimestamps(in: try coding.encode(document))
        return try await store.write { try $0.insert(namespace, document)["_id"] ?? .null }
    }

    /// Adds documents in one transaction, except for those that `insertOne` would refuse.
    ///
    /// ```swift
    /// let ids = try await people.insertMany([["name": "Ada"], ["name": "Grace"]])
    /// ```
    @discardableResult
    public func insertMany(
        _ documents: [Document], ordered: Bool = true
    ) async throws -> [BSONValue] {
        let documents = try documents.map(coding.encode)
        let result = try await store.write {
            try $0.insertEach(namespace, documents, ordered: ordered)
        }
        return try result.idsOrRefusal()
    }

    /// Applies an update to the first document that matches a filter.
    ///
    /// ```swift
    /// try await counters.updateOne(["_id": "visits"], ["$inc": ["count": 1]], upsert: true)
    /// ```
    @discardableResult
    public func updateOne(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        let update = try Update(operators: update, arrayFilters: arrayFilters)
        return try await store.write {
            try $0.updateOne(namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Applies an update to every document that matches a filter, until one is refused.
    ///
    /// ```swift
    /// try await people.updateMany([:], ["$inc": ["age": 1]])
    /// ```
    @discardableResult
    public func updateMany(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        let update = try Update(operators: update, arrayFilters: arrayFilters)
        let result = try await store.write {
            try $0.updateEach(namespace, filter, update, upsert: upsert)
        }
        return try result.get()
    }

    /// Replaces the first document that matches a filter; its `_id` stays.
    ///
    /// ```swift
    /// try await people.replaceOne(["_id": 1], ["name": "Ada Lovelace"])
    /// ```
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: Document, from original: Document? = nil,
        upsert: Bool = false
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        return try await store.write {
            try replace($0, filter, document, from: original, upsert: upsert)
        }
    }

    /// Removes the first document that matches a filter; returns how many, 0 or 1.
    ///
    /// ```swift
    /// try await people.deleteOne(["_id": 1])
    /// ```
    @discardableResult
    public func deleteOne(_ filter: BSONDocument) async throws -> Int {
        let filter = try Filter(filter)
        return try await store.write { try $0.deleteOne(namespace, filter: filter) == nil ? 0 : 1 }
    }

    /// Removes every document that matches a filter; returns how many.
    ///
    /// ```swift
    /// let count = try await people.deleteMany(["age": ["$exists": false]])
    /// ```
    @discardableResult
    public func deleteMany(_ filter: BSONDocument) async throws -> Int {
        let filter = try Filter(filter)
        return try await store.write { try $0.deleteMany(namespace, filter: filter) }
    }

    /// Updates the first document that matches a filter and returns it, as it was before or after.
    ///
    /// ```swift
    /// let before = try await counters.findOneAndUpdate(
    ///     ["_id": "tickets"], ["$inc": ["last": 1]])
    /// ```
    @discardableResult
    public func findOneAndUpdate(
        _ filter: BSONDocument, _ update: BSONDocument, options: FindOneAndOptions = .init()
    ) async throws -> Document? {
        let filter = try Filter(filter)
        let update = try Update(operators: update, arrayFilters: options.arrayFilters)
        return try await store.write {
            try $0.findAndModify(namespace, filter, update, options)
        }.map(coding.decoded)
    }

    /// Replaces the first document that matches a filter and returns it, as it was before or after.
    ///
    /// ```swift
    /// let before = try await people.findOneAndReplace(["_id": 1], ["name": "Ada Lovelace"])
    /// ```
    @discardableResult
    public func findOneAndReplace(
        _ filter: BSONDocument, _ document: Document, from original: Document? = nil,
        options: FindOneAndOptions = .init()
    ) async throws -> Document? {
        try options.checkReplaces()
        let filter = try Filter(filter)
        return try await store.write {
            try replaceAndFind($0, filter, document, from: original, options)
        }.map(coding.decoded)
    }

    /// Removes the first document that matches a filter and returns it, or `nil`.
    ///
    /// ```swift
    /// let job = try await jobs.findOneAndDelete(["state": "new"])
    /// ```
    @discardableResult
    public func findOneAndDelete(
        _ filter: BSONDocument, options: FindOneAndOptions = .init()
    ) async throws -> Document? {
        try options.checkDeletes()
        let filter = try Filter(filter)
        return try await store.write {
            try $0.findAndDelete(namespace, filter, options)
        }.map(coding.decoded)
    }

    /// Performs several writes in one transaction, except for those that are refused.
    ///
    /// ```swift
    /// let result = try await people.bulkWrite([.insertOne(["_id": 2]), .deleteOne(["_id": 1])])
    /// ```
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) async throws -> BulkWriteResult {
        try await store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }

    /// Runs a pipeline and returns its documents; one that writes commits on a thread of the store.
    ///
    /// ```swift
    /// try await people.aggregate([["$out": "copyOfPeople"]])
    /// ```
    @discardableResult
    public func aggregate(
        _ pipeline: [BSONDocument], options: PipelineOptions = PipelineOptions()
    ) async throws -> [BSONDocument] {
        let pipeline = try Pipeline(stages: pipeline, options: options)
        guard pipeline.writes else {
            return try store.read { try $0.aggregate(namespace, pipeline) }
        }
        return try await store.write { try $0.aggregate(namespace, pipeline) }
    }
}
