extension ReadTransaction {
    private static let tombstone = FixedStatement(
        "SELECT version, time, position FROM store_tombstones WHERE collection = ?1 AND key = ?2")

    /// What is known of the deletion of documents, for each id in turn; `nil` for a document that is
    /// there, that never was, or whose deletion is not known any more.
    ///
    /// A collection that is not there has none, nor has one that a guard binds: whether a document was
    /// visible cannot be told once it is gone.
    ///
    /// - Throws: `corrupt` when a version's bytes are no BSON, and what SQLite says.
    public func tombstones(
        _ namespace: Namespace, ids: [BSONValue]
    ) throws(StoreError) -> [StoreTombstone?] {
        guard !isRestricted(namespace) else { return ids.map { _ in nil } }
        return try unrestrictedTombstones(namespace, ids: ids)
    }

    /// The same for whom the caller found to see every document, whether a guard binds or not.
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

    /// The UUID of a collection, which no other has: it stays when the collection gets another name
    /// and when the file is copied, and is another one in a ``DocumentStore/backup(to:)``.
    ///
    /// - Returns: `nil` when the collection is not there, is a view or is closed to whom a guard binds.
    /// - Throws: what SQLite says.
    public func collectionUUID(_ namespace: Namespace) throws(StoreError) -> BSONBinary? {
        guard isOpen(namespace), case .binary(let uuid)? = try uuid(namespace) else { return nil }
        return uuid
    }
}
