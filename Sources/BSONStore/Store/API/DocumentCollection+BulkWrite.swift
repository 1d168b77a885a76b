extension DocumentCollection {
    /// Does several writes in one transaction, each of them wholly or not at all.
    ///
    /// - Parameter ordered: whether the first write that is refused ends it; otherwise the rest is
    ///   done all the same.
    /// - Returns: what was done and which writes were refused and why.
    /// - Throws: the store's errors; nothing was changed then.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }

    /// Does several writes in one transaction, each of them wholly or not at all.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Parameter ordered: whether the first write that is refused ends it; otherwise the rest is
    ///   done all the same.
    /// - Returns: what was done and which writes were refused and why.
    /// - Throws: the store's errors; nothing was changed then.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) async throws -> BulkWriteResult {
        try await store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }
}
