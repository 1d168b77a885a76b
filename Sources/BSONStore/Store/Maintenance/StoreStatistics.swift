/// Tells how much a store holds.
public struct StoreStatistics: Sendable, Hashable {
    /// Tells how much a collection holds.
    public struct Collection: Sendable, Hashable {
        /// The collection.
        public let namespace: Namespace
        /// How many documents it has.
        public let documentCount: Int
        /// The size of its documents in bytes.
        public let documentBytes: Int
    }

    /// The collections in the order in which they were made.
    public let collections: [Collection]
    /// How many changes the feed keeps.
    public let changeCount: Int
    /// The size of the database in bytes, without its log.
    public let fileBytes: Int
    /// How many of these are free for later writes; ``DocumentStore/compact()`` gives them back.
    public let freeBytes: Int
    /// The size of the write-ahead log in bytes, 0 in memory.
    public let logBytes: Int
}
