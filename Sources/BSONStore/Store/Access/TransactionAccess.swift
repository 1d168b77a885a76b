/// The access of one transaction to the collections of its store.
///
/// In a store, it is the only place that asks an access policy.
struct TransactionAccess {
    /// The policy; `nil` for full access.
    let policy: (any AccessPolicy)?
    /// The place of the documents that the policy has a gate for; `nil` for the store itself.
    var source: (any CandidateSource)?

    /// Returns the access to a collection; `nil` for full access.
    func gate(_ namespace: Namespace) -> (any CollectionAccess)? {
        guard let policy else { return nil }
        return policy.gate(namespace)
    }

    /// Returns the place of a collection's documents; `nil` for the store itself.
    func source(of namespace: Namespace) -> (any CandidateSource)? {
        guard let source, source.has(namespace) else { return nil }
        return source
    }

    /// Whether a collection may have hidden documents or fields.
    func isRestricted(_ namespace: Namespace) -> Bool { gate(namespace) != nil }

    /// Whether any documents of a collection may be visible.
    func isOpen(_ namespace: Namespace) -> Bool {
        gate(namespace).map { $0.filter != nil } ?? true
    }
}

extension CollectionAccess {
    /// Returns a document as the access policy shows it; `nil` when hidden.
    func visible(_ document: BSONDocument) -> BSONDocument? {
        guard let filter, filter.matches(document) else { return nil }
        return shown(document)
    }
}
