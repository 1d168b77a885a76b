public import BSONStore

/// Tells of one change to a synced document, after it is stored and readable.
public struct ChangeEvent<Document: Sendable>: Sendable {
    /// Grows with each event of a store; equal for a redelivered event.
    public let sequence: Int64
    /// What happened.
    public let operationType: OperationType
    /// Why it happened.
    public let reason: ChangeReason
    /// The collection.
    public let namespace: Namespace
    /// The document's `_id`.
    public let documentID: BSONValue
    /// The document after the change; `nil` when it is no longer here.
    public let fullDocument: Document?
    /// The paths that changed, for an update.
    public let updateDescription: UpdateDescription?
    /// The change waits to be sent; `false` once the remote holds it or where it came from there.
    public let hasUncommittedWrites: Bool

    /// MongoDB's form of the document's key.
    public var documentKey: BSONDocument { ["_id": documentID] }

    init(
        sequence: Int64, operationType: OperationType, reason: ChangeReason, namespace: Namespace,
        documentID: BSONValue, fullDocument: Document?, updateDescription: UpdateDescription?,
        hasUncommittedWrites: Bool
    ) {
        self.sequence = sequence
        self.operationType = operationType
        self.reason = reason
        self.namespace = namespace
        self.documentID = documentID
        self.fullDocument = fullDocument
        self.updateDescription = updateDescription
        self.hasUncommittedWrites = hasUncommittedWrites
    }
}

/// Says what happened to a document.
public enum OperationType: String, Sendable, Hashable, CaseIterable {
    /// It came to be.
    case insert
    /// Some of its fields changed.
    case update
    /// It has new content as a whole, or came from the remote by its id.
    case replace
    /// It is gone.
    case delete
    /// It left the device, since no subscription asks for it any more; the remote keeps it.
    case evict
}

/// Says why a document changed.
public enum ChangeReason: String, Sendable, Hashable, CaseIterable {
    /// The app wrote it on this store.
    case local
    /// The remote took a local change in.
    case committed
    /// The remote's change was taken in.
    case remote
    /// A conflict was resolved.
    case resolution
    /// The remote did not allow a local change, which was taken back.
    case compensation
    /// The app ended its sync.
    case desync
    /// A set of subscriptions took over from another.
    case subscription
}
