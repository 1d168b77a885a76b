public import BSONStore

/// Local reads; they include pending changes.
///
/// A document that does not decode as the collection's type throws `SyncError` of code
/// `.decodingFailed`.
extension SyncCollection {
    /// Returns the first document that matches a filter.
    ///
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter.
    public func findOne(_ filter: BSONDocument = [:]) async throws -> Document? {
        try await find(filter, options: FindOptions(limit: 1)).first
    }

    /// Returns the document with an `_id`; O(log n).
    public func findOne(id: BSONValue) async throws -> Document? {
        try engine.store.read { transaction in
            try transaction.get(namespace, id: id)
        }.map(decode)
    }

    /// Returns the documents that match a filter.
    public func find(
        _ filter: BSONDocument = [:], options: FindOptions = .all
    ) async throws -> [Document] {
        try engine.store.read { transaction in
            try transaction.find(namespace, filter: filter, options: options)
        }.map(decode)
    }

    /// Returns the number of documents that match a filter.
    ///
    /// - Parameter limit: the highest number to return; 0 sets no limit.
    public func count(_ filter: BSONDocument = [:], limit: Int = 0) async throws -> Int {
        let count = try engine.store.read { transaction in
            try transaction.count(namespace, filter: filter)
        }
        return limit > 0 ? min(count, limit) : count
    }
}

/// Local writes; each call stores the document and its sync record before it returns.
extension SyncCollection {
    /// Inserts a document and begins its sync; a document without an `_id` gets one.
    ///
    /// - Returns: the `_id`.
    /// - Throws: `StoreError` of code 11000 when the `_id` exists; `SyncError` of code
    ///   `.documentTooLarge`.
    @discardableResult
    public func insertOne(_ document: Document) async throws -> BSONValue {
        try await insertMany(CollectionOfOne(document))[0]
    }

    /// Inserts documents in one transaction: all of them or, after an error, none.
    ///
    /// - Returns: the `_id`s in order.
    @discardableResult
    public func insertMany(_ documents: some Sequence<Document>) async throws -> [BSONValue] {
        let encoded = try documents.map {
            try coding.encode($0, nil).withoutVersion.withTimestampsFilled
        }
        let ids = try await write { sync in
            try encoded.map { document in
                let stored = try sync.transaction.insert(sync.namespace, document)
                try sync.noteLocalWrite(before: nil, after: stored)
                return stored.documentID
            }
        }
        engine.wake()
        return ids
    }

    /// Updates the first document that matches a filter, by operators or by a replacement.
    @discardableResult
    public func updateOne(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        let update = try Update(update, arrayFilters: arrayFilters)
        return try await change { sync in
            try sync.transaction.updateOne(
                sync.namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Updates every document that matches a filter, by operators, in one transaction.
    @discardableResult
    public func updateMany(
        _ filter: BSONDocument, _ update: BSONDocument, upsert: Bool = false,
        arrayFilters: [BSONDocument] = []
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        let update = try Update(update, arrayFilters: arrayFilters)
        return try await change { sync in
            try sync.transaction.updateMany(
                sync.namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Updates the first document that matches a filter by a pipeline of `$set`, `$unset`,
    /// `$project`, `$replaceWith` and their aliases.
    @discardableResult
    public func updateOne(
        _ filter: BSONDocument, pipeline: [BSONDocument], upsert: Bool = false
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        let update = try Update(pipeline: pipeline)
        return try await change { sync in
            try sync.transaction.updateOne(
                sync.namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Updates every document that matches a filter by a pipeline, in one transaction.
    @discardableResult
    public func updateMany(
        _ filter: BSONDocument, pipeline: [BSONDocument], upsert: Bool = false
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        let update = try Update(pipeline: pipeline)
        return try await change { sync in
            try sync.transaction.updateMany(
                sync.namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Replaces the first document that matches a filter.
    ///
    /// Its `_id` stays, and so do fields that a `Codable` type does not know.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: Document, upsert: Bool = false
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        let coding = coding
        return try await change { sync in
            let original = try sync.transaction.find(
                sync.namespace, filter: filter, options: FindOptions(limit: 1)
            ).first
            return try sync.transaction.replaceOne(
                sync.namespace, filter: filter,
                document: try coding.encode(document, original).withoutVersion, upsert: upsert)
        }
    }

    /// Deletes the first document that matches a filter.
    ///
    /// - Returns: the number of deleted documents: 0 or 1.
    @discardableResult
    public func deleteOne(_ filter: BSONDocument) async throws -> Int {
        let filter = try Filter(filter)
        let count = try await write { sync in
            let deleted = try sync.transaction.deleteOne(sync.namespace, filter: filter)
            guard let deleted else { return 0 }
            try sync.noteLocalWrite(before: deleted, after: nil)
            return 1
        }
        engine.wake()
        return count
    }

    /// Deletes every document that matches a filter, in one transaction.
    ///
    /// - Returns: the number of deleted documents.
    @discardableResult
    public func deleteMany(_ filter: BSONDocument) async throws -> Int {
        let filter = try Filter(filter)
        let count = try await write { sync in
            var deleted: [BSONDocument] = []
            try sync.transaction.deleteMany(sync.namespace, filter: filter) {
                deleted.append($0)
            }
            for document in deleted { try sync.noteLocalWrite(before: document, after: nil) }
            return deleted.count
        }
        engine.wake()
        return count
    }

    private func change(
        _ body: @escaping @Sendable (SyncTransaction) throws -> UpdateResult
    ) async throws -> UpdateResult {
        let result = try await write { sync in
            let outcome = try body(sync)
            var untouched = 0
            for image in outcome.images {
                try sync.noteLocalWrite(before: image.before, after: image.after)
                // The write removes a version field that the app sets.
                if let before = image.before, before == image.after?.withoutVersion {
                    untouched += 1
                }
            }
            return UpdateResult(
                matchedCount: outcome.matchedCount,
                modifiedCount: outcome.modifiedCount - untouched, upsertedID: outcome.upsertedID)
        }
        engine.wake()
        return result
    }
}
