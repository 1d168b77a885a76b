public import BSONStore

/// The changes of both sides to a document since the last confirmed edition.
///
/// ```swift
/// let handler = ConflictHandler<Todo> { conflict in
///     if conflict.remote == nil { return .useLocal }
///     return conflict.base == nil ? .useRemote : .useLocal
/// }
/// ```
public struct Conflict<Document: Sendable>: Sendable {
    /// The document's collection.
    public let namespace: Namespace
    /// The document's `_id`.
    public let documentID: BSONValue
    /// The edition that the remote last confirmed; `nil` when it never held the document.
    public let base: Document?
    /// The local document; `nil` when it was deleted locally.
    public let local: Document?
    /// The remote document without its version field; `nil` when it was deleted at the remote.
    public let remote: Document?
    /// Whether the remote's edition may contain the local change already, because the response to
    /// the upload and the history are lost.
    public let mayHaveLanded: Bool
}

/// A conflict handler's decision.
///
/// ```swift
/// let handler = ConflictHandler<Todo> { conflict in
///     guard var merged = conflict.remote, let local = conflict.local else { return .delete }
///     merged.task += " / " + local.task
///     return .use(merged)
/// }
/// ```
public enum ConflictResolution<Document: Sendable>: Sendable {
    /// Keep the local edition or delete.
    case useLocal
    /// Take the remote edition or delete.
    case useRemote
    /// Store this document on both sides; its `_id` must be the conflict's.
    case use(Document)
    /// Delete the document on both sides.
    case delete
}
