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
        case renameTarget = 7
        /// The database is gone, after its collections; the collection's name is empty.
        case dropDatabase = 8

        /// Whether one document changed, and not a collection as a whole.
        public var isOfDocument: Bool {
            switch self {
            case .insert, .update, .replace, .delete: true
            case .drop, .rename, .renameTarget, .dropDatabase: false
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
    public var comment: BSONValue? { remarks?[""] }
    /// The comment under the empty key, and what only change streams tell, see ``Annotation``.
    private let remarks: BSONDocument?

    init(
        position: Int64, namespace: Namespace, kind: Kind, before: BSONDocument?,
        after: BSONDocument?, remarks: BSONDocument?
    ) {
        self.position = position
        self.namespace = namespace
        self.kind = kind
        self.before = before
        self.after = after
        self.remarks = remarks
    }

    /// What the feed remembers of some changes beside the documents.
    package enum Annotation: String, Sendable {
        /// The paths at which an update wrote whole values, with its placeholders.
        case writtenPaths
        /// The paths at which an update may have pushed elements that are not the last.
        case pushedPaths
        /// Whether a pipeline made the document.
        case isByPipeline
        /// The UUID of the collection that was dropped or renamed.
        case uuid
        /// The UUID of the collection that was dropped because another took its name.
        case dropTarget
    }

    /// What the feed remembers of the change under a name.
    package subscript(remark: Annotation) -> BSONValue? { remarks?[remark.rawValue] }

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

extension StoreChange {
    /// Says of a document how it is at a position, as if a change had made it so.
    package init(
        standingAt position: Int64, _ namespace: Namespace, _ kind: Kind, before: BSONDocument?,
        after: BSONDocument?
    ) {
        self.init(
            position: position, namespace: namespace, kind: kind, before: before, after: after,
            remarks: nil)
    }

    /// The change as somebody sees it from whom documents are hidden.
    package func showing(
        _ kind: Kind, _ before: BSONDocument?, _ after: BSONDocument?
    ) -> StoreChange {
        StoreChange(
            position: position, namespace: namespace, kind: kind, before: before, after: after,
            remarks: comment.map { ["": $0] })
    }
}
