internal import BSONStore

/// Signs the user of a connection out.
enum LogoutCommand {
    static let rule = CommandDefinition(
        "logout", [.unauthenticated, .signsIn], fields: [:],
        .server { call in
            call.connection.become(nil)
            return .ok
        })
}
