/// The combined result of writes that were sent together.
public struct BulkWriteResult: Sendable {
    /// The number of documents that inserts added.
    public internal(set) var insertedCount = 0
    /// The number of documents that matched the filters of updates and replacements.
    public internal(set) var matchedCount = 0
    /// The number of matched documents whose content changed.
    public internal(set) var modifiedCount = 0
    /// The number of documents that were removed.
    public internal(set) var deletedCount = 0
    /// The `_id`s of inserted documents, by the position of the write.
    public internal(set) var insertedIDs: [Int: BSONValue] = [:]
    /// The `_id`s of upserted documents, by the position of the write.
    public internal(set) var upsertedIDs: [Int: BSONValue] = [:]
    /// The writes that were refused, in order; all others up to the last of these were applied.
    public internal(set) var errors: [WriteError] = []

    /// A write that was refused.
    public struct WriteError: Sendable {
        /// The position of the write in the batch.
        public let index: Int
        /// The reason, with MongoDB's code and text.
        public let error: StoreError
    }
}
