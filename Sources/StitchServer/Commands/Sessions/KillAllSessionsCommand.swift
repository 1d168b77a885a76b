internal import BSONStore

/// Ends all logical sessions with their commands, cursors and transactions.
enum KillAllSessionsCommand {
    static let definition = CommandDefinition(
        "killAllSessions", aliases: ["killAllSessionsByPattern"], [.vital],
        fields: [:], required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .store { call, backend in
            let ended = try sessions(call, backend)
            // The end of a transaction would wait for the command in it.
            call.server.operations.stop(sessions: ended, except: call.budget)
            for session in ended {
                try WorkBudget.spend()
                try backend.end(session)
            }
            return .ok
        })

    private static let schema = CommandSchema(
        fields: ["user": .string, "db": .string], required: ["user", "db"])

    /// Returns the sessions of the users that a command names; all for one that names none.
    ///
    /// - Throws: 14, 40414 and 40415 for invalid users.
    private static func sessions(
        _ call: CommandCall, _ backend: StoreBackend
    ) throws -> [BSONDocument] {
        let all = backend.sessions.all.map(\.document)
        guard call.givenName == call.name else { return all }
        let field = "\(call.name).\(call.name)"
        var owners: Set<[UInt8]> = []
        for user in try CommandSchema.documents(call.target, named: field) {
            try WorkBudget.spend()
            // A null is a missing field.
            let given = BSONDocument(
                user.filter { $0.value.type != .null }.map { ($0.key, $0.value) })
            try schema.check(given, named: field)
            owners.insert(
                SessionTable.bytes(
                    try SessionTable.userID(
                        name: given["user"]?.stringValue ?? "",
                        database: given["db"]?.stringValue ?? "")))
        }
        return owners.isEmpty
            ? all : all.filter { owners.contains(SessionTable.bytes($0["uid"])) }
    }
}
