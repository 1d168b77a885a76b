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
