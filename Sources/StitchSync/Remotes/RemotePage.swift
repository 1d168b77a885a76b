public import BSONStore

/// Carries some of the documents that a filter found.
public struct RemotePage: Sendable, Hashable {
    /// The documents, with their version fields.
    public let documents: [BSONDocument]
    /// No document comes behind them.
    public let isLast: Bool

    /// Makes a page of its parts.
    public init(documents: [BSONDocument], isLast: Bool) {
        self.documents = documents
        self.isLast = isLast
    }
}
