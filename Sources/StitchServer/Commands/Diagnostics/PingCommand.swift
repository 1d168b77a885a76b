/// Answers that the server is there.
enum PingCommand {
    static let rule = CommandDefinition(
        "ping", [.stable, .unauthenticated, .whileStopping], fields: [:], .server { _ in .ok })
}
