internal import BSONStore

/// The check whether a user's roles allow a command.
enum Authorization {
    /// Returns the signed-in user.
    ///
    /// - Throws: 13 (Unauthorized) without one.
    static func known(
        _ user: SignedInUser?, _ definition: CommandDefinition
    ) throws(CommandFailure) -> SignedInUser {
        guard let user else {
            throw CommandFailure(13, "Command \(definition.name) requires authentication")
        }
        return user
    }

    /// Checks the roles of a user against all that a parsed command needs.
    ///
    /// - Parameter user: the signed-in user.
    /// - Throws: 13 (Unauthorized).
    static func check(
        _ definition: CommandDefinition, _ call: CommandCall, _ command: ParsedCommand,
        _ user: SignedInUser
    ) throws(CommandFailure) {
        for need in needs(definition, call, command)
        where need.access != .signedIn && !user.has(need.access, on: need.database) {
            throw CommandFailure(
                13,
                "not authorized on \(need.database) to execute command "
                    + call.bodyWithoutSecrets.extendedJSON(.relaxed))
        }
    }

    /// Returns every access that a command needs, also on other databases.
    ///
    /// A command that could not be parsed needs less: it only reports its error, also at a gateway
    /// (``ParsedCommand/fault``). A pipeline needs the same whether or not it could be parsed.
    static func needs(
        _ definition: CommandDefinition, _ call: CommandCall, _ command: ParsedCommand
    ) -> [AccessNeed] {
        command.needs ?? plainNeeds(definition, call)
    }

    /// Returns what a command needs that names no database but its own.
    private static func plainNeeds(
        _ definition: CommandDefinition, _ call: CommandCall
    ) -> [AccessNeed] {
        let database = call.database
        // Denied writes and conflicts are for operators, not for every reader.
        if call.readsServerCollection { return [AccessNeed(.databaseAdministration, on: database)] }
        switch definition.privileges {
        case .access(let access), .arguments(orElse: let access): return [need(access, call)]
        case .definition(let access): return [need(access, call)] + needsForNamed(call)
        case .cursor: return [AccessNeed(.read, on: database)]
        case .sessions where endsOwnSessions(call): return [AccessNeed(.signedIn, on: database)]
        case .sessions: return [need(.clusterAdministration, call)]
        }
    }

    /// Returns the need of an access to the command's database, stricter for the users.
    private static func need(_ access: Role.Access, _ call: CommandCall) -> AccessNeed {
        let isOfUsers =
            call.database == "admin" && call.target.stringValue?.hasBytePrefix("system.") == true
        return AccessNeed(isOfUsers ? .userAdministration : access, on: call.database)
    }

    /// Whether a command names sessions, and only some of the calling user.
    private static func endsOwnSessions(_ call: CommandCall) -> Bool {
        guard let named = call.target.arrayValue, !named.isEmpty else { return false }
        return named.allSatisfy { $0.documentValue.map { $0["uid"] == nil } ?? false }
    }

    /// Returns the right to administrate users if any part of the command names their credentials, and
    /// the right to read each database that stages of its pipeline name.
    static func needsForNamed(_ call: CommandCall) -> [AccessNeed] {
        StagePlaces(call).read.map { AccessNeed(.read, on: $0) }
            + (call.namesCredentials ? [AccessNeed(.userAdministration, on: "admin")] : [])
    }
}
