public import BSONStore

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
            try WallClock.fillingTimestamps(
                in: coding.encode($0).withoutVersion)
        }
        let ids = try await write { sync in
            try encoded.map { document in
                let stored = try sync.transaction.insert(sync.namespace, document)
                try NoteLocalWrite(sync: sync).note(before: nil, after: stored)
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
        return try await engine.change(namespace) { sync in
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
        try await engine.update(
            namespace, try Filter(filter), within: nil,
            try Update(update, arrayFilters: arrayFilters), upsert: upsert)
    }

    /// Replaces the first document that matches a filter.
    ///
    /// Its `_id` stays. Of a `Codable` type only the fields whose values differ are written: all
    /// others keep their stored bytes. For a value that was read earlier and edited since, such as
    /// that of a form, pass what was read as `original`: the edits that arrived meanwhile in other
    /// fields stay.
    ///
    /// ```swift
    /// try await todos.replaceOne(["_id": .objectID(todo.id)], edited, from: todo)
    /// ```
    ///
    /// - Parameters:
    ///   - original: the value that the edit began with. Only the fields, also of nested documents,
    ///     that differ between it and the new value are written; an array counts as one value.
    ///   - upsert: whether to insert the document if none matches.
    /// - Throws: `DocumentDecodingFailure` if there is an `original` and the stored document does
    ///   not decode.
    @discardableResult
    public func replaceOne(
        _ filter: BSONDocument, _ document: Document, from original: Document? = nil,
        upsert: Bool = false
    ) async throws -> UpdateResult {
        let filter = try Filter(filter)
        let coding = coding
        return try await engine.change(namespace) { sync in
            let stored = try sync.transaction.find(
                sync.namespace, filter: filter, options: FindOptions(limit: 1)
            ).first
            let update = try coding.replacing(stored, by: document, from: original) {
                $0.withoutVersion
            }
            return try sync.transaction.updateOne(
                sync.namespace, filter: filter, update: update, upsert: upsert)
        }
    }

    /// Lets a closure change a document: reads it, calls the closure and stores the result, in one
    /// transaction.
    ///
    /// No other local write and no download can come between. Only the fields that the closure
    /// changes are written. A closure that changes nothing stores nothing.
    ///
    /// ```swift
    /// try await todos.modify(id: .objectID(id)) { todo in
    ///     todo.tags.removeAll { $0 == "today" }
    ///     todo.done = todo.tags.isEmpty
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - id: the document's `_id`.
    ///   - change: changes the document; what it throws is thrown on, and nothing is stored.
    /// - Returns: the document after the change; `nil` if the collection has no document of the
    ///   `_id`.
    /// - Throws: `DocumentDecodingFailure`; `StoreError` of code `immutableField` if
    ///   the closure changes the `_id`.
    @discardableResult
    public func modify(
        id: BSONValue, _ change: @escaping @Sendable (_ document: inout Document) throws -> Void
    ) async throws -> Document? {
        let filter = try Filter(comparingBytes: ["_id": id])
        let modified = try await write { sync -> Document? in
            guard let original = try sync.local(id)?.withoutVersion else { return nil }
            var document = try coding.decoded(original)
            let edition = try coding.edition(document, original)
            try change(&document)
            let encoded = try coding.change(document, [edition]).withoutVersion
            guard encoded != original else { return document }
            let outcome = try sync.transaction.updateOne(
                sync.namespace, filter: filter, update: Update(storing: encoded))
            for image in outcome.images {
                try NoteLocalWrite(sync: sync).note(before: image.before, after: image.after)
            }
            return document
        }
        engine.wake()
        return modified
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
            try NoteLocalWrite(sync: sync).note(before: deleted, after: nil)
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
        try await engine.delete(namespace, try Filter(filter), within: nil)
    }
}

// MARK: - Find and change

/// Local find-and-modify calls: one transaction each.
extension SyncCollection {
    /// Updates the first document that matches a filter and returns it.
    ///
    /// - Returns: the document before or after the update, as the options say; `nil` when no
    ///   document matches.
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter or update.
    @discardableResult
    public func findOneAndUpdate(
        _ filter: BSONDocument, _ update: BSONDocument, options: FindOneAndOptions = .init()
    ) async throws -> Document? {
        let update = try Update(update, arrayFilters: options.arrayFilters)
        guard !update.isReplacement else {
            throw StoreError(.failedToParse, "the update operation document must use operators")
        }
        return try await findAndChange(Filter(filter), options) { _ in update }.document
    }

    /// Changes the first document that matches a filter by operators, a pipeline or a replacement.
    ///
    /// - Returns: the document before or after the change, as the options say, and what changed.
    package func findOneAndChange(
        _ filter: BSONDocument, _ update: Update, options: FindOneAndOptions
    ) async throws -> (document: Document?, result: UpdateResult) {
        try await findAndChange(Filter(filter), options) { _ in update }
    }

    /// Replaces the first document that matches a filter and returns it, before or after as the
    /// options say.
    ///
    /// Its `_id` stays. Of a `Codable` type only the fields whose values differ are written.
    ///
    /// - Parameter original: the value that the edit began with, as in `replaceOne`.
    /// - Throws: `StoreError` with MongoDB's codes for an invalid filter or replacement, and for
    ///   `arrayFilters`; `DocumentDecodingFailure` as `replaceOne` does.
    @discardableResult
    public func findOneAndReplace(
        _ filter: BSONDocument, _ document: Document, from original: Document? = nil,
        options: FindOneAndOptions = .init()
    ) async throws -> Document? {
        try options.checkReplaces()
        let coding = coding
        return try await findAndChange(Filter(filter), options) { stored in
            try coding.replacing(stored, by: document, from: original) { $0.withoutVersion }
        }.document
    }

    /// Deletes the first document that matches a filter and returns it.
    @discardableResult
    public func findOneAndDelete(
        _ filter: BSONDocument, sort: SortOrder? = nil
    ) async throws -> Document? {
        let filter = try Filter(filter)
        let options = try FindOptions(sort: sort, limit: 1)
        let deleted = try await write { sync -> BSONDocument? in
            let found = try sync.transaction.find(
                sync.namespace, filter: filter, options: options
            ).first
            guard let found else { return nil }
            try sync.removeLocal(found.documentID, as: .byApp)
            try NoteLocalWrite(sync: sync).note(before: found, after: nil)
            return found
        }
        engine.wake()
        return try deleted.map(coding.decoded)
    }

    private func findAndChange(
        _ filter: Filter, _ options: FindOneAndOptions,
        _ update: @escaping @Sendable (BSONDocument?) throws -> Update
    ) async throws -> (document: Document?, result: UpdateResult) {
        let first = try FindOptions(sort: options.sort, limit: 1)
        let (found, result) = try await write { sync -> (BSONDocument?, UpdateResult) in
            let before = try sync.transaction.find(
                sync.namespace, filter: filter, options: first
            ).first
            let outcome = try sync.transaction.updateOne(
                sync.namespace, filter: filter, update: try update(before),
                upsert: options.upsert, sort: options.sort)
            for image in outcome.images {
                try NoteLocalWrite(sync: sync).note(before: image.before, after: image.after)
            }
            var shown = before
            if options.returnsAfter {
                // Without an image the update changed nothing.
                let id = outcome.images.first?.after?.documentID ?? before?.documentID
                shown = try id.flatMap(sync.local)
            }
            let projected = try shown.map { document in
                try sync.transaction.projected(
                    document, by: options.projection, filter, sync.namespace, selectedAs: before)
            }
            return (projected, outcome)
        }
        engine.wake()
        return (try found.map { try coding.decoded($0) }, result)
    }
}

// MARK: - Bulk writes

extension SyncCollection {
    /// Runs several local writes in one transaction and queues the successful ones for upload.
    ///
    /// Each write succeeds or fails as a whole.
    ///
    /// - Parameter ordered: whether the first failed write ends the call; otherwise the writes
    ///   after it run, too.
    /// - Returns: the counts of the successful writes, and the failed writes with their errors.
    /// - Throws: `StoreError` when the store fails, `SyncError` of code `.documentTooLarge`. An
    ///   error changes nothing.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) async throws -> BulkWriteResult {
        let result = try await write { sync in
            try sync.transaction.bulkWrite(sync.namespace, writes, ordered: ordered) { image in
                try NoteLocalWrite(sync: sync).note(before: image.before, after: image.after)
            } within: { write in
                let mark = sync.storyMark
                do {
                    try write()
                } catch {
                    sync.noteRollback(to: mark)
                    throw error
                }
            }
        }
        engine.wake()
        return result
    }
}
