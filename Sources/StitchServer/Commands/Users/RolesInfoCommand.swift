internal import BSONStore

/// Describes roles; the server has the built-in ones only.
///
/// Source: MongoDB manual, "rolesInfo".
enum RolesInfoCommand {
    static let definition = CommandDefinition(
        "rolesInfo", aliases: [], [],
        fields: [
            "showAuthenticationRestrictions": .flag, "showBuiltinRoles": .flag,
            "showPrivileges": .any,
        ], required: [],
        privileges: .access(.userAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none, .server(run))

    private static func run(_ call: CommandCall) throws -> CommandOutcome {
        let roles = try wanted(call)
        let showsPrivileges = call.body["showPrivileges"]?.isTrue == true
        return .reply([
            "roles": .array(
                BSONArray(roles.map { .document(shown($0, withPrivileges: showsPrivileges)) }))
        ])
    }

    /// Returns the roles that a command asks for; names of unknown roles are left out.
    ///
    /// - Throws: 2 (BadValue) for an invalid name of a role, and the end of the command's time.
    private static func wanted(_ call: CommandCall) throws -> [Role] {
        let names: BSONArray
        switch call.target {
        case .string, .document: names = [call.target]
        case .array(let list): names = list
        default:
            guard call.flag("showBuiltinRoles") else { return [] }
            return Role.all(of: call.database)
        }
        var roles: [Role] = []
        var seen: Set<Role> = []
        for name in names {
            try WorkBudget.spend()
            let role = try Role.named(name, on: call.database)
            if role.isKnown, seen.insert(role).inserted { roles.append(role) }
        }
        return roles
    }

    private static func shown(_ role: Role, withPrivileges: Bool) -> BSONDocument {
        var document: BSONDocument = [
            "_id": .string("\(role.database).\(role.name)"),
            "role": .string(role.name), "db": .string(role.database), "isBuiltin": true,
            "roles": [], "inheritedRoles": [],
        ]
        if withPrivileges {
            let privileges = RolePrivileges(role).value
            document.append("privileges", privileges)
            document.append("inheritedPrivileges", privileges)
        }
        return document
    }
}
