internal import BSONStore

/// Ends logical sessions with their cursors and transactions.
enum KillSessionsCommand {
    static let rule = CommandDefinition(
        "killSessions", [], fields: [:],
        .store { call, store in
            // The `uid` names a session of another user.
            let others = SessionTable.sessions(call.target.arrayValue).filter { $0["uid"] != nil }
            let namesNone = call.target.arrayValue?.isEmpty != false
            let ended =
                try namesNone
                ? store.sessions.all.map(\.document)
                : call.ownSessions(call.target.arrayValue) + others
            // The end of a transaction would wait for the command in it.
            call.server.operations.stop(sessions: ended, for: call)
            store.end(ended)
            return .ok
        })
}
