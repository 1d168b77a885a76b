/// Says what writes that were sent together did.
public struct BulkWriteResult: Sendable {
    /// How many documents were added by inserts.
    public internal(set) var insertedCount = 0
    /// How many documents passed the filters of updates and replacements.
    public internal(set) var matchedCount = 0
    /// How many of them are different now.
    public internal(set) var modifiedCount = 0
    /// How many documents were removed.
    public internal(set) var deletedCount = 0
    /// The `_id`s of documents that were inserted, by the position of the write.
    public internal(set) var insertedIDs: [Int: BSONValue] = [:]
    /// The `_id`s of documents that were upserted, by the position of the write.
    public internal(set) var upsertedIDs: [Int: BSONValue] = [:]
    /// What was refused, in order; every other write up to there was done.
    public internal(set) var errors: [WriteError] = []

    /// A write that was refused.
    public struct WriteError: Sendable {
        /// The position of the write.
        public let index: Int
        /// Why it was refused, with MongoDB's code and text.
        public let error: StoreError
    }
}
