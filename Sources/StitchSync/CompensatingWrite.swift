public import BSONStore

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

    /// Reads what a remote says of a write that it did not allow, as `errInfo` has it.
    ///
    /// - Returns: `nil` where rules are not what the error is about.
    package init?(reason: String, details: BSONDocument?) {
        guard let details, let name = details["cause"]?.stringValue,
            let table = details["table"]?.stringValue, let id = details["primaryKey"],
            let cause = Self.cause(name, details)
        else { return nil }
        objectName = table
        primaryKey = id
        self.reason = reason
        role = details["role"]?.stringValue
        self.cause = cause
    }

    private static func cause(_ name: String, _ details: BSONDocument) -> Cause? {
        switch name {
        case "noRole": .noRole
        case "roleNotSyncable": .roleNotSyncable
        case "writeFilter": .writeFilter(isOfResult: false)
        case "writeFilterAfter": .writeFilter(isOfResult: true)
        case "insertDenied": .insertDenied
        case "deleteDenied": .deleteDenied
        case "writeDenied": .writeDenied
        case "fieldsDenied":
            .fieldsDenied(details["fields"]?.arrayValue?.compactMap(\.stringValue) ?? [])
        case "notAllowed": .notAllowed
        default: nil
        }
    }
}

extension RemoteError {
    /// Makes the error of a write that the remote did not allow.
    package init(_ write: CompensatingWrite) {
        self.init(
            .rejected, code: CompensatingWrite.code, write.reason, compensatingWrite: write)
    }
}

extension SyncError {
    /// What the remote says of a write that it did not allow; `nil` for other errors.
    public var compensatingWrite: CompensatingWrite? {
        (underlying as? RemoteError)?.compensatingWrite
    }
}
