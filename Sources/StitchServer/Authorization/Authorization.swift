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
        _ rule: CommandDefinition, _ call: CommandCall, _ command: ParsedCommand,
        _ user: SignedInUser
    ) throws(CommandFailure) {
        for need in needs(rule, call, command)
        where need.access != .signedIn && !user.has(need.access, on: need.database) {
            throw CommandFailure(
                13,
                "not authorized on \(need.database) to execute command "
                    + call.body.extendedJSON(.relaxed))
        }
    }

    /// Returns every access that a command needs, also on other databases.
    ///
    /// A command that could not be parsed needs less: it only reports its error.
    static func needs(
        _ rule: CommandDefinition, _ call: CommandCall, _ command: ParsedCommand
    ) -> [AccessNeed] {
        command.needs ?? plainNeeds(rule, call)
    }

    /// Returns what a command needs that names no database but its own.
    private static func plainNeeds(
        _ rule: CommandDefinition, _ call: CommandCall
    ) -> [AccessNeed] {
        let database = call.database
        // The log of denied writes is for operators, not for every reader.
        if call.readsDeniedWrites { return [AccessNeed(.databaseAdministration, on: database)] }
        switch rule.name {
        case "killCursors", "getMore":
            // The cursor table checks the session and the namespace.
            return [AccessNeed(.read, on: database)]
        case "killSessions" where endsOwnSessions(call):
            return [AccessNeed(.signedIn, on: database)]
        default:
            let isSystem =
                call.target.stringValue?.hasPrefix("system.") == true && database == "admin"
            let own = [AccessNeed(isSystem ? .userAdministration : access(rule), on: database)]
            // A view of `system.users` would show the credentials.
            return ["create", "collMod"].contains(rule.name) ? own + needsForUsers(call) : own
        }
    }

    /// Whether a command names sessions, and only some of the calling user.
    private static func endsOwnSessions(_ call: CommandCall) -> Bool {
        guard let named = call.target.arrayValue, !named.isEmpty else { return false }
        return named.allSatisfy { $0.documentValue.map { $0["uid"] == nil } ?? false }
    }

    /// Returns the right to administrate users if any part of the command names their credentials.
    static func needsForUsers(_ call: CommandCall) -> [AccessNeed] {
        call.namesCredentials ? [AccessNeed(.userAdministration, on: "admin")] : []
    }
}
