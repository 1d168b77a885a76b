internal import BSONStore

/// The check whether a user's roles allow a command.
enum Authorization {
    private static let administratesUsers: Set<String> = [
        "createUser", "updateUser", "dropUser", "dropAllUsersFromDatabase",
        "grantRolesToUser", "revokeRolesFromUser", "usersInfo",
    ]
    private static let administratesCluster: Set<String> = [
        "setParameter", "configureFailPoint", "fsync", "killOp", "logRotate",
        "setFeatureCompatibilityVersion", "killAllSessions", "killSessions", "reloadRules",
        "replSetFreeze", "replSetStepDown",
    ]
    private static let monitors: Set<String> = [
        "serverStatus", "getParameter", "getCmdLineOpts", "getLog", "top", "currentOp",
        "replSetGetStatus", "replSetGetConfig", "getDefaultRWConcern", "connPoolStats",
    ]
    private static let needsSignIn: Set<String> = [
        "startSession", "refreshSessions", "commitTransaction", "abortTransaction", "features",
        "hostInfo", "listDatabases", "getLastError", "logout",
    ]
    private static let administratesDatabase: Set<String> = [
        "collMod", "profile", "reIndex", "compact", "dropDatabase", "validate",
        "planCacheClear",
    ]

    /// Returns the access that a command needs on its own database.
    static func access(_ rule: CommandDefinition) -> Role.Access {
        let name = rule.name
        if administratesUsers.contains(name) { return .userAdministration }
        if administratesCluster.contains(name) { return .clusterAdministration }
        if monitors.contains(name) { return .monitoring }
        if needsSignIn.contains(name) { return .signedIn }
        if administratesDatabase.contains(name) { return .databaseAdministration }
        if ["insert", "update", "delete", "findAndModify"].contains(name) { return .write }
        return rule.traits.contains(.writes) ? .collections : .read
    }

    /// Returns the signed-in user.
    ///
    /// - Throws: 13 (Unauthorized) without one.
    static func known(
        _ user: SignedInUser?, _ rule: CommandDefinition
    ) throws(CommandFailure) -> SignedInUser {
        guard let user else {
            throw CommandFailure(13, "Command \(rule.name) requires authentication")
        }
        return user
    }

    /// Checks the roles of a user against all that a parsed command needs.
    ///
    /// - Parameter user: the signed-in user.
    /// - Throws: 13 (Unauthorized).
    static func check(
        _ rule: CommandDefinition, _ call: CommandCall, _ user: SignedInUser
    ) throws(CommandFailure) {
        for (access, database) in needs(rule, call)
        where access != .signedIn && !user.has(access, on: database) {
            throw CommandFailure(
                13,
                "not authorized on \(database) to execute command "
                    + call.body.extendedJSON(.relaxed))
        }
    }

    /// Returns every access that a command needs, also on other databases.
    ///
    /// A command that could not be parsed needs less: it only reports its error.
    private static func needs(
        _ rule: CommandDefinition, _ call: CommandCall
    ) -> [(Role.Access, String)] {
        let database = call.database
        // The log of denied writes is for operators, not for every reader.
        if DeniedWrites.isRead(by: call) {
            return [(.databaseAdministration, database)] + otherNeeds(call)
        }
        switch call.parsed {
        case .bulkWrite(.success(let namespaces)):
            return namespaces.map { need(.write, of: $0) }
        case .rename(.success(let request)):
            return [request.source, request.target].map { need(.collections, of: $0) }
        case .aggregate, .mapReduce:
            return [(.read, database)] + otherNeeds(call) + needsForUsers(call)
        // An explanation reveals as much as the command itself.
        case .explain(.success(let request)): return needs(request.rule, request.call)
        case .roles(.success(let roles)):
            // The user administrators of a role's database grant and revoke it.
            return [(.userAdministration, database)]
                + (roles ?? []).map { (.userAdministration, $0.database) }
        case .users(.success(let users)): return users.databases.map { (access(rule), $0) }
        case .bulkWrite, .rename: return []
        case .explain: return [(.read, database)]
        case .roles, .users, .plain: return plainNeeds(rule, call)
        }
    }

    /// Returns what a command needs that names no database but its own.
    private static func plainNeeds(
        _ rule: CommandDefinition, _ call: CommandCall
    ) -> [(Role.Access, String)] {
        let database = call.database
        switch rule.name {
        case "killCursors", "getMore":
            // The cursor table checks the session and the namespace.
            return [(.read, database)]
        default:
            let isSystem =
                call.target.stringValue?.hasPrefix("system.") == true && database == "admin"
            let own = [(isSystem ? .userAdministration : access(rule), database)]
            // A view of `system.users` would show the credentials.
            return ["create", "collMod"].contains(rule.name) ? own + needsForUsers(call) : own
        }
    }

    /// Returns the access needed to a collection, stricter for that of the users.
    private static func need(_ access: Role.Access, of name: Namespace) -> (Role.Access, String) {
        let isOfUsers = name.database == "admin" && name.collection.hasPrefix("system.")
        return isOfUsers ? (.userAdministration, "admin") : (access, name.database)
    }

    /// Returns the right to administrate users if any part of the command names their credentials.
    private static func needsForUsers(_ call: CommandCall) -> [(Role.Access, String)] {
        guard call.database == "admin", call.body.extendedJSON().contains("system.users") else {
            return []
        }
        return [(.userAdministration, "admin")]
    }

    /// Returns what a command needs in addition to reading its own database.
    private static func otherNeeds(_ call: CommandCall) -> [(Role.Access, String)] {
        switch call.parsed {
        case .aggregate(let aggregate):
            let targets = aggregate.target.map { [need(.write, of: $0)] } ?? []
            return targets + (aggregate.isForCluster ? [(.read, "")] : [])
        case .mapReduce(.success(let request)):
            let target = request.output.target(from: call.database)
            return target.map { [need(.write, of: $0)] } ?? []
        default: return []
        }
    }
}
