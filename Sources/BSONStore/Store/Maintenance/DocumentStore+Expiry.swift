extension DocumentStore {
    /// Deletes the documents whose time is over, by the indexes with `expireAfterSeconds`; whoever
    /// owns the store calls it from time to time.
    ///
    /// A document's time is over so many seconds after the date in the index's field, after the
    /// earliest where it is an array; without a date it stays. The deletions are ordinary ones and
    /// are in the change feed; each index's are one transaction. Collections that a sync engine keeps
    /// in step are passed over: what is to go there is deleted through the engine, or at the remote.
    ///
    /// - Returns: how many documents were deleted.
    /// - Throws: what a write throws, once all collections had their turn; what was deleted stays so.
    ///
    /// Source: MongoDB manual, "TTL Indexes".
    @discardableResult
    public func expire(now: BSONDatetime) throws -> Int {
        let indexes = try read { transaction in
            try transaction.collections().flatMap { namespace in
                try transaction.indexes(namespace)
                    .filter { $0.expireAfterSeconds != nil }.map { (namespace, $0.name) }
            }
        }
        var count = 0
        var failure: (any Error)?
        for (namespace, name) in indexes {
            do {
                count += try expire(namespace, name, now)
            } catch {
                // One collection that cannot be read keeps no other from its turn.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return count
    }

    /// Deletes what is due by one index.
    private func expire(_ namespace: Namespace, _ name: String, _ now: BSONDatetime) throws -> Int {
        let isAny = try read { transaction in
            guard try !transaction.isSynced(namespace),
                let filter = try transaction.dueFilter(namespace, name, now)
            else { return false }
            return !(try transaction.find(namespace, filter: filter, options: .first)).isEmpty
        }
        guard isAny else { return 0 }
        return try write { transaction in
            // As the index is now: it may have been dropped or changed since.
            guard try !transaction.isSynced(namespace),
                let filter = try transaction.dueFilter(namespace, name, now)
            else { return 0 }
            return try transaction.deleteMany(namespace, filter: filter)
        }
    }
}

extension ReadTransaction {
    /// Returns the documents whose time is over by an index; `nil` where it is not there, or none
    /// ever is.
    fileprivate func dueFilter(
        _ namespace: Namespace, _ name: String, _ now: BSONDatetime
    ) throws(StoreError) -> Filter? {
        guard let index = try indexes(namespace).first(where: { $0.name == name }) else {
            return nil
        }
        return try Self.dueFilter(index, now)
    }

    /// Returns the documents of an index whose time is over; `nil` where none ever is.
    private static func dueFilter(
        _ index: IndexDefinition, _ now: BSONDatetime
    ) throws(StoreError) -> Filter? {
        // No time is over by an index of words or places, which may say a time all the same.
        guard let seconds = index.expireAfterSeconds, let key = index.keys.first,
            key.kind == .ascending || key.kind == .descending
        else { return nil }
        let milliseconds = (seconds * 1_000).rounded()
        guard let span = Int64(exactly: milliseconds) else { return nil }
        let (limit, isOver) = now.milliseconds.subtractingReportingOverflow(span)
        guard !isOver else { return nil }
        let isDue: BSONDocument = [
            key.path: ["$lte": .datetime(BSONDatetime(milliseconds: limit))]
        ]
        guard let partial = index.partialFilter else { return try Filter(isDue) }
        // The texts of the index's filter compare as they do in the index.
        let collation = try index.collation.map { (document) throws(StoreError) in
            try Collation(document)
        }
        let options = FilterOptions(collation: collation ?? nil, inheritsCollation: false)
        return try Filter(["$and": [.document(isDue), .document(partial)]], options: options)
    }
}
