internal import BSONStore

/// Ends logical sessions with what runs in them.
enum KillSessionsCommand {
    static let rule = CommandRule(
        "killSessions", [], fields: [:],
        .store { call, store in
            // Somebody else's are named with their `uid`.
            let others = (call.target.arrayValue ?? []).compactMap(\.documentValue)
                .filter { $0["uid"] != nil }
            let named = call.ownSessions(call.target.arrayValue) + others
            store.end(named.isEmpty ? store.sessions.all.map(\.document) : named)
            return .ok
        })
}
