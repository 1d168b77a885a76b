/// Answers that the server is there.
enum PingCommand {
    static let rule = CommandRule(
        "ping", [.stable, .unauthenticated, .whileStopping], fields: [:], .server { _ in .ok })
}
