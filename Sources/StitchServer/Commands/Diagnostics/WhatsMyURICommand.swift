internal import BSONStore

/// Reports the client's own address.
enum WhatsMyURICommand {
    static let definition = CommandDefinition(
        "whatsmyuri", aliases: [], [.unauthenticated, .vital],
        fields: [:], required: [],
        privileges: .access(.read), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .reply(["you": .string(call.connection.peer)])
        })
}
