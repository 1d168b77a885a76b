internal import BSONStore

extension Dispatcher {
    /// Parses a command, and checks whether the user may run it.
    ///
    /// While the server has no users, a client on the same machine may create the first one.
    ///
    /// - Throws: 13 (Unauthorized), 391 when the sign-in has expired.
    func authorize(_ definition: CommandDefinition, _ call: CommandCall) throws -> ParsedCommand {
        guard server.settings.requiresSignIn, !definition.traits.contains(.unauthenticated) else {
            return parse(definition, call)
        }
        let user = try backend.signedIn(call.connection)
        if user == nil, definition.traits.contains(.createsFirstUser), call.database == "admin",
            call.connection.isLoopback, try backend.hasNoUsers()
        {
            return parse(definition, call)
        }
        // Clients without access do not learn the command's syntax from errors.
        let signedIn = try Authorization.known(user, definition)
        if try backend.isUnderRules(call) { try RestrictedUse.check(definition, call) }
        let command = call.seeingRoles { parse(definition, call) }
        try Authorization.check(definition, call, command, signedIn)
        return command
    }

    /// Checks whether the user may still run a command that was authorized and has waited.
    ///
    /// - Throws: 13 (Unauthorized), 391 when the sign-in has expired.
    func reauthorize(
        _ definition: CommandDefinition, _ call: CommandCall, _ command: ParsedCommand
    ) throws {
        guard server.settings.requiresSignIn, !definition.traits.contains(.unauthenticated) else {
            return
        }
        let user = try Authorization.known(backend.signedIn(call.connection), definition)
        try Authorization.check(definition, call, command, user)
    }

    private func parse(_ definition: CommandDefinition, _ call: CommandCall) -> ParsedCommand {
        let command = backend.parse(definition, call)
        if let collection = call.serverCollection {
            return command.answering { try collection.answer(call, $0) }
        }
        guard call.flag("apiStrict") else { return command }
        return command.answering { store in
            try StableAPI.checkIndexes(definition, call, store)
            return try command.answer(store)
        }
    }
}
