public import BSONStore

/// Tells of one change in a remote collection.
public struct RemoteChange: Sendable, Hashable {
    /// The document that changed.
    public let documentID: BSONValue
    /// The document was deleted.
    public let isDelete: Bool
    /// The version field after the change, where the remote tells; `nil` for deletes.
    public let version: VersionField?
    /// The hash of the content after the change, where the remote tells.
    public var contentHash: BSONContentHash? {
        hash ?? content?.contentHash(excluding: DocumentVersion.fieldName)
    }
    private let hash: BSONContentHash?
    /// The document after the change, where the remote told of it; hashed only when it is asked for.
    let content: BSONDocument?
    /// The attempt that made the change: of a delete only where the remote records it.
    public let operation: OperationID?
    /// The document left what the user sees, and may still be there.
    ///
    /// Told of deletes only, by remotes that know rules.
    public let leftView: Bool
    /// The change itself wrote the version, so that what it left is that version's content.
    public let wroteVersion: Bool

    /// Makes a change of its parts.
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

    /// Makes a change that left a document, or none.
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
}
