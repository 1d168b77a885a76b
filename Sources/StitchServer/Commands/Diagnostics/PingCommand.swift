internal import BSONStore

/// Replies to show that the server is reachable.
enum PingCommand {
    static let definition = CommandDefinition(
        "ping", aliases: [], [.stable, .unauthenticated, .whileStopping, .vital],
        fields: [:], required: [],
        privileges: .access(.read), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none, .server { _ in .ok })
}
