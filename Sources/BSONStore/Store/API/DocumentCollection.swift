/// Reads and changes the documents of one collection; each call is a transaction of its own.
///
/// A value: it holds the store and the collection's name. The collection is made by the first
/// insert; until then it reads as empty.
public struct DocumentCollection: Sendable {
    /// The store that the collection is in.
    public let store: DocumentStore
    /// The collection's name.
    public let namespace: Namespace
}

extension DocumentStore {
    /// Gives access to a collection, whether it is there already or not.
    public func collection(_ namespace: Namespace) -> DocumentCollection {
        DocumentCollection(store: self, namespace: namespace)
    }
}
