/// The tombstones of deleted documents.
struct TombstoneTable {
    private static let tombstone = FixedStatement(
        "SELECT version, time, position FROM store_tombstones WHERE collection = ?1 AND key = ?2")
    private static let insertion = FixedStatement(
        "INSERT OR REPLACE INTO store_tombstones VALUES (?1, ?2, ?3, ?4, ?5)")
    private static let removal = FixedStatement(
        "DELETE FROM store_tombstones WHERE collection = ?1 AND key = ?2")

    /// The transaction's connection.
    let connection: SQLiteConnection

    private var tables: TableLookup { TableLookup(connection: connection) }

    /// Returns the tombstones of documents in the order of their ids, whatever the access
    /// policy is; `nil` for each one without a tombstone.
    ///
    /// - Throws: `corrupt` when a version's bytes are not valid BSON, and SQLite's errors.
    func tombstones(
        _ namespace: Namespace, ids: [BSONValue]
    ) throws(StoreError) -> [StoreTombstone?] {
        let found = try tables.onTable(namespace) {
            (table) throws(StoreError) -> [StoreTombstone?] in
            var found: [StoreTombstone?] = []
            found.reserveCapacity(ids.count)
            for id in ids { found.append(try tombstone(of: id, in: table)) }
            return found
        }
        return found ?? Array(repeating: nil, count: ids.count)
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

    /// Writes the tombstone of a deleted document if the store keeps changes.
    func record(
        _ document: BSONDocument, of table: CollectionTable, _ recorder: ChangeRecorder
    ) throws(StoreError) {
        guard recorder.isRecording, let id = StorableDocument.leadingID(of: document) else {
            return
        }
        let version = document[StoreTombstone.versionField].map { BSONDocument([("", $0)]) } ?? [:]
        let isKept = version.byteCount <= StoreTombstone.versionBytesMax
        let time = recorder.now.milliseconds
        let statement = try connection.prepare(Self.insertion)
        statement.bind(1, table.id)
        statement.bind(2, keyOf: id)
        statement.bind(3, isKept ? version : [:])
        statement.bind(4, time)
        statement.bind(5, recorder.feed.head)
        try statement.run()
        recorder.noteTombstone(at: time)
    }

    /// Removes the tombstone of a document that exists again.
    func remove(_ stored: StorableDocument, in table: CollectionTable) throws(StoreError) {
        let statement = try connection.prepare(Self.removal)
        try stored.key.withLentBytes { (key) throws(StoreError) in
            statement.bind(1, table.id)
            statement.bind(2, lending: key)
            try statement.run()
        }
    }
}
