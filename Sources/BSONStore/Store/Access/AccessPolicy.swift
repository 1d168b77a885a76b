/// A policy that decides which documents of a store a transaction may see and write.
///
/// Hidden documents do not exist for a transaction's queries, aggregation, updates and counts. Reads
/// by row, such as `visitRows`, do not ask the policy, and say for which callers they are.
///
/// A policy has a *gate* for each collection, a ``CollectionAccess``, which is asked about its documents.
/// ``TransactionAccess`` holds the policy of one transaction and asks it for gates; the store asks only
/// that type.
///
/// The rules of a user are such a policy:
///
/// - `RuleAccessPolicy` is the policy. The one of a command's user is called the command's `ruleGuard`.
/// - `RuleCollectionAccess` is its gate, which speaks of documents and errors.
/// - `RuleAccess` is what the user's roles allow in the collection. The gate decides by it.
package protocol AccessPolicy: AnyObject, Sendable {
    /// Returns the access to a collection; `nil` for full access.
    ///
    /// A policy whose documents come from a ``CandidateSource`` returns a gate for each collection of the
    /// source: only what a gate restricts is read from it.
    func gate(_ namespace: Namespace) -> (any CollectionAccess)?
}

/// The access to the documents of one collection.
package protocol CollectionAccess: AnyObject, Sendable {
    /// The filter of visible documents; `nil` when none is visible.
    var filter: Filter? { get }
    /// Whether visible documents may have hidden fields.
    var hidesFields: Bool { get }

    /// Returns a visible document without its hidden fields.
    func shown(_ document: BSONDocument) -> BSONDocument

    /// Whether a path of a document can lead to a hidden value.
    func hides(path: String) -> Bool

    /// Decides whether a document may be written, and returns the document to store.
    ///
    /// - Parameters:
    ///   - before: the stored document, `nil` for a new one.
    ///   - after: the document that should be visible afterwards; `nil` for a delete.
    /// - Returns: the document to store, which keeps the hidden fields.
    /// - Throws: the reason why the write is denied.
    func judge(
        from before: BSONDocument?, toShown after: BSONDocument?
    ) throws(StoreError) -> BSONDocument?

    /// Reports a denied write whose true reason must stay hidden, and returns its error.
    func reportedDenial(of document: BSONDocument) -> StoreError
}
