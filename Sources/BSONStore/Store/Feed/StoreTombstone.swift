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

extension ReadTransaction {
    private static let tombstone = FixedStatement(
        "SELECT version, time, position FROM store_tombstones WHERE collection = ?1 AND key = ?2")

    /// What is known of the deletion of documents, for each id in turn; `nil` for a document that is
    /// there, that never was, or whose deletion is not known any more.
    ///
    /// A collection that is not there has none, nor has one that a guard binds: whether a document was
    /// visible cannot be told once it is gone.
    ///
    /// - Throws: `corrupt` when a version's bytes are not valid BSON, and SQLite's errors.
    public func tombstones(
        _ namespace: Namespace, ids: [BSONValue]
    ) throws(StoreError) -> [StoreTombstone?] {
        guard !isRestricted(namespace) else { return ids.map { _ in nil } }
        return try unrestrictedTombstones(namespace, ids: ids)
    }

    /// Returns the same for whom the caller found to see every document, whether a guard binds or
    /// not.
    package func unrestrictedTombstones(
        _ namespace: Namespace, ids: [BSONValue]
    ) throws(StoreError) -> [StoreTombstone?] {
        let none = [StoreTombstone?](repeating: nil, count: ids.count)
        guard try connection.hasTombstones() else { return none }
        let found = try onTable(namespace) { (table) throws(StoreError) -> [StoreTombstone?] in
            var found: [StoreTombstone?] = []
            found.reserveCapacity(ids.count)
            for id in ids { found.append(try tombstone(of: id, in: table)) }
            return found
        }
        return found ?? none
    }

    private func tombstone(
        of id: BSONValue, in table: CollectionTable
    ) throws(StoreError) -> StoreTombstone? {
        let statement = try connection.prepare(Self.tombstone)
        statement.bind(1, table.id)
        statement.bind(2, keyOf: id)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let kept: BSONDocument
        do throws(BSONError) {
            kept = try statement.document(0, limits: BSONLimits())
        } catch {
            throw StoreError(
                .corrupt, "The tombstone of a document cannot be read",
                namespace: table.namespace, documentID: id, underlying: error)
        }
        return StoreTombstone(
            documentID: id, version: kept[""],
            deletedAt: BSONDatetime(milliseconds: statement.int64(1)),
            position: statement.int64(2))
    }

    /// Returns the UUID of a collection, which no other has: it stays when the collection gets
    /// another name and when the file is copied, and is another one in a
    /// ``DocumentStore/backup(to:)``.
    ///
    /// - Returns: `nil` when the collection is not there, is a view or is closed to whom a guard binds.
    /// - Throws: SQLite's errors.
    public func collectionUUID(_ namespace: Namespace) throws(StoreError) -> BSONBinary? {
        guard isOpen(namespace), case .binary(let uuid)? = try uuid(namespace) else { return nil }
        return uuid
    }
}

extension SQLiteConnection {
    /// Whether the file has the table; one of an earlier version that is opened for reading has not.
    fileprivate func hasTombstones() throws(StoreError) -> Bool {
        try int64("SELECT 1 FROM sqlite_schema WHERE name = 'store_tombstones'") != nil
    }
}

extension WriteTransaction {
    private static let insertion = FixedStatement(
        "INSERT OR REPLACE INTO store_tombstones VALUES (?1, ?2, ?3, ?4, ?5)")
    private static let removal = FixedStatement(
        "DELETE FROM store_tombstones WHERE collection = ?1 AND key = ?2")

    /// Writes the tombstone of a document that was deleted, in a store that keeps changes.
    func recordTombstone(_ document: BSONDocument, of table: CollectionTable) throws(StoreError) {
        guard feed.changesMax > 0, let id = StorableDocument.leadingID(of: document) else { return }
        let version = document[StoreTombstone.versionField].map { BSONDocument([("", $0)]) } ?? [:]
        let isKept = version.byteCount <= StoreTombstone.versionBytesMax
        let time = now.milliseconds
        let statement = try connection.prepare(Self.insertion)
        statement.bind(1, table.id)
        statement.bind(2, keyOf: id)
        statement.bind(3, isKept ? version : [:])
        statement.bind(4, time)
        statement.bind(5, feed.head)
        try statement.run()
        noteTombstone(at: time)
    }

    /// Removes the tombstone of a document that is there again.
    func removeTombstone(_ stored: StorableDocument, in table: CollectionTable) throws(StoreError) {
        guard feed.oldestTombstone != nil else { return }
        let statement = try connection.prepare(Self.removal)
        try stored.key.withLentBytes { (key) throws(StoreError) in
            statement.bind(1, table.id)
            statement.bind(2, lending: key)
            try statement.run()
        }
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
