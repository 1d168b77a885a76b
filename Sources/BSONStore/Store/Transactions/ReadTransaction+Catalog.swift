extension ReadTransaction {
    /// Returns the collections of the file in order of creation.
    ///
    /// - Throws: SQLite's errors.
    public func collections() throws(StoreError) -> [Namespace] {
        try catalog.collections()
    }

    /// Returns the options of a collection; `nil` when it does not exist or the access policy hides
    /// it.
    public func options(_ namespace: Namespace) throws(StoreError) -> CollectionOptions? {
        try catalog.options(namespace)
    }

    /// Returns the indexes of a collection, the `_id` index first; an empty array when it does not
    /// exist or the access policy hides it.
    public func indexes(_ namespace: Namespace) throws(StoreError) -> [IndexDefinition] {
        try catalog.indexes(namespace)
    }

    /// Returns the UUID of a collection as MongoDB shows it; `nil` for a missing collection or a
    /// view.
    package func uuid(_ namespace: Namespace) throws(StoreError) -> BSONValue? {
        try catalog.uuid(namespace)
    }

    /// Returns the unique UUID of a collection; renaming it or copying the file keeps the UUID, a
    /// ``DocumentStore/backup(to:)`` gets another one.
    ///
    /// - Returns: `nil` when the collection does not exist, is a view or is hidden by the access
    ///   policy.
    /// - Throws: SQLite's errors.
    public func collectionUUID(_ namespace: Namespace) throws(StoreError) -> BSONBinary? {
        try catalog.collectionUUID(namespace)
    }

    /// Whether a name is that of a view that the access policy shows.
    package func isView(_ namespace: Namespace) throws(StoreError) -> Bool {
        try catalog.isView(namespace)
    }

    /// Returns the collections and views of a database as `listCollections` shows them, in name
    /// order.
    ///
    /// - Parameters:
    ///   - filter: the filter on the result's documents; they have `name`, `type`, `options`,
    ///     `info` with the UUID, and `idIndex`.
    ///   - nameOnly: whether to return only `name` and `type`.
    /// - Throws: SQLite's errors.
    public func listCollections(
        _ database: String, filter: Filter = .all, nameOnly: Bool = false
    ) throws(StoreError) -> [BSONDocument] {
        try catalog.listCollections(database, filter: filter, nameOnly: nameOnly)
    }

    /// Returns the databases that have a collection, as the command `listDatabases` shows them.
    ///
    /// All databases share the file, so `sizeOnDisk` is the size of the whole file.
    ///
    /// - Throws: SQLite's errors.
    public func listDatabases(
        filter: Filter = .all, nameOnly: Bool = false
    ) throws(StoreError) -> [BSONDocument] {
        try catalog.listDatabases(filter: filter, nameOnly: nameOnly)
    }

    /// Refuses a synced collection before any other step.
    ///
    /// - Throws: `illegalOperation` (20), which names the right call.
    package func checkIsFree(_ namespace: Namespace) throws(StoreError) {
        try SyncedCollections(connection: connection).checkIsFree(namespace)
    }

    /// Whether a collection is synced: a document has or will get a sync record, or a subscription
    /// queries it or once did.
    ///
    /// The collection is free again once none of its documents is synced.
    package func isSynced(_ namespace: Namespace) throws(StoreError) -> Bool {
        try SyncedCollections(connection: connection).contains(namespace)
    }
}
