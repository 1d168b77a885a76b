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

extension DocumentStore {
    /// Returns a handle for a collection, whether or not it exists.
    public func collection(_ namespace: Namespace) -> DocumentCollection {
        DocumentCollection(store: self, namespace: namespace)
    }
}
