public import BSONStore

/// One stored change of a synced document.
///
/// ```swift
/// await todos.configure(changeEventListener: { event in
///     print(event.operationType, event.documentID, event.reason)
/// })
/// ```
public struct ChangeEvent<Document: Sendable>: Sendable {
    /// The event's number in its store; a redelivered event keeps it.
    public let sequence: Int64
    /// The kind of the change.
    public let operationType: OperationType
    /// The cause of the change.
    public let reason: ChangeReason
    /// The document's collection.
    public let namespace: Namespace
    /// The document's `_id`.
    public let documentID: BSONValue
    /// The document after the change; `nil` when it is no longer on the device.
    public let fullDocument: Document?
    /// The changed paths, for an update.
    public let updateDescription: UpdateDescription?
    /// Whether the change is pending; `false` once the remote holds it or where the remote made it.
    public let hasUncommittedWrites: Bool

    /// The document's key in MongoDB's form: `{_id: …}`.
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

/// The kind of a document's change.
///
/// ```swift
/// for try await event in todos.events where event.operationType == .delete {
///     print("\(event.documentID) was deleted")
/// }
/// ```
public enum OperationType: String, Sendable, Hashable, CaseIterable {
    /// The document is new on the device.
    case insert
    /// Some of the document's fields changed.
    case update
    /// The whole document was replaced, or was downloaded by its id.
    case replace
    /// The document was deleted.
    case delete
    /// The document was evicted because no subscription matches it any more; the remote keeps it.
    case evict
}

/// The cause of a document's change.
///
/// ```swift
/// for try await event in todos.events where event.reason == .remote {
///     print("\(event.documentID) changed at the remote")
/// }
/// ```
public enum ChangeReason: String, Sendable, Hashable, CaseIterable {
    /// The app wrote the document locally.
    case local
    /// The remote applied a local change.
    case committed
    /// The engine stored a remote change.
    case remote
    /// The engine resolved a conflict.
    case resolution
    /// The remote did not allow a local change, and the engine reverted it.
    case compensation
    /// The app ended the document's sync.
    case desync
    /// A subscription set superseded another.
    case subscription
}
