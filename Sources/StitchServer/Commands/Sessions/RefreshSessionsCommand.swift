internal import BSONStore

/// Keeps logical sessions from ending for want of use.
enum RefreshSessionsCommand {
    static let rule = CommandDefinition(
        "refreshSessions", [], fields: [:],
        .store { call, store in
            for session in try call.ownSessions(call.target.arrayValue) {
                store.sessions.touch(session)
            }
            return .ok
        })
}
