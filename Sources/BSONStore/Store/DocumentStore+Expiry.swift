extension DocumentStore {
    /// Deletes the documents whose time is over, by the indexes with `expireAfterSeconds`; whoever
    /// owns the store calls it from time to time.
    ///
    /// A document's time is over so many seconds after the date in the index's field, after the
    /// earliest where it is an array; without a date it stays. The deletions are ordinary ones and
    /// are in the change feed; each index's are one transaction.
    ///
    /// - Returns: how many documents were deleted.
    /// - Throws: what a write throws; what was deleted before stays deleted.
    ///
    /// Source: MongoDB manual, "TTL Indexes".
    @discardableResult
    public func expire(now: BSONDatetime) throws -> Int {
        let due = try read { transaction in
            try transaction.collections().flatMap { namespace in
                try transaction.indexes(namespace).compactMap { index in
                    try Self.dueFilter(index, now).map { (namespace, $0) }
                }
            }
        }
        var count = 0
        for (namespace, filter) in due {
            let isAny = try read { transaction in
                !(try transaction.find(namespace, filter: filter, options: .first)).isEmpty
            }
            if isAny {
                count += try write { try $0.deleteMany(namespace, filter: filter) }
            }
        }
        return count
    }

    /// The documents of an index whose time is over; `nil` where none ever is.
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
