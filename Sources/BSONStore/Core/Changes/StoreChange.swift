/// One change of a document, with its versions before and after, or of a whole collection.
public struct StoreChange: Sendable, Hashable {
    /// The operation that changed the document or the collection.
    public enum Kind: Int64, Sendable, Hashable {
        /// The document was inserted.
        case insert = 1
        /// Update operators changed the document.
        case update = 2
        /// Another document replaced it under the same id.
        case replace = 3
        /// The document was deleted.
        case delete = 4
        /// The collection was dropped with all its documents.
        case drop = 5
        /// The collection was renamed; `after` holds the new name, as `to`.
        case rename = 6
        /// Another collection was renamed to this name; `after` holds its old name, as `from`.
        case renameTarget = 7
        /// The database was dropped, after its collections; the collection's name is empty.
        case dropDatabase = 8

        /// Whether a single document changed, not a whole collection.
        public var isOfDocument: Bool {
            switch self {
            case .insert, .update, .replace, .delete: true
            case .drop, .rename, .renameTarget, .dropDatabase: false
            }
        }
    }

    /// The position in the change feed; it grows with each change and is never reused.
    public let position: Int64
    /// The collection that changed.
    public let namespace: Namespace
    /// The kind of operation.
    public let kind: Kind
    /// The document before the change; `nil` for an insert.
    public let before: BSONDocument?
    /// The document after the change; `nil` for a delete.
    public let after: BSONDocument?
    /// The comment of the transaction; see BSONStore's `WriteTransaction.comment`.
    public var comment: BSONValue? { remarks?[Self.commentKey] }
    /// The key under which the feed keeps the comment.
    package static let commentKey = ""
    /// The comment under the empty key, and the fields that only change streams report; see
    /// ``Annotation``.
    private let remarks: BSONDocument?

    package init(
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

    /// Additional facts that the feed records with a change.
    package enum Annotation: String, Sendable {
        /// The paths at which an update wrote whole values, with its placeholders.
        case writtenPaths
        /// The paths at which an update may have pushed elements before the end of an array.
        case pushedPaths
        /// Whether an aggregation pipeline produced the document.
        case isByPipeline
        /// The UUID of the collection that was dropped or renamed.
        case uuid
        /// The UUID of the collection that was dropped because another was renamed to its name.
        case dropTarget
    }

    /// The fact that the feed recorded under a name.
    package subscript(remark: Annotation) -> BSONValue? { remarks?[remark.rawValue] }

    /// The document's `_id`.
    public var documentID: BSONValue { (after ?? before)?["_id"] ?? .null }
}

extension StoreChange: CustomStringConvertible {
    /// The operation, the document and the position; then the document after the change.
    public var description: String {
        let place = kind.isOfDocument ? "\(documentID) in \(namespace)" : "\(namespace)"
        return "\(kind) of \(place) at \(position)" + (after.map { ": \($0)" } ?? "")
    }
}

/// Changes in commit order, with the position from which to continue.
public struct StoreChangeBatch: Sendable, Hashable {
    /// The changes in commit order.
    public let changes: [StoreChange]
    /// The last position that was read; pass it to the next call.
    public let position: Int64
    /// Whether the batch reaches the end of the feed.
    public let isAtEnd: Bool

    /// Creates a batch.
    package init(changes: [StoreChange], position: Int64, isAtEnd: Bool) {
        self.changes = changes
        self.position = position
        self.isAtEnd = isAtEnd
    }
}

extension StoreChange {
    /// Creates a change that stands for the state of a document at a position.
    package init(
        standingAt position: Int64, _ namespace: Namespace, _ kind: Kind, before: BSONDocument?,
        after: BSONDocument?
    ) {
        self.init(
            position: position, namespace: namespace, kind: kind, before: before, after: after,
            remarks: nil)
    }

    /// Returns the change as a reader sees it from whom some documents are hidden.
    package func showing(
        _ kind: Kind, _ before: BSONDocument?, _ after: BSONDocument?
    ) -> StoreChange {
        StoreChange(
            position: position, namespace: namespace, kind: kind, before: before, after: after,
            remarks: comment.map { [Self.commentKey: $0] })
    }
}
