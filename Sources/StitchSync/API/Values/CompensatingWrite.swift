public import BSONStore
internal import StitchRules

/// Tells of a write that the remote did not allow.
///
/// Device Sync's error 231: not fatal, other documents go on.
public struct CompensatingWrite: Sendable, Hashable {
    /// Which rule it was.
    public enum Cause: Sendable, Hashable {
        /// The user holds no role for the collection.
        case noRole
        /// The role that applies cannot be used with sync.
        case roleNotSyncable
        /// The write filter of the role does not hold for the document as it was, or as it would be.
        case writeFilter(isOfResult: Bool)
        /// The role lets no such document be inserted.
        case insertDenied
        /// The role does not let the document be deleted.
        case deleteDenied
        /// The role does not let the document be written.
        case writeDenied
        /// Fields that the role does not let be written, by their paths.
        case fieldsDenied([String])
        /// No subscription asks for the document, before or after the write.
        case outOfView
        /// There is no subscription for the collection at all.
        case noSubscription
        /// The content is not valid, or a unique index has it already.
        case invalid
        /// The document is too large.
        case tooLarge
        /// The remote does not tell more.
        case notAllowed
    }

    /// Device Sync's number of the error.
    public static let code = 231
    /// Device Sync's words for the error as a whole.
    public static let text =
        "Client attempted a write that is not allowed; it has been reverted"

    /// The name of the collection.
    public let objectName: String
    /// The `_id` of the document.
    public let primaryKey: BSONValue
    /// Why, as `write to "…" in table "…" was denied by write filter in role "…"`.
    public let reason: String
    /// The role that was asked; `nil` where the user holds none.
    public let role: String?
    /// Which rule it was.
    public let cause: Cause

    /// Makes one of its parts.
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
    /// Reads what a remote says of a write that it did not allow, as `errInfo` has it.
    ///
    /// - Returns: `nil` where rules are not what the error is about.
    package init?(reason: String, details: BSONDocument?) {
        guard let details, let name = details["cause"]?.stringValue,
            let table = details["table"]?.stringValue, let id = details["primaryKey"],
            let cause = Self.cause(name, details)
        else { return nil }
        self.init(
            objectName: table, primaryKey: id, reason: reason,
            role: details["role"]?.stringValue, cause: cause)
    }

    /// What ``init(reason:details:)`` reads.
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
    /// The cause in one word, as `errInfo` names it.
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
    /// Names a denial by rules that are known here, as the remote would.
    init(_ denial: RuleDenial) {
        let told = Self(reason: denial.reason, details: denial.details)
        self =
            told
            ?? Self(
                objectName: denial.namespace.collection, primaryKey: denial.documentID,
                reason: denial.reason, role: denial.role, cause: .notAllowed)
    }

    /// Judges a write by what subscriptions ask for: the one function for the case out of view.
    ///
    /// - Returns: `nil` for a write that is legal as far as the view goes.
    static func judge(
        _ facts: ViewWriteFacts, of id: BSONValue, in namespace: Namespace
    ) -> CompensatingWrite? {
        let cause: Cause
        switch ViewWriteDecision.decide(facts) {
        case .legal, .legalAndLeaves: return nil
        case .outOfView: cause = .outOfView
        case .noSubscription: cause = .noSubscription
        }
        let start = RuleDenial(
            cause: .hidden, role: nil, namespace: namespace, documentID: id
        ).reason
        return CompensatingWrite(
            objectName: namespace.collection, primaryKey: id,
            reason: start + "; object is outside of the current query view", cause: cause)
    }

    /// Names a write that the remote refused for another reason than rules.
    init(refused error: RemoteError, of id: BSONValue, in namespace: Namespace) {
        self.init(
            objectName: namespace.collection, primaryKey: id, reason: error.message,
            cause: Self.tooLargeCodes.contains(error.code)
                ? .tooLarge : error.code == 13 ? .notAllowed : .invalid)
    }

    /// BSONObjectTooLarge, and the codes of a document that is too large after an update.
    private static let tooLargeCodes: Set<Int> = [10_334, 17_419, 17_420]
}

extension RemoteError {
    /// Makes the error of a write that the remote did not allow.
    package init(_ write: CompensatingWrite) {
        self.init(
            .rejected, code: CompensatingWrite.code, write.reason, compensatingWrite: write)
    }
}
