internal import BSONStore

/// One role of a collection as written in the rules.
struct RuleRole: Sendable, Hashable {
    /// The name, which denials mention.
    let name: Name
    let place: RuleSourceLocation
    let applyWhen: RuleExpression
    /// The conditions on documents; `nil` without any.
    let filters: DocumentFilters?
    let read: RuleExpression?
    let write: RuleExpression?
    let insert: RuleExpression?
    let delete: RuleExpression?
    let search: RuleExpression?
    /// The rules for fields; `nil` without any.
    let fields: FieldRules?

    /// Whether the role may let some user write some field of some document.
    var mayWrite: Bool {
        let own = [write, insert, delete].compactMap(\.self)
        return own.contains { $0 != .constant(false) } || fields?.mayWrite == true
    }

    /// The conditions on documents.
    struct DocumentFilters: Sendable, Hashable {
        let read: RuleExpression?
        let write: RuleExpression?
    }
}

/// A role's rules for the fields of a document.
struct FieldRules: Sendable, Hashable {
    let named: [Name: FieldRule]
    /// The permission of every unnamed field.
    let additional: FieldGrant?

    /// Whether some user may write some field.
    var mayWrite: Bool {
        let grants = named.values.map(\.grant) + [additional].compactMap(\.self)
        return grants.contains { $0.write.map { $0 != .constant(false) } ?? false }
            || named.values.contains { $0.nested?.mayWrite == true }
    }
}

/// A role's read and write permissions.
struct FieldGrant: Sendable, Hashable {
    let read: RuleExpression?
    let write: RuleExpression?
}

/// A role's rule for one field.
struct FieldRule: Sendable, Hashable {
    let grant: FieldGrant
    /// The rules for the fields inside it, if it is a document.
    let nested: FieldRules?
}

/// The roles of a collection, or the default roles.
struct RoleList: Sendable, Hashable {
    let roles: [RuleRole]
    /// The file of the roles.
    let file: String
    /// Whether the default roles are tried when none of these applies, as before 2023.
    let fallsThrough: Bool
}
