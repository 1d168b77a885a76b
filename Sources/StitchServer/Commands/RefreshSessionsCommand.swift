internal import BSONStore

/// Keeps logical sessions from ending for want of use.
enum RefreshSessionsCommand {
    static let rule = CommandRule(
        "refreshSessions", [.unauthenticated], fields: [:],
        .store { call, store in
            for value in call.target.arrayValue ?? [] {
                if let session = value.documentValue { store.sessions.touch(session) }
            }
            return .ok
        })
}
