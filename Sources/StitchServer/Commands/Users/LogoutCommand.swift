internal import BSONStore

/// Signs the user of a connection out.
enum LogoutCommand {
    static let rule = CommandDefinition(
        "logout", [.unauthenticated], fields: [:],
        .server { call in
            call.connection.state.withLock { $0.user = nil }
            return .ok
        })
}
