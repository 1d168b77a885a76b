extension DocumentCollection {
    /// Performs several writes in one transaction; each succeeds as a whole or changes nothing.
    ///
    /// - Parameter ordered: whether to stop at the first refused write; otherwise the rest is done
    ///   all the same.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: the store's errors; nothing is changed then.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) throws -> BulkWriteResult {
        try store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }

    /// Performs several writes in one transaction; each succeeds as a whole or changes nothing.
    ///
    /// The commit runs on the store's writer thread.
    ///
    /// - Parameter ordered: whether to stop at the first refused write; otherwise the rest is done
    ///   all the same.
    /// - Returns: the counts, and each refused write with its error.
    /// - Throws: the store's errors; nothing is changed then.
    @discardableResult
    public func bulkWrite(
        _ writes: [BulkWrite], ordered: Bool = true
    ) async throws -> BulkWriteResult {
        try await store.write { try $0.bulkWrite(namespace, writes, ordered: ordered) }
    }
}
