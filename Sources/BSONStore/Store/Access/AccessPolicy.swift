/// Decides which of the documents of a store a transaction may see and write.
///
/// A transaction that has a guard goes through it on every road to documents: what the guard hides
/// is not there for queries, aggregation, updates and counts alike.
package protocol AccessPolicy: Sendable {
    /// What decides about a collection; `nil` where nothing is hidden and everything may be written.
    func gate(_ namespace: Namespace) -> (any CollectionAccess)?
}

/// Decides which documents of one collection may be seen and written.
package protocol CollectionAccess: Sendable {
    /// Which documents are seen; `nil` when none is.
    var filter: Filter? { get }
    /// Whether some fields of documents that are seen may be hidden.
    var hidesFields: Bool { get }

    /// A document that is seen, without its hidden fields.
    func shown(_ document: BSONDocument) -> BSONDocument

    /// Whether a path of a document can lead to something hidden.
    func hides(path: String) -> Bool

    /// Decides whether a document may be written.
    ///
    /// - Parameters:
    ///   - before: the stored document, `nil` for a new one.
    ///   - after: the document as it is to be shown afterwards, `nil` for a delete.
    /// - Returns: the document to store, which keeps what is hidden.
    /// - Throws: why the write is denied.
    func written(
        from before: BSONDocument?, toShown after: BSONDocument?
    ) throws(StoreError) -> BSONDocument?

    /// The error of a write that fails for a reason which must not be told.
    func refusal(of document: BSONDocument) -> StoreError
}

extension QueryPlan {
    /// Whether what was inserted last is read first.
    var readsLastFirst: Bool {
        if case .range(let range) = access { range.order == .insertedLast } else { false }
    }
}
