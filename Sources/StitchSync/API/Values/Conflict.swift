public import BSONStore

/// Shows what both sides did to a document since they last agreed.
public struct Conflict<Document: Sendable>: Sendable {
    /// The collection.
    public let namespace: Namespace
    /// The document's `_id`.
    public let documentID: BSONValue
    /// What the remote last confirmed; `nil` when it never held the document.
    public let base: Document?
    /// The local document; `nil` when it was deleted here.
    public let local: Document?
    /// The remote document, without its version; `nil` when it was deleted there.
    public let remote: Document?
    /// The local change may be in the remote's edition already: its answer and the history are lost.
    public let mayHaveLanded: Bool
}

/// A conflict handler's answer.
public enum ConflictResolution<Document: Sendable>: Sendable {
    /// Keep the local edition, or the local delete.
    case useLocal
    /// Take the remote edition, or the remote delete.
    case useRemote
    /// Keep this document on both sides; its `_id` must be the conflict's.
    case use(Document)
    /// Delete on both sides.
    case delete
}
