/// Tells one change of one document, with the document before and after it, or of a collection.
public struct StoreChange: Sendable, Hashable {
    /// What happened to the document, or to the collection as a whole.
    public enum Kind: Int64, Sendable, Hashable {
        /// It is new.
        case insert = 1
        /// Operators changed it.
        case update = 2
        /// Another document took its place under the same id.
        case replace = 3
        /// It is gone.
        case delete = 4
        /// The collection is gone with all its documents.
        case drop = 5
        /// The collection has another name; `after` says which, as `to`.
        case rename = 6
        /// Another collection has this name now; `after` says which it was, as `from`.
        case renamedHere = 7
        /// The database is gone, after its collections; the collection's name is empty.
        case dropDatabase = 8

        /// Whether one document changed, and not a collection as a whole.
        public var isOfDocument: Bool {
            switch self {
            case .insert, .update, .replace, .delete: true
            case .drop, .rename, .renamedHere, .dropDatabase: false
            }
        }
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
