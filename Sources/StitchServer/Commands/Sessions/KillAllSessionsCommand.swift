internal import BSONStore

/// Ends all logical sessions with their cursors and transactions.
enum KillAllSessionsCommand {
    static let rule = CommandDefinition(
        "killAllSessions", aliases: ["killAllSessionsByPattern"], [], fields: [:],
        .store { call, store in
            store.end(store.sessions.all.map(\.document))
            return .ok
        })
}
