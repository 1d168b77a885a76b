internal import BSONStore

/// Creates, changes and removes users.
///
/// Source: MongoDB manual, "User Management Commands".
enum UserCommands {
    static let create = CommandDefinition(
        "createUser", aliases: [], [.takesWriteConcern, .createsFirstUser],
        fields: [
            "pwd": .string, "customData": .document, "roles": .array,
            "digestPassword": .flag, "mechanisms": .array, "authenticationRestrictions": .array,
            "ruleID": .string,
        ], required: ["roles"],
        privileges: .arguments(orElse: .userAdministration), underRules: .refused,
        gateway: .users(.named),
        statements: nil, cursor: .none,
        takingRoles { roles, call, backend in
            let name = try Self.name(call)
            guard !User.isAmbiguous(name, call.database) else {
                throw CommandFailure(
                    .badValue,
                    "Names of users of \(call.database) must not begin with \"\(User.idMark)\", "
                        + "and none may hold a null character: \"\(name)\" could be taken for the "
                        + "id of a user of another database")
            }
            let isExternal = call.database == "$external"
            guard isExternal || call.string("pwd")?.isEmpty == false else {
                throw CommandFailure(
                    .badValue, "Must provide a 'pwd' field for all user documents")
            }
            guard !isExternal || call["pwd"] == nil else {
                throw CommandFailure(
                    .badValue,
                    "Cannot set the password for users defined on the '$external' "
                        + "database")
            }
            var user = User(name: name, database: call.database)
            user.roles = try roles.get() ?? []
            if let data = call["customData"] { user.customData = data }
            let ruleID = try Self.ruleID(call)
            let usualID = User.usualRuleID(user.name, user.database)
            if let ruleID, !ruleID.hasSameBytes(as: usualID) { user.ruleID = ruleID }
            if let password = call.string("pwd") {
                try user.setPassword(password, Self.mechanisms(call))
            }
            try backend.changeUsers(call) { [user] transaction in
                var user = user
                let id = BSONValue.string(user.id)
                guard try transaction.get(User.namespace, id: id) == nil else {
                    throw CommandFailure(
                        51003, "User \"\(user.name)@\(user.database)\" already exists")
                }
                if ruleID == nil { try FormerName.distinguish(&user, in: transaction) }
                try transaction.put(User.namespace, user.stored)
            }
            return .ok
        })

    static let update = CommandDefinition(
        "updateUser", aliases: [], [.takesWriteConcern],
        fields: [
            "pwd": .string, "customData": .document, "roles": .array,
            "digestPassword": .flag, "mechanisms": .array, "authenticationRestrictions": .array,
            "disabled": .flag,
        ], required: [],
        privileges: .arguments(orElse: .userAdministration), underRules: .refused,
        gateway: .users(.named),
        statements: nil, cursor: .none,
        takingRoles { roles, call, backend in
            let roles = try roles.get()
            let mechanisms = try Self.mechanisms(call)
            try Self.change(call, backend) { user in
                if let roles { user.roles = roles }
                if let data = call["customData"] { user.customData = data }
                if let password = call.string("pwd") {
                    try user.setPassword(password, mechanisms)
                }
                if call["disabled"] != nil {
                    user.isDisabled = call.flag("disabled")
                    if user.isDisabled { user.endSignIns() }
                }
            }
            return .ok
        })

    static let grantRoles = CommandDefinition(
        "grantRolesToUser", aliases: [], [.takesWriteConcern],
        fields: ["roles": .array], required: ["roles"],
        privileges: .arguments(orElse: .userAdministration), underRules: .refused,
        gateway: .users(.named),
        statements: nil, cursor: .none,
        takingRoles { roles, call, backend in
            let roles = try roles.get() ?? []
            try Self.change(call, backend) { user in
                let own = Set(user.roles)
                user.roles += roles.filter { !own.contains($0) }
            }
            return .ok
        })

    static let revokeRoles = CommandDefinition(
        "revokeRolesFromUser", aliases: [], [.takesWriteConcern],
        fields: ["roles": .array], required: ["roles"],
        privileges: .arguments(orElse: .userAdministration), underRules: .refused,
        gateway: .users(.named),
        statements: nil, cursor: .none,
        takingRoles { roles, call, backend in
            let roles = Set(try roles.get() ?? [])
            try Self.change(call, backend) { user in
                user.roles.removeAll { roles.contains($0) }
            }
            return .ok
        })

    static let drop = CommandDefinition(
        "dropUser", aliases: [], [.takesWriteConcern],
        fields: [:], required: [],
        privileges: .access(.userAdministration), underRules: .refused, gateway: .users(.named),
        statements: nil, cursor: .none,
        .store { call, backend in
            let name = try Self.name(call)
            let database = call.database
            try backend.changeUsers(call) { transaction in
                let id = BSONValue.string(User.id(name, database))
                let user = try transaction.get(User.namespace, id: id).flatMap(User.init)
                guard let user, try FormerName.removeUsers([user], in: transaction) > 0 else {
                    throw Self.missing(name, database)
                }
            }
            return .ok
        })

    static let dropAll = CommandDefinition(
        "dropAllUsersFromDatabase", aliases: [], [.takesWriteConcern],
        fields: [:], required: [],
        privileges: .access(.userAdministration), underRules: .refused,
        gateway: .users(.ofDatabase),
        statements: nil, cursor: .none,
        .store { call, backend in
            let filter = try Filter(["db": .string(call.database)])
            let count = try backend.changeUsers(call) { transaction in
                let users = try transaction.find(User.namespace, filter: filter)
                return try FormerName.removeUsers(
                    users.compactMap(User.init), in: transaction)
            }
            return .reply(["n": .int32(Int32(clamping: count))])
        })

    /// The given roles; `nil` where the command names none.
    private typealias Roles = Result<[Role]?, any Error>

    /// Returns the implementation of a command that takes roles.
    ///
    /// The user administrators of a role's database grant and revoke it.
    private static func takingRoles(
        _ run: @escaping @Sendable (Roles, CommandCall, StoreBackend) throws -> CommandOutcome
    ) -> CommandDefinition.Answering {
        .parsed { call, _ in
            let roles = Roles {
                try call.array("roles").map { try Role.roles($0, on: call.database) }
            }
            let needs = roles.map { roles in
                let places = (roles ?? []).map(\.database) + (namesForeignID(call) ? ["admin"] : [])
                return ([call.database] + places).map { AccessNeed(.userAdministration, on: $0) }
            }
            return ParsedCommand(needs: needs.value) { try run(roles, call, $0) }
        }
    }

    /// Whether a command names an id in rules that other users may have had.
    private static func namesForeignID(_ call: CommandCall) -> Bool {
        guard let id = call.string("ruleID") else { return false }
        return !id.hasSameBytes(as: User.usualRuleID(call.target.stringValue ?? "", call.database))
    }

    /// Returns the id in rules that a command names for a new user; `nil` for none.
    ///
    /// - Throws: 2 (BadValue) for an id that could be another user's usual one.
    private static func ruleID(_ call: CommandCall) throws(CommandFailure) -> String? {
        guard let id = call.string("ruleID") else { return nil }
        let isMade =
            [User.accountIDMark, User.guestIDMark].contains { id.utf8.starts(with: $0.utf8) }
            && !id.utf8.contains(0)
        guard !namesForeignID(call) || isMade && call.database != SignedInUser.externalDatabase
        else {
            let usual = User.usualRuleID(call.target.stringValue ?? "", call.database)
            throw CommandFailure(
                .badValue,
                "ruleID must be \"\(usual)\", the usual id of this user, or an id of a former "
                    + "account that begins with \"\(User.accountIDMark)\" or "
                    + "\"\(User.guestIDMark)\"")
        }
        return id
    }

    private static func name(_ call: CommandCall) throws(CommandFailure) -> String {
        guard let name = call.target.stringValue, !name.isEmpty else {
            throw CommandFailure(.badValue, "User names must be non-empty strings")
        }
        return name
    }

    private static func mechanisms(
        _ call: CommandCall
    ) throws(CommandFailure) -> [ScramMechanism] {
        guard let given = call.array("mechanisms") else { return ScramMechanism.allCases }
        var mechanisms: [ScramMechanism] = []
        for value in given {
            guard let mechanism = value.stringValue.flatMap(ScramMechanism.init) else {
                throw CommandFailure(
                    .badValue,
                    "Unknown auth mechanism '\(value.stringValue ?? "")'")
            }
            mechanisms.append(mechanism)
        }
        guard !mechanisms.isEmpty else {
            throw CommandFailure(.badValue, "mechanisms field must not be empty")
        }
        return mechanisms
    }

    private static func change(
        _ call: CommandCall, _ backend: StoreBackend,
        _ body: @escaping @Sendable (inout User) throws -> Void
    ) throws {
        let name = try name(call)
        let database = call.database
        try backend.changeUsers(call) { transaction in
            let id = BSONValue.string(User.id(name, database))
            guard
                var user = try transaction.get(User.namespace, id: id).flatMap(User.init)
            else { throw missing(name, database) }
            try body(&user)
            try transaction.put(User.namespace, user.stored)
        }
    }

    private static func missing(_ name: String, _ database: String) -> CommandFailure {
        CommandFailure(11, "User '\(name)@\(database)' not found")
    }
}
