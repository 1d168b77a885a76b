internal import BSONStore

/// Ends all logical sessions with their commands, cursors and transactions.
enum KillAllSessionsCommand {
    static let rule = CommandDefinition(
        "killAllSessions", aliases: ["killAllSessionsByPattern"], [], fields: [:],
        .store { call, store in
            let ended = store.sessions.all.map(\.document)
            // The end of a transaction would wait for the command in it.
            call.server.operations.stop(sessions: ended, except: call.budget)
            store.end(ended)
            return .ok
        })
}
