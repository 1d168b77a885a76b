internal import BSONStore

/// Ends logical sessions that the client no longer needs.
enum EndSessionsCommand {
    static let rule = CommandDefinition(
        "endSessions", [.stable, .unauthenticated], fields: [:],
        .store { call, store in
            store.end(try call.ownSessions(call.target.arrayValue))
            return .ok
        })
}
