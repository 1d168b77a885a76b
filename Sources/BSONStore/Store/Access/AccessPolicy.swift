/// A policy that decides which documents of a store a transaction may see and write.
///
/// Every access to documents in a transaction obeys its policy: hidden documents do not exist for
/// queries, aggregation, updates and counts.
///
/// A policy has a *gate* for each collection, which is asked about its documents. Under rules the policy
/// is the user's `RuleAccessPolicy`, a gate is a `RuleCollectionAccess`, and `RuleAccess` is the user's
/// roles in the collection, by which the gate decides. ``TransactionAccess`` asks the policy for a
/// transaction. The policy of the user of one command is called its `ruleGuard`.
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
