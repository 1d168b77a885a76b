public import BSONStore
public import StitchRules

/// A write that the remote did not allow.
///
/// It is Device Sync's error 231: not fatal, and the sync of other documents continues. Most often a rule
/// denies the write. A write that the remote refused for its content is described in the same way:
/// ``cause`` tells them apart.
///
/// ```swift
/// for await error in todos.errors {
///     for write in error.compensatingWrites { print(write.primaryKey, write.reason) }
/// }
/// ```
public struct CompensatingWrite: Sendable, Hashable, CustomStringConvertible {
    /// The reason why the write is refused: most often a rule, which denies it.
    public typealias Cause = DenialCause

    /// Device Sync's error number.
    public static let code = 231
    /// Device Sync's message for the whole error.
    public static let text =
        "Client attempted a write that is not allowed; it has been reverted"

    /// The collection's name.
    public let objectName: String
    /// The document's `_id`.
    public let primaryKey: BSONValue
    /// The explanation: `write to "…" in table "…" was denied by write filter in role "…"`.
    public let reason: String
    /// The role that applied; `nil` where the user has none.
    public let role: String?
    /// The reason why the write is refused.
    public let cause: Cause

    /// The collection, the `_id` and the reason.
    public var description: String { "\(objectName) \(primaryKey): \(reason)" }

    /// Makes a write from its parts.
    public init(
        objectName: String, primaryKey: BSONValue, reason: String, role: String? = nil,
        cause: Cause
    ) {
        self.objectName = objectName
        self.primaryKey = primaryKey
        self.reason = reason
        self.role = role
        self.cause = cause
    }
}

extension CompensatingWrite {
    /// Reads a denied write from the `errInfo` of a remote's error.
    ///
    /// - Returns: `nil` where rules are not the reason for the error.
    package init?(reason: String, details: BSONDocument?) {
        guard let details, let name = details["cause"]?.stringValue,
            let table = details["table"]?.stringValue, let id = details["primaryKey"],
            let cause = Cause(
                name: name,
                fields: details["fields"]?.arrayValue?.compactMap(\.stringValue) ?? [])
        else { return nil }
        self.init(
            objectName: table, primaryKey: id, reason: reason,
            role: details["role"]?.stringValue, cause: cause)
    }

    /// The form in which the write is stored, which ``init(reason:details:)`` reads.
    var details: BSONDocument {
        RuleDenial.details(cause, role: role, table: objectName, id: primaryKey)
    }

    /// Describes a denial by local rules as the remote would.
    init(_ denial: RuleDenial) {
        self.init(
            objectName: denial.namespace.collection, primaryKey: denial.documentID,
            reason: denial.reason, role: denial.role, cause: denial.cause)
    }

    /// Describes a write that the remote refused for another reason than rules.
    init(refused error: RemoteError, of id: BSONValue, in namespace: Namespace) {
        self.init(
            objectName: namespace.collection, primaryKey: id, reason: error.message,
            cause: Self.tooLargeCodes.contains(error.code)
                ? .tooLarge : error.code == 13 ? .notAllowed : .invalid)
    }

    /// The codes of BSONObjectTooLarge and of a document that is too large after an update.
    private static let tooLargeCodes: Set<Int> = [10_334, 17_419, 17_420]
}

extension RemoteError {
    /// Makes the error of a refused write.
    package init(_ write: CompensatingWrite) {
        self.init(
            .rejected, code: CompensatingWrite.code, write.reason, compensatingWrite: write)
    }
}
