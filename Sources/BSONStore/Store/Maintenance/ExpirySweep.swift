/// The deletion of the documents that have expired by indexes with `expireAfterSeconds`.
struct ExpirySweep {
    let store: DocumentStore
    /// The time by which documents have expired.
    let now: BSONDatetime
    let turn: WriteTurn

    /// Deletes the documents of all collections that are not synced, and returns how many.
    ///
    /// - Throws: the first error of a write, after all collections were tried.
    func run() throws -> Int {
        let indexes = try store.read { transaction in
            try transaction.collections().flatMap { namespace in
                try transaction.indexes(namespace)
                    .filter { $0.expireAfterSeconds != nil }.map { (namespace, $0.name) }
            }
        }
        var count = 0
        var failure: (any Error)?
        for (namespace, name) in indexes {
            do {
                count += try expire(namespace, name)
            } catch {
                // An unreadable collection does not stop the others.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return count
    }

    /// Deletes the documents that have expired by one index.
    private func expire(_ namespace: Namespace, _ name: String) throws -> Int {
        let isAny = try store.read { transaction in
            guard try !transaction.isSynced(namespace),
                let filter = try dueFilter(namespace, name, transaction)
            else { return false }
            return !(try transaction.find(namespace, filter: filter, options: .first)).isEmpty
        }
        guard isAny else { return 0 }
        return try turn.write(store) { transaction in
            // Read again: the index may have been dropped or changed since.
            guard try !transaction.isSynced(namespace),
                let filter = try dueFilter(namespace, name, transaction)
            else { return 0 }
            return try transaction.deleteMany(namespace, filter: filter)
        }
    }

    /// Returns the filter for expired documents by an index's name; `nil` when it is missing or
    /// never expires any.
    private func dueFilter(
        _ namespace: Namespace, _ name: String, _ transaction: ReadTransaction
    ) throws(StoreError) -> Filter? {
        guard
            let index = try transaction.indexes(namespace).first(where: {
                $0.name.hasSameBytes(as: name)
            })
        else {
            return nil
        }
        return try Self.dueFilter(index, now)
    }

    /// Returns the filter for expired documents by an index; `nil` when it never expires any.
    private static func dueFilter(
        _ index: IndexDefinition, _ now: BSONDatetime
    ) throws(StoreError) -> Filter? {
        // Text and geo indexes expire nothing, even if they have the option.
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
        // The index's own filter compares strings with the index's collation.
        let collation = try index.collation.map { (document) throws(StoreError) in
            try Collation(document)
        }
        let options = FilterOptions(collation: collation ?? .simple)
        return try Filter(["$and": [.document(isDue), .document(partial)]], options: options)
    }
}
