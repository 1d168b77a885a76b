public import BSONStore

/// An opaque position in a remote's history.
///
/// ```swift
/// let token = try await remote.collection(todos.namespace).currentToken()
/// let batch = try await remote.collection(todos.namespace)
///     .changes(after: token, limit: 100, waitingUpTo: .seconds(1))
/// ```
public struct ResumeToken: Sendable, Hashable {
    /// The token as the remote returned it.
    public let document: BSONDocument

    /// Wraps a remote's token.
    public init(_ document: BSONDocument) { self.document = document }
}
