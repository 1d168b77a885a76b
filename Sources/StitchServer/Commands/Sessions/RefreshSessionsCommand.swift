internal import BSONStore

/// Keeps idle logical sessions alive.
enum RefreshSessionsCommand {
    static let definition = CommandDefinition(
        "refreshSessions", aliases: [], [],
        fields: [:], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .store { call, backend in
            try NamedSessions.check(call.target, of: call.name)
            let owner = call.connection.sessionOwner
            try call.forEachOwnSession(call.target.arrayValue) { session in
                try backend.sessions.touch(session, of: owner)
            }
            return .ok
        })
}
