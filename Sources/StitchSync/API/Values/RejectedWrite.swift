public import BSONStore

/// A local change that the remote refused: it is reverted, or waits for the app's answer.
///
/// ```swift
/// for rejected in try await todos.rejectedWrites.all() {
///     print(rejected.reason)
///     try await todos.rejectedWrites.discard(rejected.id)
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
    /// The time of the remote's answer, by this device's clock.
    public let time: BSONDatetime
    /// Why one of the documents is missing: it does not decode as the app's type; usually `nil`.
    ///
    /// The write can be retried and discarded all the same.
    public internal(set) var decodingFailure: String?

    /// Makes a rejected write from its parts, to test a ``RejectionPolicy/Ask`` by calling it.
    ///
    /// ```swift
    /// let write = CompensatingWrite(
    ///     objectName: "todos", primaryKey: 1, reason: "not allowed", cause: .notAllowed)
    /// let answer = try await ask(
    ///     RejectedWrite(change: .update, document: todo, compensatingWrite: write))
    /// ```
    public init(
        id: Int64 = 1, namespace: Namespace = Namespace("app", "documents"),
        operationID: OperationID = OperationID(instance: 1, sequence: 1), change: PendingChange,
        document: Document?, hasLaterEdits: Bool = false, laterDocument: Document? = nil,
        base: Document? = nil, compensatingWrite: CompensatingWrite,
        code: Int = CompensatingWrite.code, time: BSONDatetime = BSONDatetime(milliseconds: 0)
    ) {
        self.id = id
        self.namespace = namespace
        self.operationID = operationID
        self.change = change
        self.document = document
        self.hasLaterEdits = hasLaterEdits
        self.laterDocument = laterDocument
        self.base = base
        self.compensatingWrite = compensatingWrite
        self.code = code
        self.time = time
    }

    /// The document's `_id`.
    public var documentID: BSONValue { compensatingWrite.primaryKey }
    /// The remote's message.
    public var reason: String { compensatingWrite.reason }
    /// The document that the app last wanted; `nil` for a delete.
    public var latestDocument: Document? { hasLaterEdits ? laterDocument : document }
}

extension RejectedWrite: CustomStringConvertible {
    /// The number, the change, the document and the reason.
    public var description: String {
        "\(id): \(change) of \(documentID) in \(namespace) refused: \(reason)"
    }
}

extension RejectedWrite: Equatable where Document: Equatable {}
extension RejectedWrite: Hashable where Document: Hashable {}
