internal import BSONStore

/// Reports the user signed in on a connection.
enum ConnectionStatusCommand {
    static let definition = CommandDefinition(
        "connectionStatus", aliases: [], [.unauthenticated, .stable, .vital],
        fields: ["showPrivileges": .flag], required: [],
        privileges: .access(.read), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let user = call.connection.state.withLock { $0.user }
            let users = user.map {
                BSONValue.document(["user": .string($0.name.text), "db": .string($0.database.text)])
            }
            var info: BSONDocument = [
                "authenticatedUsers": .array(BSONArray([users].compactMap(\.self))),
                "authenticatedUserRoles": .array(BSONArray((user?.roles ?? []).map(\.value))),
            ]
            // Not MongoDB's: the user's id in rules, which an app stores in the user's documents.
            if let user { info.append("stitchsyncUserID", .string(user.ruleID)) }
            return .reply(["authInfo": .document(info)])
        })
}
