public import BSONStore

/// Is a local change that the remote did not allow, as the rejected-writes store keeps it.
public struct RejectedWrite<Document: Sendable>: Sendable {
    /// Its place in the store; never given to another one of the same file.
    public let id: Int64
    /// The collection.
    public let namespace: Namespace
    /// The name of the attempt that was refused.
    public let operationID: OperationID
    /// What was wanted of the remote.
    public let change: PendingChange
    /// The document as it was sent; `nil` for a deletion.
    public let document: Document?
    /// Whether the app wrote to the document while the refused write was under way.
    public let hasLaterEdits: Bool
    /// The document with these later edits; `nil` without any, or where they deleted it.
    public let laterDocument: Document?
    /// What the remote had confirmed before; `nil` where it knew of no document.
    public let base: Document?
    /// The `_id`, the reason, and the rule where one is the reason.
    public let compensatingWrite: CompensatingWrite
    /// The remote's code: ``CompensatingWrite/code`` where rules or subscriptions are the reason.
    public let code: Int
    /// When the answer came, by the clock of this machine.
    public let time: BSONDatetime

    /// The document's `_id`.
    public var documentID: BSONValue { compensatingWrite.primaryKey }
    /// Why, in the remote's words.
    public var reason: String { compensatingWrite.reason }
    /// The last thing that the app wanted of the document; `nil` for a deletion.
    public var latestDocument: Document? { hasLaterEdits ? laterDocument : document }
}

extension RejectedWrite: Equatable where Document: Equatable {}
extension RejectedWrite: Hashable where Document: Hashable {}
