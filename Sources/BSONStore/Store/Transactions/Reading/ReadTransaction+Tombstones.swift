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
