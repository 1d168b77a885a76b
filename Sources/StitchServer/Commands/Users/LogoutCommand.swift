internal import BSONStore

/// Signs the user of a connection out.
enum LogoutCommand {
    static let definition = CommandDefinition(
        "logout", aliases: [], [.unauthenticated, .signsIn, .vital],
        fields: [:], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            call.connection.become(nil)
            return .ok
        })
}
