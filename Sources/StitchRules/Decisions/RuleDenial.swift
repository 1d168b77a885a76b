public import BSONStore

/// Says why a rule denied a write.
public struct RuleDenial: Error, Sendable, Hashable {
    /// Which rule it was.
    public enum Cause: Sendable, Hashable {
        /// The user holds no role for the collection.
        case noRole
        /// The role that applies cannot be used with sync.
        case roleNotSyncable
        /// The role's write filter does not hold; for the document after an update where so said.
        case writeFilter(after: Bool)
        /// The role does not let documents be inserted.
        case insert
        /// The role does not let documents be deleted.
        case delete
        /// The role does not let documents be written.
        case write
        /// Fields that the role does not let be written, by their paths.
        case fields([String])
        /// The write takes the place of something that the writer must not see.
        case hidden

        /// The cause in one word, as answers name it.
        public var name: String {
            switch self {
            case .noRole: "noRole"
            case .roleNotSyncable: "roleNotSyncable"
            case .writeFilter(after: false): "writeFilter"
            case .writeFilter(after: true): "writeFilterAfter"
            case .insert: "insertDenied"
            case .delete: "deleteDenied"
            case .write: "writeDenied"
            case .fields: "fieldsDenied"
            case .hidden: "notAllowed"
            }
        }
    }

    /// Which rule it was.
    public let cause: Cause
    /// The role that was asked; `nil` where the user holds none.
    public let role: String?
    /// The collection that was written to.
    public let namespace: Namespace
    /// The document that was written.
    public let documentID: BSONValue

    /// Names a denial.
    public init(cause: Cause, role: String?, namespace: Namespace, documentID: BSONValue) {
        self.cause = cause
        self.role = role
        self.namespace = namespace
        self.documentID = documentID
    }

    /// The reason as Device Sync gave it.
    ///
    /// Source: App Services documentation, "Compensating Writes"; realm-core's tests.
    public var reason: String {
        let start = "write to \(Self.text(of: documentID)) in table \"\(namespace.collection)\""
        switch cause {
        case .writeFilter:
            guard let role else { return "\(start) not allowed" }
            return "\(start) was denied by write filter in role \"\(role)\""
        case .noRole, .roleNotSyncable, .insert, .delete, .write, .fields, .hidden:
            return "\(start) not allowed"
        }
    }

    /// What a client is told beside the reason.
    public var details: BSONDocument {
        var details: BSONDocument = ["cause": .string(cause.name)]
        if let role { details.append("role", .string(role)) }
        details.append("table", .string(namespace.collection))
        details.append("primaryKey", documentID)
        if case .fields(let paths) = cause {
            details.append("fields", .array(BSONArray(paths.map(BSONValue.string))))
        }
        return details
    }

    /// Returns an id as the reasons show it: quoted, ObjectIds as their digits.
    static func text(of id: BSONValue) -> String {
        switch id {
        case .string(let text): "\"\(text)\""
        case .objectID(let id): "\"\(id)\""
        case .binary(let binary) where binary.subtype == 4:
            "\"\(RuleConversion.uuidToString.convert(id)?.stringValue ?? "")\""
        default: "\"\(id.extendedJSON(.relaxed))\""
        }
    }
}
