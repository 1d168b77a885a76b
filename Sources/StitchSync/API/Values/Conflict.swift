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
    /// Whether the remote's edition may contain the local change already, because the answer to
    /// the upload and the history are lost.
    public let mayHaveLanded: Bool

    /// Makes a conflict from its parts, to test a handler by calling it.
    ///
    /// ```swift
    /// let conflict = Conflict(documentID: 1, base: base, local: mine, remote: theirs)
    /// let answer = try await handler.resolve(conflict)
    /// ```
    ///
    /// - Parameters:
    ///   - namespace: the collection, for handlers that look at it.
    ///   - documentID: the document's `_id`.
    ///   - base: the confirmed edition; `nil` when both sides inserted the document.
    ///   - local: the local document; `nil` when it was deleted locally.
    ///   - remote: the remote document; `nil` when it was deleted at the remote.
    ///   - mayHaveLanded: whether the remote's edition may contain the local change already.
    public init(
        namespace: Namespace = Namespace("app", "documents"), documentID: BSONValue,
        base: Document?, local: Document?, remote: Document?, mayHaveLanded: Bool = false
    ) {
        self.namespace = namespace
        self.documentID = documentID
        self.base = base
        self.local = local
        self.remote = remote
        self.mayHaveLanded = mayHaveLanded
    }
}

extension Conflict: Equatable where Document: Equatable {}
extension Conflict: Hashable where Document: Hashable {}

extension Conflict: CustomStringConvertible {
    /// The collection, the `_id` and the three editions.
    public var description: String {
        func text(_ edition: Document?, _ absence: String) -> String {
            edition.map { "\($0)" } ?? absence
        }
        return "conflict of \(documentID) in \(namespace): base \(text(base, "none")), "
            + "local \(text(local, "deleted")), remote \(text(remote, "deleted"))"
            + (mayHaveLanded ? ", may have landed" : "")
    }
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

extension ConflictResolution: Equatable where Document: Equatable {}
extension ConflictResolution: Hashable where Document: Hashable {}

extension ConflictResolution: CustomStringConvertible {
    /// The decision, with the document where there is one.
    public var description: String {
        switch self {
        case .useLocal: "use local"
        case .useRemote: "use remote"
        case .use(let document): "use \(document)"
        case .delete: "delete"
        }
    }
}
