internal import BSONStore

/// Ends logical sessions and what belongs to them.
enum EndSessionsCommand {
    static let rule = CommandRule(
        "endSessions", [.stable, .unauthenticated], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) -> CommandOutcome {
        let ended = (call.target.arrayValue ?? []).compactMap(\.documentValue)
        store.sessions.end(ended)
        for session in ended { store.cursors.kill(session: session) }
        return .ok
    }
}
