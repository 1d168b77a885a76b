/// Calls that change the first document that matches a filter and return it.
extension DocumentCollection {
    /// Updates the first document that matches a filter and returns it, as it was before or after.
    ///
    /// ```swift
    /// let ticket = try counters.findOneAndUpdate(
    ///     ["_id": "tickets"], ["$inc": ["last": 1]],
    ///     options: FindOneAndOptions(upsert: true, returnsAfter: true))
    /// ```
    ///
    /// - Parameter options: which matching document is the first, whether it is returned as it was
    ///   before or after, its returned fields, and `upsert` and `arrayFilters` as in `updateOne`.
    /// - Returns: the document; `nil` when none matches, and before an upsert.
    /// - Throws: as `updateOne` does.
    @discardableResult
    public func findOneAndUpdate(
        _ filter: BSONDocument, _ update: BSONDocument, options: FindOneAndOptions = .init()
    ) throws -> Document? {
        let filter = try Filter(filter)
        let update = try Update(operators: update, arrayFilters: options.arrayFilters)
        return try store.write {
            try $0.findAndModify(namespace, filter, update, options)
        }.map(coding.decoded)
    }

    /// Replaces the first document that matches a filter and returns it, as it was before or after.
    ///
    /// ```swift
    /// let before = try people.findOneAndReplace(["_id": 1], ["name": "Ada Lovelace"])
    /// ```
    ///
    /// Of a `Codable` type only the fields whose values differ are written.
    ///
    /// - Parameters:
    ///   - original: the value that the edit began with, as in `replaceOne`.
    ///   - options: as in `findOneAndUpdate`, without `arrayFilters`.
    /// - Returns: the document; `nil` when none matches, and before an upsert.
    /// - Throws: as `replaceOne` does, and for `arrayFilters`, since a replacement has no paths.
    @discardableResult
    public func findOneAndReplace(
        _ filter: BSONDocument, _ document: Document, from original: Document? = nil,
        options: FindOneAndOptions = .init()
    ) throws -> Document? {
        try options.checkReplaces()
        let filter = try Filter(filter)
        return try store.write {
            try replaceAndFind($0, filter, document, from: original, options)
        }.map(coding.decoded)
    }

    /// Removes the first document that matches a filter and returns it, or `nil`.
    ///
    /// ```swift
    /// let oldest = try jobs.findOneAndDelete(
    ///     [:], options: FindOneAndOptions(sort: try SortOrder(["at": 1])))
    /// ```
    ///
    /// - Parameter options: which matching document is the first, and its returned fields; `upsert`
    ///   and `returnsAfter` have no effect.
    /// - Throws: as `deleteOne` does, and for `arrayFilters`.
    @discardableResult
    public func findOneAndDelete(
        _ filter: BSONDocument, options: FindOneAndOptions = .init()
    ) throws -> Document? {
        try options.checkDeletes()
        let filter = try Filter(filter)
        return try store.write {
            try $0.findAndDelete(namespace, filter, options)
        }.map(coding.decoded)
    }

    /// Replaces the first matching document within a transaction and returns it.
    func replaceAndFind(
        _ transaction: WriteTransaction, _ filter: Filter, _ document: Document,
        from original: Document?, _ options: FindOneAndOptions
    ) throws -> BSONDocument? {
        var stored: BSONDocument?
        if !coding.isRaw || original != nil {
            let first = try FindOptions(sort: options.sort, limit: 1)
            stored = try transaction.find(namespace, filter: filter, options: first).first
        }
        let update = try coding.replacing(stored, by: document, from: original)
        return try transaction.findAndModify(namespace, filter, update, options)
    }
}
