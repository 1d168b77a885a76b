extension ReadTransaction {
    private var changeReader: ChangeReader { ChangeReader(connection: connection) }
    private var definitionReader: DefinitionReader { DefinitionReader(connection: connection) }

    /// The position of the newest change in the feed, as this transaction sees it.
    public var changePosition: Int64 {
        get throws(StoreError) { try changeReader.position }
    }

    /// The position behind which the feed still keeps every change, as this transaction sees it.
    public var oldestChangePosition: Int64 {
        get throws(StoreError) { try changeReader.oldestPosition }
    }

    /// Reads changes as ``DocumentStore/changes(after:in:limit:)`` does, in this transaction.
    ///
    /// - Throws: `changeStreamHistoryLost` (286), `changeStreamNotEnabled`.
    public func changes(
        after position: Int64, in namespace: Namespace? = nil, limit: Int = 1_000
    ) throws(StoreError) -> StoreChangeBatch {
        try changes(after: position, in: namespace, limit: limit) { _, _ in true }
    }

    /// Reads changes as ``changes(after:in:limit:)`` does, with the earlier documents only where
    /// needed.
    ///
    /// - Parameter needsBefore: decides from the document after a change (`nil` without one) and
    ///   from the number of its leading bytes, without lengths, that the earlier document shares.
    package func changes(
        after position: Int64, in namespace: Namespace?, limit: Int,
        needsBefore: (BSONDocument?, Int) -> Bool
    ) throws(StoreError) -> StoreChangeBatch {
        try changeReader.changes(
            after: position, in: namespace, limit: limit, needsBefore: needsBefore)
    }

    /// Returns the comment that the writer attached to a change; `nil` without one or when the feed
    /// no longer keeps the change.
    package func changeComment(at position: Int64) throws(StoreError) -> BSONValue? {
        try changeReader.comment(at: position)
    }

    /// Returns the changes after a position that concern whole collections, in order; O(n) in all
    /// changes after it.
    package func collectionChanges(after position: Int64) throws(StoreError) -> [StoreChange] {
        try changeReader.collectionChanges(after: position)
    }

    /// The number of the newest definition change; 0 without any.
    package var definitionID: Int64 {
        get throws(StoreError) { try definitionReader.definitionID }
    }

    /// Reads definition changes in commit order.
    ///
    /// - Parameters:
    ///   - id: the number after which to read.
    ///   - position: the last feed position whose definition changes to read.
    ///   - limit: the largest number of changes to read.
    /// - Throws: `changeStreamHistoryLost` (286) when some of them are no longer kept.
    package func definitionChanges(
        after id: Int64, through position: Int64, limit: Int
    ) throws(StoreError) -> [DefinitionChange] {
        try definitionReader.definitionChanges(after: id, through: position, limit: limit)
    }

    /// Returns the number of the last definition change before a position of the feed.
    package func definitionID(before position: Int64) throws(StoreError) -> Int64 {
        try definitionReader.definitionID(before: position)
    }

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
        guard !access.isRestricted(namespace) else { return ids.map { _ in nil } }
        return try unrestrictedTombstones(namespace, ids: ids)
    }

    /// Returns tombstones regardless of an access policy, for callers that checked that the user
    /// sees every document.
    package func unrestrictedTombstones(
        _ namespace: Namespace, ids: [BSONValue]
    ) throws(StoreError) -> [StoreTombstone?] {
        let table = TombstoneTable(connection: connection)
        return try table.tombstones(namespace, ids: ids)
    }
}
