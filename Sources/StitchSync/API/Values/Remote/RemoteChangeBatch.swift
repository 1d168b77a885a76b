internal import BSONStore

/// Carries changes in commit order.
public struct RemoteChangeBatch: Sendable, Hashable {
    /// The changes; a document may stand several times.
    public let changes: [RemoteChange]
    /// The place after the last of them.
    public let token: ResumeToken
    /// More changes are there already.
    public let hasMore: Bool

    /// Makes a batch of its parts.
    public init(changes: [RemoteChange], token: ResumeToken, hasMore: Bool) {
        self.changes = changes
        self.token = token
        self.hasMore = hasMore
    }
}
