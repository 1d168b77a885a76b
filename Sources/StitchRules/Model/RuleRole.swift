internal import BSONStore

/// Is one role of a collection as it was written.
struct RuleRole: Sendable, Hashable {
    /// Shown in denials.
    let name: String
    let place: RulePlace
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
