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
            backend.end(try call.ownSessions(call.target.arrayValue))
            return .ok
        })
}
