internal import BSONStore

/// A part of a remote's history: changes in commit order.
///
/// ```swift
/// let batch = RemoteChangeBatch(
///     changes: changes, token: ResumeToken(["position": 7]), hasMore: false)
/// ```
public struct RemoteChangeBatch: Sendable, Hashable {
    /// The changes; one document may occur several times.
    public let changes: [RemoteChange]
    /// The position after the last change.
    public let token: ResumeToken
    /// Whether the history holds more changes already.
    public let hasMore: Bool

    /// Makes a batch from its parts.
    public init(changes: [RemoteChange], token: ResumeToken, hasMore: Bool) {
        self.changes = changes
        self.token = token
        self.hasMore = hasMore
    }
}
