/// The combined result of writes that were sent together.
public struct BulkWriteResult: Sendable {
    /// The number of documents that inserts added.
    public package(set) var insertedCount = 0
    /// The number of documents that matched the filters of updates and replacements.
    public package(set) var matchedCount = 0
    /// The number of matched documents whose content changed.
    public package(set) var modifiedCount = 0
    /// The number of documents that were removed.
    public package(set) var deletedCount = 0
    /// The `_id`s of inserted documents, by the position of the write.
    public package(set) var insertedIDs: [Int: BSONValue] = [:]
    /// The `_id`s of upserted documents, by the position of the write.
    public package(set) var upsertedIDs: [Int: BSONValue] = [:]
    /// The writes that were refused, in order; all others up to the last of these were applied.
    public package(set) var errors: [WriteError] = []

    /// Creates the result of updates, or of no writes.
    package init(matchedCount: Int = 0, modifiedCount: Int = 0, errors: [WriteError] = []) {
        self.matchedCount = matchedCount
        self.modifiedCount = modifiedCount
        self.errors = errors
    }

    /// A write that was refused.
    public struct WriteError: Sendable {
        /// The position of the write in the batch.
        public let index: Int
        /// The reason, with MongoDB's code and text.
        public let error: StoreError

        /// Creates an error of the write at a position.
        package init(index: Int, error: StoreError) {
            self.index = index
            self.error = error
        }
    }
}

extension BulkWriteResult: CustomStringConvertible {
    /// The counts that are not 0, then the refused writes: `2 inserted, 1 deleted`.
    public var description: String {
        let counts = [
            (insertedCount, "inserted"), (matchedCount, "matched"), (modifiedCount, "modified"),
            (deletedCount, "deleted"), (upsertedIDs.count, "upserted"),
        ]
        let shown = counts.filter { $0.0 != 0 }.map { "\($0.0) \($0.1)" }
        let text = shown.isEmpty ? "no changes" : shown.joined(separator: ", ")
        return text + errors.map { "; \($0)" }.joined()
    }
}

extension BulkWriteResult.WriteError: CustomStringConvertible {
    /// The position of the write and the reason.
    public var description: String { "write \(index): \(error)" }
}
