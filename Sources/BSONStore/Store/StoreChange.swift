/// Tells one change of one document, with the document before and after it.
public struct StoreChange: Sendable, Hashable {
    /// What happened to the document.
    public enum Kind: Int64, Sendable, Hashable {
        /// It is new.
        case insert = 1
        /// Operators changed it.
        case update = 2
        /// Another document took its place under the same id.
        case replace = 3
        /// It is gone.
        case delete = 4
    }

    /// The place in the feed; it grows with each change and is never used twice.
    public let position: Int64
    /// The collection.
    public let namespace: Namespace
    /// What happened.
    public let kind: Kind
    /// The document before the change; `nil` for an insert.
    public let before: BSONDocument?
    /// The document after the change; `nil` for a delete.
    public let after: BSONDocument?
    /// What the transaction said about itself; see ``WriteTransaction/comment``.
    public let comment: BSONValue?

    /// The document's `_id`.
    public var documentID: BSONValue { (after ?? before)?["_id"] ?? .null }
}

/// Holds changes in commit order, with the position from which to read on.
public struct StoreChangeBatch: Sendable, Hashable {
    /// The changes.
    public let changes: [StoreChange]
    /// The position after which nothing was looked at; give it to the next call.
    public let position: Int64
    /// Whether the feed's end was reached.
    public let isAtEnd: Bool
}
