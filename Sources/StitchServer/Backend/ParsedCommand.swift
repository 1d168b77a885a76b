internal import BSONStore

/// A command whose arguments are parsed once: authorization and execution use the same values, so
/// they cannot read different databases from them.
///
/// A command without such arguments, such as `find`, reads its own when it runs.
struct ParsedCommand: Sendable {
    /// The access that the arguments ask for; `nil` for a command that names no database but its
    /// own.
    let needs: [AccessNeed]?
    /// The error of the arguments that name other places; `nil` where they could be parsed.
    ///
    /// Then the needs are not known, so a gateway answers it and forwards nothing.
    let fault: (any Error)?
    /// Runs the command, or throws the error of parsing it.
    let answer: @Sendable (StoreBackend) throws -> CommandOutcome

    init(
        needs: [AccessNeed]?, fault: (any Error)? = nil,
        _ answer: @escaping @Sendable (StoreBackend) throws -> CommandOutcome
    ) {
        self.needs = needs
        self.fault = fault
        self.answer = answer
    }

    /// Returns a command with the same needs and another implementation.
    func answering(
        _ answer: @escaping @Sendable (StoreBackend) throws -> CommandOutcome
    ) -> ParsedCommand {
        ParsedCommand(needs: needs, fault: fault, answer)
    }
}
