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
    static func access(_ rule: CommandRule) -> Role.Access {
        let name = rule.name
        if administratesUsers.contains(name) { return .userAdministration }
        if administratesCluster.contains(name) { return .clusterAdministration }
        if monitors.contains(name) { return .monitoring }
        if needsSignIn.contains(name) { return .signedIn }
        if administratesDatabase.contains(name) { return .databaseAdministration }
        if ["insert", "update", "delete", "findAndModify"].contains(name) { return .write }
        return rule.traits.contains(.writes) ? .collections : .read
    }

    /// Checks a command.
    ///
    /// - Parameter user: who signed in.
    /// - Throws: 13 (Unauthorized).
    static func check(
        _ rule: CommandRule, _ call: CommandCall, _ user: SignedInUser?
    ) throws(CommandFault) {
        guard !rule.traits.contains(.unauthenticated) else { return }
        guard let user else {
            throw CommandFault(13, "Command \(rule.name) requires authentication")
        }
        for (access, database) in try needs(rule, call)
        where access != .signedIn && !user.has(access, on: database) {
            throw CommandFault(
                13,
                "not authorized on \(database) to execute command "
                    + call.body.extendedJSON(.relaxed))
        }
    }

    /// All that a command needs, also on other databases than its own.
    private static func needs(
        _ rule: CommandRule, _ call: CommandCall
    ) throws(CommandFault) -> [(Role.Access, String)] {
        let database = call.database
        // What was denied to whom is for those who look after the server, not for all who read.
        if DeniedWrites.isRead(by: call) {
            let own = rule.name == "aggregate" ? aggregateNeeds(call).dropFirst() : []
            return [(.databaseAdministration, database)] + own
        }
        switch rule.name {
        case "bulkWrite":
            return try BulkWriteCommand.namespaces(call).map { need(.write, of: $0) }
        case "renameCollection":
            let names = [call.target.stringValue, call.string("to")].compactMap(\.self)
            return names.map { need(.collections, of: $0) }
        case "aggregate", "explain": return aggregateNeeds(call)
        case "mapReduce":
            let read = [(Role.Access.read, database)]
            // The value that the command is carried out with, too.
            let output = try MapReduceOutput(call["out"] ?? .null)
            guard let target = output.target(from: database) else {
                return read + needsForUsers(call)
            }
            return read + [need(.write, of: target)] + needsForUsers(call)
        case "killCursors", "getMore":
            // Cursors belong to sessions and namespaces, which are checked there.
            return [(.read, database)]
        case "createUser", "updateUser", "grantRolesToUser", "revokeRolesFromUser":
            return [(.userAdministration, database)] + givenRoles(call)
        case "usersInfo": return UsersInfoCommand.databases(call).map { (access(rule), $0) }
        default:
            let isSystem =
                call.target.stringValue?.hasPrefix("system.") == true && database == "admin"
            let own = [(isSystem ? .userAdministration : access(rule), database)]
            // A view of the users' credentials shows them.
            return ["create", "collMod"].contains(rule.name) ? own + needsForUsers(call) : own
        }
    }

    /// Roles are given and taken away by who administrates the users of the roles' databases.
    ///
    /// Source: MongoDB manual, "createUser", section "Required Access".
    private static func givenRoles(_ call: CommandCall) -> [(Role.Access, String)] {
        (call.array("roles") ?? []).compactMap { $0.documentValue?["db"]?.stringValue }
            .map { (.userAdministration, $0) }
    }

    /// What a collection needs that is named with its database.
    private static func need(_ access: Role.Access, of name: String) -> (Role.Access, String) {
        if name.hasPrefix("admin.system.") { return (.userAdministration, "admin") }
        // By bytes, as names are read where they are carried out.
        let database = name.utf8.prefix { $0 != UInt8(ascii: ".") }
        return (access, String(decoding: database, as: UTF8.self))
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

    private static func aggregateNeeds(_ call: CommandCall) -> [(Role.Access, String)] {
        var needs: [(Role.Access, String)] = [(.read, call.database)]
        let stages = call.array("pipeline") ?? []
        for stage in stages {
            guard let (name, value) = stage.documentValue?.first(where: { _ in true }) else {
                continue
            }
            let into = value.documentValue?["into"]?.documentValue ?? value.documentValue
            let database = into?["db"]?.stringValue ?? call.database
            if name == "$out" || name == "$merge" {
                let coll = into?["coll"]?.stringValue ?? value.documentValue?["into"]?.stringValue
                let named = coll ?? value.stringValue ?? ""
                needs.append(need(.write, of: Namespace(database, named)))
            }
            if name == "$changeStream",
                value.documentValue?["allChangesForCluster"]?.isTrue == true
            {
                needs.append((.read, ""))
            }
        }
        return needs + needsForUsers(call)
    }
}
