public import BSONStore
internal import StitchRules

/// A write that the remote did not allow.
///
/// It is Device Sync's error 231: not fatal, and the sync of other documents continues.
///
/// ```swift
/// for await error in todos.errors {
///     for write in error.compensatingWrites { print(write.primaryKey, write.reason) }
/// }
/// ```
public struct CompensatingWrite: Sendable, Hashable, CustomStringConvertible {
    /// The rule that forbids the write.
    ///
    /// ```swift
    /// if let write = error.compensatingWrite, case .fieldsDenied(let paths) = write.cause {
    ///     print("not writable: \(paths)")
    /// }
    /// ```
    public enum Cause: Sendable, Hashable {
        /// The user has no role for the collection.
        case noRole
        /// The role that applies does not support sync.
        case roleNotSyncable
        /// The document does not match the role's write filter, before the write or as its result.
        case writeFilter(isOfResult: Bool)
        /// The role does not allow the insert.
        case insertDenied
        /// The role does not allow the delete.
        case deleteDenied
        /// The role does not allow writes of the document.
        case writeDenied
        /// The role does not allow writes of these fields, named by their paths.
        case fieldsDenied([String])
        /// No subscription matches the document, before or after the write.
        case outOfView
        /// The collection has no subscription.
        case noSubscription
        /// The content is invalid or violates a unique index.
        case invalid
        /// The document is too large.
        case tooLarge
        /// The remote does not report the rule.
        case notAllowed
    }

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
    /// The rule that forbids the write.
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
    /// Reads a forbidden write from the `errInfo` of a remote's error.
    ///
    /// - Returns: `nil` where rules are not the reason for the error.
    package init?(reason: String, details: BSONDocument?) {
        guard let details, let name = details["cause"]?.stringValue,
            let table = details["table"]?.stringValue, let id = details["primaryKey"],
            let cause = Self.cause(name, details)
        else { return nil }
        self.init(
            objectName: table, primaryKey: id, reason: reason,
            role: details["role"]?.stringValue, cause: cause)
    }

    /// The `errInfo` that ``init(reason:details:)`` reads.
    var details: BSONDocument {
        var details: BSONDocument = [
            "cause": .string(cause.name), "table": .string(objectName), "primaryKey": primaryKey,
        ]
        if let role { details.append("role", .string(role)) }
        if case .fieldsDenied(let paths) = cause {
            details.append("fields", .array(BSONArray(paths.map(BSONValue.string))))
        }
        return details
    }

    private static func cause(_ name: String, _ details: BSONDocument) -> Cause? {
        if name == Cause.fieldsDenied([]).name {
            return .fieldsDenied(details["fields"]?.arrayValue?.compactMap(\.stringValue) ?? [])
        }
        return plainCauses.first { $0.name == name }
    }

    private static let plainCauses: [Cause] = [
        .noRole, .roleNotSyncable, .writeFilter(isOfResult: false), .writeFilter(isOfResult: true),
        .insertDenied, .deleteDenied, .writeDenied, .outOfView, .noSubscription, .invalid,
        .tooLarge, .notAllowed,
    ]
}

extension CompensatingWrite.Cause {
    /// The cause's name in `errInfo`.
    var name: String {
        switch self {
        case .noRole: "noRole"
        case .roleNotSyncable: "roleNotSyncable"
        case .writeFilter(isOfResult: false): "writeFilter"
        case .writeFilter(isOfResult: true): "writeFilterAfter"
        case .insertDenied: "insertDenied"
        case .deleteDenied: "deleteDenied"
        case .writeDenied: "writeDenied"
        case .fieldsDenied: "fieldsDenied"
        case .outOfView: "outOfView"
        case .noSubscription: "noSubscription"
        case .invalid: "invalid"
        case .tooLarge: "tooLarge"
        case .notAllowed: "notAllowed"
        }
    }
}

extension CompensatingWrite {
    /// Describes a denial by local rules as the remote would.
    init(_ denial: RuleDenial) {
        let told = Self(reason: denial.reason, details: denial.details)
        self =
            told
            ?? Self(
                objectName: denial.namespace.collection, primaryKey: denial.documentID,
                reason: denial.reason, role: denial.role, cause: .notAllowed)
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
    /// Makes the error of a forbidden write.
    package init(_ write: CompensatingWrite) {
        self.init(
            .rejected, code: CompensatingWrite.code, write.reason, compensatingWrite: write)
    }
}
