/// A place outside of the store that has the documents of collections.
///
/// A store with a source has only the definitions of collections. Queries under an access policy ask the
/// source for documents when they read them, and are else the same: they filter, sort and show them by
/// the policy themselves.
package protocol CandidateSource: AnyObject, Sendable {
    /// Whether the source has the documents of a collection; else the store has them.
    func has(_ namespace: Namespace) -> Bool

    /// Calls a body with the documents that a query may find, until it returns false.
    ///
    /// The order is that of insertion where the source knows it. Where it has sorted, to return only the
    /// first documents of an order, it is that order; a query with an order sorts them itself in any
    /// case. The source may leave out documents that do not match the query, or that the policy hides.
    ///
    /// - Throws: the errors of the body and of the source.
    func forEach(
        _ namespace: Namespace, _ query: CandidateQuery,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError)

    /// Returns how many documents match a filter and are visible; `nil` if only the documents tell.
    ///
    /// - Parameter limit: the number after which to stop counting; 0 for no limit.
    func count(
        _ namespace: Namespace, _ filter: Filter, limit: Int
    ) throws(StoreError) -> Int?
}

/// What a query asks a source for.
package struct CandidateQuery {
    /// The filter, with the collation of the collection.
    package var filter: Filter
    /// Whether the most recently inserted documents are read first.
    package var readsLastFirst = false
    /// The documents that are needed; `nil` for all.
    package var first: FirstDocuments?
}

/// The first documents in an order.
package struct FirstDocuments {
    package let order: SortOrder
    package let count: Int
}
