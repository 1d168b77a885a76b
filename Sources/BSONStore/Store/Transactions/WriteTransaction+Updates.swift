extension WriteTransaction {
    /// Changes the first document that matches a filter.
    ///
    /// - Parameters:
    ///   - filter: selects the document; `$` in the update stands for the array element it matched.
    ///   - upsert: whether to insert a document from the filter's equalities and the update when
    ///     none matches.
    ///   - sort: the order that decides which document is the first; `nil` for the order of
    ///     insertion.
    /// - Returns: the counts, and the document before and after when it was changed.
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func updateOne(
        _ namespace: Namespace, filter: Filter, update: Update, upsert: Bool = false,
        sort: SortOrder? = nil
    ) throws(StoreError) -> UpdateResult {
        try updates.updateOne(
            namespace, filter: filter, update: update, upsert: upsert, sort: sort)
    }

    /// Changes every document that matches a filter; the documents are chosen before the first
    /// change.
    ///
    /// - Parameters:
    ///   - keepImages: whether the outcome holds the documents before and after.
    ///   - range: which of the matching documents; `nil` for all.
    /// - Throws: errors with MongoDB's codes and messages; the changes made until then are undone.
    @discardableResult
    public func updateMany(
        _ namespace: Namespace, filter: Filter, update: Update, upsert: Bool = false,
        keepImages: Bool = true, within range: FindOptions? = nil
    ) throws(StoreError) -> UpdateResult {
        try updates.updateMany(
            namespace, filter: filter, update: update, upsert: upsert, keepImages: keepImages,
            within: range)
    }

    /// Changes every document that matches a filter; those changed before a refused one stay
    /// changed.
    ///
    /// - Returns: the counts, or the refusal with the counts as its `writes`.
    /// - Throws: SQLite's errors; abandon the transaction then.
    package func updateEach(
        _ namespace: Namespace, _ filter: Filter, _ update: Update, upsert: Bool,
        within range: FindOptions? = nil
    ) throws(StoreError) -> Result<UpdateResult, StoreError> {
        try updates.updateEach(namespace, filter, update, upsert: upsert, within: range)
    }

    /// Replaces the first document that matches a filter; its `_id` stays.
    ///
    /// - Throws: errors with MongoDB's codes and messages; nothing is changed then.
    @discardableResult
    public func replaceOne(
        _ namespace: Namespace, filter: Filter, document: BSONDocument, upsert: Bool = false,
        sort: SortOrder? = nil
    ) throws(StoreError) -> UpdateResult {
        try updates.replaceOne(
            namespace, filter: filter, document: document, upsert: upsert, sort: sort)
    }

    /// Removes the first document that matches a filter and returns it, or `nil`.
    @discardableResult
    public func deleteOne(
        _ namespace: Namespace, filter: Filter, sort: SortOrder? = nil
    ) throws(StoreError) -> BSONDocument? {
        try updates.deleteOne(namespace, filter: filter, sort: sort)
    }

    /// Removes every document that matches a filter.
    ///
    /// - Parameters:
    ///   - range: which of the matching documents; `nil` for all.
    ///   - body: receives each document before it is removed; it must not write.
    /// - Returns: how many were removed.
    @discardableResult
    public func deleteMany(
        _ namespace: Namespace, filter: Filter, within range: FindOptions? = nil,
        _ body: (BSONDocument) -> Void = { _ in }
    ) throws(StoreError) -> Int {
        try updates.deleteMany(namespace, filter: filter, within: range, body)
    }

    /// Changes the first matching document and returns it before or after, as the options say.
    func findAndModify(
        _ namespace: Namespace, _ filter: Filter, _ update: Update,
        _ options: FindOneAndOptions
    ) throws(StoreError) -> BSONDocument? {
        try updates.findAndModify(namespace, filter, update, options)
    }

    /// Removes the first matching document and returns the fields of it that the options name.
    func findAndDelete(
        _ namespace: Namespace, _ filter: Filter, _ options: FindOneAndOptions
    ) throws(StoreError) -> BSONDocument? {
        let deleted = try deleteOne(namespace, filter: filter, sort: options.sort)
        guard let deleted else { return nil }
        return try projected(deleted, by: options.projection, filter, namespace)
    }

    /// Performs several writes; a refused write changes none of its documents, and the other writes
    /// stay.
    ///
    /// - Parameter ordered: whether to stop at the first refused write; otherwise the rest is done
    ///   all the same.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: SQLite's errors; abandon the transaction then.
    @discardableResult
    public func bulkWrite(
        _ namespace: Namespace, _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try bulkWrite(namespace, writes, ordered: ordered, noting: nil)
    }

    /// Performs several writes as ``bulkWrite(_:_:ordered:)`` does, and reports each changed
    /// document.
    ///
    /// - Parameter note: receives each changed document within its write; an error that it throws
    ///   undoes that write and is rethrown.
    /// - Parameter within: runs each write with its notes; it rethrows the error of an undone one.
    package func bulkWrite(
        _ namespace: Namespace, _ writes: [BulkWrite], ordered: Bool,
        noting note: ((DocumentImages) throws -> Void)?,
        within: (() throws -> Void) throws -> Void = { try $0() }
    ) throws -> BulkWriteResult {
        try BulkWriter(updates: updates).bulkWrite(
            namespace, writes, ordered: ordered, noting: note, within: within)
    }

    /// Adds documents; each is added as a whole or not at all.
    ///
    /// - Parameter ordered: whether to stop at the first refused document.
    /// - Throws: SQLite's errors; abandon the transaction then.
    package func insertEach(
        _ namespace: Namespace, _ documents: [BSONDocument], ordered: Bool
    ) throws(StoreError) -> InsertManyResult {
        try BulkWriter(updates: updates).insertEach(
            namespace, documents, ordered: ordered)
    }
}
