internal import BSONStore

/// Ends logical sessions with what runs in them.
enum KillSessionsCommand {
    static let rule = CommandRule(
        "killSessions", [], fields: [:],
        .store { call, store in
            let ended = (call.target.arrayValue ?? []).compactMap(\.documentValue)
            store.end(ended.isEmpty ? store.sessions.all.map(\.document) : ended)
            return .ok
        })
}
