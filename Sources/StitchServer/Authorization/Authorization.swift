internal import BSONStore

/// Decides whether a command may be carried out for whom it comes from.
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

    /// What a command needs on its database.
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

    /// Who signed in.
    ///
    /// - Throws: 13 (Unauthorized) where nobody has.
    static func known(
        _ user: SignedInUser?, _ rule: CommandDefinition
    ) throws(CommandFailure) -> SignedInUser {
        guard let user else {
            throw CommandFailure(13, "Command \(rule.name) requires authentication")
        }
        return user
    }

    /// Checks a command that was read.
    ///
    /// - Parameter user: who signed in.
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

    /// All that a command needs, also on other databases than its own.
    ///
    /// One that could not be read needs less: it does nothing but say why.
    private static func needs(
        _ rule: CommandDefinition, _ call: CommandCall
    ) -> [(Role.Access, String)] {
        let database = call.database
        // What was denied to whom is for those who look after the server, not for all who read.
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
        // It tells of what the other command would meet.
        case .explain(.success(let request)): return needs(request.rule, request.call)
        case .roles(.success(let roles)):
            // Roles are given and taken away by who administrates the users of their databases.
            // Source: MongoDB manual, "createUser", section "Required Access".
            return [(.userAdministration, database)]
                + (roles ?? []).map { (.userAdministration, $0.database) }
        case .users(.success(let users)): return users.databases.map { (access(rule), $0) }
        case .bulkWrite, .rename: return []
        case .explain: return [(.read, database)]
        case .roles, .users, .plain: return plainNeeds(rule, call)
        }
    }

    /// What a command needs that names no other database than its own.
    private static func plainNeeds(
        _ rule: CommandDefinition, _ call: CommandCall
    ) -> [(Role.Access, String)] {
        let database = call.database
        switch rule.name {
        case "killCursors", "getMore":
            // Cursors belong to sessions and namespaces, which are checked there.
            return [(.read, database)]
        default:
            let isSystem =
                call.target.stringValue?.hasPrefix("system.") == true && database == "admin"
            let own = [(isSystem ? .userAdministration : access(rule), database)]
            // A view of the users' credentials shows them.
            return ["create", "collMod"].contains(rule.name) ? own + needsForUsers(call) : own
        }
    }

    /// What a collection needs.
    private static func need(_ access: Role.Access, of name: Namespace) -> (Role.Access, String) {
        let isOfUsers = name.database == "admin" && name.collection.hasPrefix("system.")
        return isOfUsers ? (.userAdministration, "admin") : (access, name.database)
    }

    /// Wherever the users' credentials are named, the right to administrate them is needed.
    private static func needsForUsers(_ call: CommandCall) -> [(Role.Access, String)] {
        guard call.database == "admin", call.body.extendedJSON().contains("system.users") else {
            return []
        }
        return [(.userAdministration, "admin")]
    }

    /// What a command that reads its own database needs beside that.
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
