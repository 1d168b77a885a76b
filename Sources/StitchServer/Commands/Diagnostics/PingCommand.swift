internal import BSONStore

/// Replies to show that the server is reachable.
enum PingCommand {
    static let rule = CommandDefinition(
        "ping", [.stable, .unauthenticated, .whileStopping], fields: [:], .server { _ in .ok })
}
