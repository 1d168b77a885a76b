public import BSONStore

/// The denial of a write by a rule.
public struct RuleDenial: Error, Sendable, Hashable {
    /// The rule that denied the write.
    public let cause: DenialCause
    /// The user's role; `nil` without one.
    public let role: String?
    /// The collection of the write.
    public let namespace: Namespace
    /// The `_id` of the document.
    public let documentID: BSONValue

    /// Makes a denial.
    public init(cause: DenialCause, role: String?, namespace: Namespace, documentID: BSONValue) {
        self.cause = cause
        self.role = role
        self.namespace = namespace
        self.documentID = documentID
    }

    /// The reason in Device Sync's wording, with what the role lacks.
    ///
    /// It names only what ``details`` hold, and of fields only those of the writer's own change.
    ///
    /// Source: App Services documentation, "Compensating Writes"; realm-core's tests.
    public var reason: String {
        let start = "write to \(Self.text(of: documentID)) in table \"\(namespace.collection)\""
        switch cause {
        case .writeFilter:
            guard let role else { return "\(start) not allowed" }
            return "\(start) was denied by write filter in role \"\(role)\""
        case .fieldsDenied(let paths) where !paths.isEmpty:
            let names = paths.map { "\"\($0)\"" }.joined(separator: ", ")
            let verb = paths.count == 1 ? "is" : "are"
            let place = role.map { " in role \"\($0)\"" } ?? ""
            return "\(start) not allowed: \(names) \(verb) read-only\(place)"
        case .noRole: return "\(start) not allowed: no role applies"
        case .insertDenied: return "\(start) not allowed\(lack(of: "insert"))"
        case .deleteDenied: return "\(start) not allowed\(lack(of: "delete"))"
        case .writeDenied: return "\(start) not allowed\(lack(of: "write"))"
        case .roleNotSyncable, .fieldsDenied, .outOfView, .noSubscription, .invalid, .tooLarge,
            .notAllowed:
            return "\(start) not allowed"
        }
    }

    private func lack(of permission: String) -> String {
        role.map { ": role \"\($0)\" allows no \(permission)" } ?? ""
    }

    /// The details that a client receives as well as the reason.
    public var details: BSONDocument {
        Self.details(cause, role: role, table: namespace.collection, id: documentID)
    }

    /// Returns the details of a denied write, as they are sent and stored.
    package static func details(
        _ cause: DenialCause, role: String?, table: String, id: BSONValue
    ) -> BSONDocument {
        var details: BSONDocument = ["cause": .string(cause.name)]
        if let role { details.append("role", .string(role)) }
        details.append("table", .string(table))
        details.append("primaryKey", id)
        if case .fieldsDenied(let paths) = cause {
            details.append("fields", .array(BSONArray(paths.map(BSONValue.string))))
        }
        return details
    }

    /// Returns an id as reasons show it: quoted, ObjectIds as their digits.
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
