internal import BSONStore

/// Ends logical sessions that the client needs no more.
enum EndSessionsCommand {
    static let rule = CommandRule(
        "endSessions", [.stable, .unauthenticated], fields: [:],
        .store { call, store in
            store.end(call.ownSessions(call.target.arrayValue))
            return .ok
        })
}
