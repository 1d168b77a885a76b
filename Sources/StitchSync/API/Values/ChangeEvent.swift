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

    /// Makes an event from its parts, to test a listener by calling it.
    ///
    /// ```swift
    /// let event = ChangeEvent(
    ///     operationType: .insert, reason: .remote, documentID: 1, fullDocument: todo)
    /// await listener(event)
    /// ```
    public init(
        sequence: Int64 = 1, operationType: OperationType, reason: ChangeReason,
        namespace: Namespace = Namespace("app", "documents"), documentID: BSONValue,
        fullDocument: Document? = nil, updateDescription: UpdateDescription? = nil,
        hasUncommittedWrites: Bool = false
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

extension ChangeEvent: Equatable where Document: Equatable {}
extension ChangeEvent: Hashable where Document: Hashable {}

extension ChangeEvent: CustomStringConvertible {
    /// The operation, the document and the cause; then the changed paths of an update, else the
    /// document.
    public var description: String {
        let change =
            updateDescription.map { ": \($0)" } ?? fullDocument.map { ": \($0)" } ?? ""
        return "\(operationType) of \(documentID) in \(namespace), \(reason)"
            + (hasUncommittedWrites ? ", pending" : "") + change
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
    /// The document is new on the device, or a resolution keeps it though the remote deleted it.
    case insert
    /// Some of the document's fields changed.
    case update
    /// The whole document was replaced or downloaded by its id, or a resolution took the remote's.
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
