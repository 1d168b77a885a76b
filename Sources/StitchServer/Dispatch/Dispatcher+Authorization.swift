internal import BSONStore

extension Dispatcher {
    /// Parses a command, and checks whether the user may run it.
    ///
    /// While the server has no users, a client on the same machine may create the first one.
    ///
    /// - Throws: 13 (Unauthorized), 391 when the sign-in has expired.
    func authorize(_ rule: CommandDefinition, _ call: CommandCall) throws -> ParsedCommand {
        guard server.settings.requiresSignIn, !rule.traits.contains(.unauthenticated) else {
            return parse(rule, call)
        }
        let user = try backend.signedIn(call.connection)
        if user == nil, rule.name == "createUser", call.database == "admin",
            call.connection.isLoopback, try backend.hasNoUsers()
        {
            return parse(rule, call)
        }
        // Clients without access do not learn the command's syntax from errors.
        let signedIn = try Authorization.known(user, rule)
        if try backend.isUnderRules(call) { try RestrictedCommands.check(rule, call) }
        let command = call.seeingRoles { parse(rule, call) }
        try Authorization.check(rule, call, command, signedIn)
        return command
    }

    /// Checks whether the user may still run a command that was authorized and has waited.
    ///
    /// - Throws: 13 (Unauthorized), 391 when the sign-in has expired.
    func reauthorize(
        _ rule: CommandDefinition, _ call: CommandCall, _ command: ParsedCommand
    ) throws {
        guard server.settings.requiresSignIn, !rule.traits.contains(.unauthenticated) else {
            return
        }
        let user = try Authorization.known(backend.signedIn(call.connection), rule)
        try Authorization.check(rule, call, command, user)
    }

    private func parse(_ rule: CommandDefinition, _ call: CommandCall) -> ParsedCommand {
        let command = backend.parse(rule, call)
        if call.namesDeniedWrites {
            return command.answering { [server] in try server.denials.answer(call, $0) }
        }
        guard call.flag("apiStrict") else { return command }
        return command.answering { store in
            try StableAPI.checkIndexes(rule, call, store)
            return try command.answer(store)
        }
    }
}
