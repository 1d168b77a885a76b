internal import BSONStore

/// Ends logical sessions with what runs in them.
enum KillSessionsCommand {
    static let rule = CommandDefinition(
        "killSessions", [], fields: [:],
        .store { call, store in
            // Somebody else's are named with their `uid`.
            let others = SessionTable.sessions(call.target.arrayValue).filter { $0["uid"] != nil }
            let namesNone = call.target.arrayValue?.isEmpty != false
            store.end(
                try namesNone
                    ? store.sessions.all.map(\.document)
                    : call.ownSessions(call.target.arrayValue) + others)
            return .ok
        })
}
