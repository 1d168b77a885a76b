/// The sizes of a store.
public struct StoreStatistics: Sendable, Hashable {
    /// The sizes of a collection.
    public struct Collection: Sendable, Hashable {
        /// The collection's name.
        public let namespace: Namespace
        /// The number of its documents.
        public let documentCount: Int
        /// The size of its documents in bytes.
        public let documentBytes: Int
    }

    /// The collections in order of creation.
    public let collections: [Collection]
    /// The number of changes in the feed.
    public let changeCount: Int
    /// The size of the database in bytes, without its log.
    public let fileBytes: Int
    /// The number of bytes free for later writes; ``DocumentStore/compact()`` returns them to the
    /// disk.
    public let freeBytes: Int
    /// The size of the write-ahead log in bytes, 0 in memory.
    public let logBytes: Int
}

extension StoreStatistics {
    /// Counts the documents and bytes of a store; O(n).
    init(of store: DocumentStore) throws {
        self = try store.read { transaction in
            let connection = transaction.connection
            func number(_ sql: String) throws(StoreError) -> Int {
                Int(try connection.int64(sql) ?? 0)
            }
            let pageBytes = try number("PRAGMA page_size")
            var log = 0
            if case .file(let path) = store.location { log = StoreFile.size(path + "-wal") ?? 0 }
            return StoreStatistics(
                collections: try transaction.collections().map { namespace in
                    try Self.statistics(of: namespace, connection)
                },
                changeCount: try number("SELECT count(*) FROM store_changes"),
                fileBytes: try number("PRAGMA page_count") * pageBytes,
                freeBytes: try number("PRAGMA freelist_count") * pageBytes, logBytes: log)
        }
    }

    private static func statistics(
        of namespace: Namespace, _ connection: SQLiteConnection
    ) throws(StoreError) -> StoreStatistics.Collection {
        var (count, bytes) = (0, 0)
        if let table = try Catalog.read(namespace, connection) {
            let statement = try connection.prepareOnce(
                "SELECT count(*), sum(length(doc)) FROM \(StoreSchema.tableName(table.id))")
            if try statement.step() {
                (count, bytes) = (Int(statement.int64(0)), Int(statement.int64(1)))
            }
        }
        return StoreStatistics.Collection(
            namespace: namespace, documentCount: count, documentBytes: bytes)
    }
}
