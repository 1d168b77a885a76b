public import BSONStore

/// One change in a remote collection.
///
/// ```swift
/// let change = RemoteChange(
///     documentID: 1, isDelete: false, version: VersionField(of: document),
///     contentHash: document.contentHash(excluding: DocumentVersion.fieldName), operation: nil)
/// ```
public struct RemoteChange: Sendable, Hashable {
    /// The `_id` of the document that changed.
    public let documentID: BSONValue
    /// Whether the document was deleted.
    public let isDelete: Bool
    /// The version field after the change, where the remote reports it; `nil` for deletes.
    public let version: VersionField?
    /// The hash of the content after the change, where the remote reports it.
    public var contentHash: BSONContentHash? {
        hash ?? content?.contentHash(excluding: DocumentVersion.fieldName)
    }
    private let hash: BSONContentHash?
    /// The document after the change, where the remote reports it; hashed on demand.
    package let content: BSONDocument?
    /// The attempt that made the change; for a delete only where the remote records it.
    public let operation: OperationID?
    /// Whether the document only left the user's view and may still exist.
    ///
    /// Set for deletes only, by remotes with access rules.
    public let leftView: Bool
    /// Whether the change wrote the version, so that the content belongs to that version.
    public let wroteVersion: Bool

    /// Whether the document is told so that it need not be fetched where it follows the one here.
    private(set) var isTold = false

    /// Makes a change from its parts.
    public init(
        documentID: BSONValue, isDelete: Bool, version: VersionField?,
        contentHash: BSONContentHash? = nil, operation: OperationID?, wroteVersion: Bool = false,
        leftView: Bool = false
    ) {
        self.documentID = documentID
        self.isDelete = isDelete
        self.version = version
        hash = contentHash
        content = nil
        self.operation = operation
        self.wroteVersion = wroteVersion
        self.leftView = leftView
    }

    /// Makes a change from the document after it; `nil` for a delete.
    package init(
        documentID: BSONValue, isDelete: Bool, after: BSONDocument?, operation: OperationID?,
        leftView: Bool = false
    ) {
        self.documentID = documentID
        self.isDelete = isDelete
        version = after.map(VersionField.init)
        hash = nil
        content = after
        self.operation = operation
        wroteVersion = false
        self.leftView = leftView
    }

    /// Returns the change with its document told.
    package func told() -> Self {
        var change = self
        change.isTold = content != nil
        return change
    }
}
