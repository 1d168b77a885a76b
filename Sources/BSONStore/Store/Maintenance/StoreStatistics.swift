/// The sizes of a store.
public struct StoreStatistics: Sendable, Hashable {
    /// The sizes of a collection.
    public struct Collection: Sendable, Hashable {
        /// The collection's name.
        public let namespace: Namespace
        /// How many documents it has.
        public let documentCount: Int
        /// The size of its documents in bytes.
        public let documentBytes: Int
    }

    /// The collections in order of creation.
    public let collections: [Collection]
    /// How many changes the feed keeps.
    public let changeCount: Int
    /// The size of the database in bytes, without its log.
    public let fileBytes: Int
    /// The number of bytes free for later writes; ``DocumentStore/compact()`` returns them to the
    /// disk.
    public let freeBytes: Int
    /// The size of the write-ahead log in bytes, 0 in memory.
    public let logBytes: Int
}
