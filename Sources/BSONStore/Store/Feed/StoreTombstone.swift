/// A record of a document's deletion, kept longer than the change feed reaches.
public struct StoreTombstone: Sendable, Hashable {
    /// The `_id` of the document.
    public let documentID: BSONValue
    /// The value of ``versionField`` when the document was deleted; `nil` when missing or too large
    /// for a version.
    public let version: BSONValue?
    /// The time of the deletion, by the clock of the process that deleted it.
    public let deletedAt: BSONDatetime
    /// The position of the delete in the change feed, which may no longer reach back to it.
    public let position: Int64

    /// The field in which sync keeps a document's version.
    public static var versionField: String { "__stitch_sync_version" }

    /// The largest kept version in bytes; only sync's own versions are of interest.
    static var versionBytesMax: Int { 1_024 }

    /// Makes a tombstone.
    public init(
        documentID: BSONValue, version: BSONValue?, deletedAt: BSONDatetime, position: Int64
    ) {
        self.position = position
        self.documentID = documentID
        self.version = version
        self.deletedAt = deletedAt
    }
}

extension ChangeFeed {
    /// The largest number of tombstones that one commit removes.
    private static var tombstonesPerCommit: Int64 { 256 }

    private static let pruning = FixedStatement(
        """
        DELETE FROM store_tombstones WHERE (collection, key) IN (
            SELECT collection, key FROM store_tombstones WHERE time < ?1 ORDER BY time LIMIT ?2)
        """)
    private static let oldest = FixedStatement("SELECT min(time) FROM store_tombstones")

    /// Reads the time of the oldest tombstone, which only files of this version have.
    mutating func readTombstones(_ connection: SQLiteConnection) throws(StoreError) {
        let statement = try connection.prepare(Self.oldest)
        defer { statement.reset() }
        guard try statement.step(), !statement.isNull(0) else {
            oldestTombstone = nil
            return
        }
        oldestTombstone = statement.int64(0)
    }

    /// Removes some of the tombstones written before a time.
    mutating func pruneTombstones(
        before time: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) {
        guard let oldestTombstone, oldestTombstone < time else { return }
        let statement = try connection.prepare(Self.pruning)
        statement.bind(1, time)
        statement.bind(2, Self.tombstonesPerCommit)
        try statement.run()
        try readTombstones(connection)
    }
}
