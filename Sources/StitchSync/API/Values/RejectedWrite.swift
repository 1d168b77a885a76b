public import BSONStore

/// A reverted local change that the remote did not allow.
///
/// ```swift
/// for rejected in try await todos.rejectedWrites() {
///     print(rejected.reason)
///     try await todos.discardRejectedWrite(rejected.id)
/// }
/// ```
public struct RejectedWrite<Document: Sendable>: Sendable {
    /// The id among the rejected writes; the file never uses it again.
    public let id: Int64
    /// The document's collection.
    public let namespace: Namespace
    /// The name of the refused attempt.
    public let operationID: OperationID
    /// The kind of the refused change.
    public let change: PendingChange
    /// The document as it was uploaded; `nil` for a delete.
    public let document: Document?
    /// Whether the app wrote to the document during the refused upload.
    public let hasLaterEdits: Bool
    /// The document with the later edits; `nil` without edits, or where they deleted it.
    public let laterDocument: Document?
    /// The edition that the remote had confirmed before; `nil` where it held no document.
    public let base: Document?
    /// The `_id`, the reason, and the rule behind it.
    public let compensatingWrite: CompensatingWrite
    /// The remote's error code; ``CompensatingWrite/code`` where rules or subscriptions are the
    /// reason.
    public let code: Int
    /// The time of the remote's response, by this device's clock.
    public let time: BSONDatetime

    /// The document's `_id`.
    public var documentID: BSONValue { compensatingWrite.primaryKey }
    /// The remote's message.
    public var reason: String { compensatingWrite.reason }
    /// The document that the app last wanted; `nil` for a delete.
    public var latestDocument: Document? { hasLaterEdits ? laterDocument : document }
}

extension RejectedWrite: Equatable where Document: Equatable {}
extension RejectedWrite: Hashable where Document: Hashable {}
