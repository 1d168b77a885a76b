internal import BSONStore

/// Reports the client's own address.
enum WhatsMyURICommand {
    static let rule = CommandDefinition(
        "whatsmyuri", [.unauthenticated], fields: [:],
        .server { call in
            .reply(["you": .string(call.connection.peer)])
        })
}
