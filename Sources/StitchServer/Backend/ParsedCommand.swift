internal import BSONStore

/// A command whose arguments are parsed once: authorization and execution use the same values, so
/// they cannot read different databases from them.
///
/// A command without such arguments, such as `find`, reads its own when it runs.
struct ParsedCommand: Sendable {
    /// The access that the arguments ask for; `nil` for a command that names no database but its
    /// own.
    let needs: [AccessNeed]?
    /// Runs the command, or throws the error of parsing it.
    let answer: @Sendable (StoreBackend) throws -> CommandOutcome

    init(
        needs: [AccessNeed]?,
        _ answer: @escaping @Sendable (StoreBackend) throws -> CommandOutcome
    ) {
        self.needs = needs
        self.answer = answer
    }

    /// Returns a command with the same needs and another implementation.
    func answering(
        _ answer: @escaping @Sendable (StoreBackend) throws -> CommandOutcome
    ) -> ParsedCommand {
        ParsedCommand(needs: needs, answer)
    }
}
