internal import BSONStore

/// Tells a client its own address.
enum WhatsMyURICommand {
    static let rule = CommandDefinition(
        "whatsmyuri", [.unauthenticated], fields: [:],
        .server { call in
            .reply(["you": .string(call.connection.peer)])
        })
}
