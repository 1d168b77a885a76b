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
            for session in try call.ownSessions(call.target.arrayValue) {
                try backend.sessions.touch(session, of: call.connection.sessionOwner)
            }
            return .ok
        })
}
