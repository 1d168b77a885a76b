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

extension ReadTransaction {
    private static let tombstone = FixedStatement(
        "SELECT version, time, position FROM store_tombstones WHERE collection = ?1 AND key = ?2")

    /// Returns the tombstones of documents in the order of their ids; `nil` for a document that
    /// exists, never existed, or whose tombstone has expired.
    ///
    /// A collection that is missing or subject to an access policy has no tombstones: the policy
    /// cannot decide whether a deleted document was visible.
    ///
    /// - Throws: `corrupt` when a version's bytes are not valid BSON, and SQLite's errors.
    public func tombstones(
        _ namespace: Namespace, ids: [BSONValue]
    ) throws(StoreError) -> [StoreTombstone?] {
        guard !isRestricted(namespace) else { return ids.map { _ in nil } }
        return try unrestrictedTombstones(namespace, ids: ids)
    }

    /// Returns tombstones regardless of an access policy, for callers that checked that the user
    /// sees every document.
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

    /// Returns the unique UUID of a collection; renaming it or copying the file keeps the UUID, a
    /// ``DocumentStore/backup(to:)`` gets another one.
    ///
    /// - Returns: `nil` when the collection does not exist, is a view or is hidden by the access
    ///   policy.
    /// - Throws: SQLite's errors.
    public func collectionUUID(_ namespace: Namespace) throws(StoreError) -> BSONBinary? {
        guard isOpen(namespace), case .binary(let uuid)? = try uuid(namespace) else { return nil }
        return uuid
    }
}

extension SQLiteConnection {
    /// Whether the file has the table; a file of an earlier version that is open read-only lacks
    /// it.
    fileprivate func hasTombstones() throws(StoreError) -> Bool {
        try int64("SELECT 1 FROM sqlite_schema WHERE name = 'store_tombstones'") != nil
    }
}

extension WriteTransaction {
    private static let insertion = FixedStatement(
        "INSERT OR REPLACE INTO store_tombstones VALUES (?1, ?2, ?3, ?4, ?5)")
    private static let removal = FixedStatement(
        "DELETE FROM store_tombstones WHERE collection = ?1 AND key = ?2")

    /// Writes the tombstone of a deleted document if the store keeps changes.
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

    /// Removes the tombstone of a document that exists again.
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
