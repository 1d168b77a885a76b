public import BSONStore

extension SyncCollection {
    /// Returns what happened to a document, as the device's journal keeps it, the newest entry last.
    ///
    /// The journal is bounded by ``SyncLimits/historyKept`` and ``SyncLimits/historyBytesKept``, so
    /// the first steps of an old document may be missing.
    ///
    /// ```swift
    /// for entry in try await todos.history(of: 1) { print(entry) }
    /// ```
    ///
    /// - Parameters:
    ///   - limit: the maximum number of entries.
    ///   - before: the number of an entry, before which the page ends; `nil` for the newest page.
    public func history(
        of id: BSONValue, limit: Int = 100, before: Int64? = nil
    ) async throws -> [HistoryEntry] {
        try read(orIfNeverSynced: []) { sync in
            try HistoryTable(connection: sync.transaction.connection).entries(
                of: id, in: sync.collection.rowID, before: before ?? .max, limit: limit)
        }
    }
}
