public import BSONStore

/// Names a place in a remote's history; opaque.
public struct ResumeToken: Sendable, Hashable {
    /// The token as the remote gave it.
    public let document: BSONDocument

    /// Wraps a remote's token.
    public init(_ document: BSONDocument) { self.document = document }
}
