internal import BSONStore

/// Ends logical sessions with their cursors and transactions.
enum KillSessionsCommand {
    static let rule = CommandDefinition(
        "killSessions", [], fields: [:],
        .store { call, store in
            // The `uid` names a session of another user.
            let others = SessionTable.sessions(call.target.arrayValue).filter { $0["uid"] != nil }
            let namesNone = call.target.arrayValue?.isEmpty != false
            store.end(
                try namesNone
                    ? store.sessions.all.map(\.document)
                    : call.ownSessions(call.target.arrayValue) + others)
            return .ok
        })
}
