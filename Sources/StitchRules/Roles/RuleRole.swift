internal import BSONStore

/// Is one role of a collection as it was written.
struct RuleRole: Sendable, Hashable {
    /// Shown in denials.
    let name: String
    let place: RuleSourceLocation
    let applyWhen: RuleExpression
    /// The conditions on documents; `nil` where the role has none.
    let filters: DocumentFilters?
    let read: RuleExpression?
    let write: RuleExpression?
    let insert: RuleExpression?
    let delete: RuleExpression?
    let search: RuleExpression?
    /// What is said of fields; `nil` where nothing is.
    let fields: FieldRules?

    /// Whether the role lets some user write some field of some document.
    var mayWrite: Bool {
        let own = [write, insert, delete].compactMap(\.self)
        return own.contains { $0 != .constant(false) } || fields?.mayWrite == true
    }

    /// Conditions on documents.
    struct DocumentFilters: Sendable, Hashable {
        let read: RuleExpression?
        let write: RuleExpression?
    }
}

/// Is what a role says of the fields of a document.
struct FieldRules: Sendable, Hashable {
    let named: [Name: FieldRule]
    /// The permission of every field that is not named.
    let additional: FieldGrant?

    /// Whether some field may be written by somebody.
    var mayWrite: Bool {
        let grants = named.values.map(\.grant) + [additional].compactMap(\.self)
        return grants.contains { $0.write.map { $0 != .constant(false) } ?? false }
            || named.values.contains { $0.nested?.mayWrite == true }
    }
}

/// Is what a role says of reading and writing.
struct FieldGrant: Sendable, Hashable {
    let read: RuleExpression?
    let write: RuleExpression?
}

/// Is what a role says of one field.
struct FieldRule: Sendable, Hashable {
    let grant: FieldGrant
    /// What is said of the fields in it, where it is a document.
    let nested: FieldRules?
}

/// Holds the roles of a collection, or those of all that have none of their own.
struct RoleList: Sendable, Hashable {
    let roles: [RuleRole]
    /// The file that they come from.
    let file: String
    /// Whether the default roles are tried when none of these applies, as it was before 2023.
    let fallsThrough: Bool
}
