internal import BSONStore

/// Tells who is signed in on a connection.
enum ConnectionStatusCommand {
    static let rule = CommandRule(
        "connectionStatus", [.unauthenticated, .stable], fields: ["showPrivileges": .flag],
        .server { call in
            .reply(["authInfo": ["authenticatedUsers": [], "authenticatedUserRoles": []]])
        })
}
