/// A handle for reading and writing one collection; each call is a transaction of its own.
///
/// The handle is a value that holds the store and the collection's name. The first insert creates
/// the collection; until then it reads as empty.
public struct DocumentCollection: Sendable {
    /// The store that the collection is in.
    public let store: DocumentStore
    /// The collection's name.
    public let namespace: Namespace
}

extension DocumentCollection {
    /// Returns a live query of the documents that match a filter; it also notices commits of other
    /// processes.
    ///
    /// - Parameter limit: the largest number of documents in a snapshot; 0 for all.
    /// - Throws: for an invalid filter or limit.
    public func observe(
        _ filter: BSONDocument = [:], sort: SortOrder? = nil, limit: Int = 0
    ) throws(StoreError) -> LiveQuery {
        LiveQuery(
            collection: self, filter: try Filter(filter),
            options: try FindOptions(sort: sort, limit: limit))
    }
}
