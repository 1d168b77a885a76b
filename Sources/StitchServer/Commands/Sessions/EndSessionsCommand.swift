internal import BSONStore

/// Ends logical sessions that the client no longer needs.
enum EndSessionsCommand {
    static let definition = CommandDefinition(
        "endSessions", aliases: [], [.stable, .unauthenticated],
        fields: [:], required: [],
        privileges: .access(.read), underRules: .harmless,
        gateway: .endsSessions(stopsCommands: false),
        statements: nil, cursor: .none,
        .store { call, backend in
            try call.forEachOwnSession(call.target.arrayValue) { try backend.end($0) }
            return .ok
        })
}
