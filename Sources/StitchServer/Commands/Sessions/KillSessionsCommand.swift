internal import BSONStore

/// Ends logical sessions with their commands, cursors and transactions.
enum KillSessionsCommand {
    static let definition = CommandDefinition(
        "killSessions", aliases: [], [.vital],
        fields: [:], required: [],
        privileges: .sessions, underRules: .refused, gateway: .endsSessions(stopsCommands: true),
        statements: nil, cursor: .none,
        .store { call, backend in
            try NamedSessions.check(call.target, of: call.name)
            let ended = try sessions(call, backend)
            // The end of a transaction would wait for the command in it.
            call.server.operations.stop(sessions: ended, except: call.budget)
            for session in ended {
                try WorkBudget.spend()
                try backend.end(session)
            }
            return .ok
        })

    /// Returns the sessions that a command names; all for one that names none.
    static func sessions(
        _ call: CommandCall, _ backend: StoreBackend
    ) throws -> [BSONDocument] {
        let named = call.target.arrayValue
        guard named?.isEmpty == false else { return backend.sessions.all.map(\.document) }
        var sessions: [BSONDocument] = []
        try call.forEachOwnSession(named) { sessions.append($0) }
        for value in named ?? [] {
            try WorkBudget.spend()
            // The `uid` names a session of another user.
            guard let session = value.documentValue, session["uid"] != nil,
                SessionTable.hasID(session)
            else { continue }
            sessions.append(session)
        }
        return sessions
    }
}
