public import BSONStore

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
        return try await findAndChange(Filter(filter), options) { _ in update }
    }

    /// Replaces the first document that matches a filter and returns it, before or after as the
    /// options say.
    ///
    /// Its `_id` stays, and so do fields that a `Codable` type does not know.
    @discardableResult
    public func findOneAndReplace(
        _ filter: BSONDocument, _ document: Document, options: FindOneAndOptions = .init()
    ) async throws -> Document? {
        let coding = coding
        return try await findAndChange(Filter(filter), options) { original in
            let replacement = try coding.encode(document, original).withoutVersion
            let update = try Update(replacement)
            guard update.isReplacement else {
                throw StoreError(
                    .failedToParse, "the replacement document must not contain operators")
            }
            return update
        }
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
            try sync.noteLocalWrite(before: found, after: nil)
            return found
        }
        engine.wake()
        return try deleted.map(decode)
    }

    /// Returns the distinct values of a field in the documents that match a filter.
    ///
    /// The elements of an array count one by one.
    public func distinct(
        _ field: String, _ filter: BSONDocument = [:]
    ) async throws -> [BSONValue] {
        let filter = try Filter(filter)
        return try engine.store.read { try $0.distinct(namespace, field: field, filter: filter) }
    }

    private func findAndChange(
        _ filter: Filter, _ options: FindOneAndOptions,
        _ update: @escaping @Sendable (BSONDocument?) throws -> Update
    ) async throws -> Document? {
        let first = try FindOptions(sort: options.sort, limit: 1)
        let found = try await write { sync -> BSONDocument? in
            let before = try sync.transaction.find(
                sync.namespace, filter: filter, options: first
            ).first
            let outcome = try sync.transaction.updateOne(
                sync.namespace, filter: filter, update: try update(before),
                upsert: options.upsert, sort: options.sort)
            for image in outcome.images {
                try sync.noteLocalWrite(before: image.before, after: image.after)
            }
            guard options.returnsAfter else { return before }
            // Without an image the update changed nothing.
            let id = outcome.images.first?.after?.documentID ?? before?.documentID
            return try id.flatMap(sync.local)
        }
        engine.wake()
        return try found.map { document in
            try decode(
                options.projection?.apply(to: document, matching: filter) ?? document)
        }
    }
}
