/// Says that a document was deleted, and when; kept longer than the change feed reaches.
public struct StoreTombstone: Sendable, Hashable {
    /// The `_id` of the document.
    public let documentID: BSONValue
    /// What ``versionField`` of the document held when it was deleted, `nil` where it was not there or
    /// was larger than versions are.
    public let version: BSONValue?
    /// When it was deleted, by the clock of who did.
    public let deletedAt: BSONDatetime
    /// The position of the delete in the change feed, which may not reach back to it any more.
    public let position: Int64

    /// The field that sync keeps a document's version in.
    public static var versionField: String { "__stitch_sync_version" }

    /// A version of more bytes is not kept: nothing but sync's own is meant.
    static var versionBytesMax: Int { 1_024 }

    /// Makes one.
    public init(
        documentID: BSONValue, version: BSONValue?, deletedAt: BSONDatetime, position: Int64
    ) {
        self.position = position
        self.documentID = documentID
        self.version = version
        self.deletedAt = deletedAt
    }
}

extension SQLiteConnection {
    /// Whether the file has the table; one of an earlier version that is opened for reading has not.
    func hasTombstones() throws(StoreError) -> Bool {
        try int64("SELECT 1 FROM sqlite_schema WHERE name = 'store_tombstones'") != nil
    }
}

extension ChangeFeed {
    /// So many tombstones at most are dropped with one commit.
    private static var tombstonesPerCommit: Int64 { 256 }

    private static let pruning = FixedStatement(
        """
        DELETE FROM store_tombstones WHERE (collection, key) IN (
            SELECT collection, key FROM store_tombstones WHERE time < ?1 ORDER BY time LIMIT ?2)
        """)
    private static let oldest = FixedStatement("SELECT min(time) FROM store_tombstones")

    /// Reads when the oldest tombstone was written, which only a file of this version has.
    mutating func readTombstones(_ connection: SQLiteConnection) throws(StoreError) {
        let statement = try connection.prepare(Self.oldest)
        defer { statement.reset() }
        guard try statement.step(), !statement.isNull(0) else {
            oldestTombstone = nil
            return
        }
        oldestTombstone = statement.int64(0)
    }

    /// Drops some of the tombstones that were written before a time.
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
