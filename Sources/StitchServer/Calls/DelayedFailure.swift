/// Says why a command was refused, and when the client is told.
struct DelayedFailure: Error, Sendable {
    let fault: CommandFailure
    let until: ContinuousClock.Instant

    /// The answer, in time.
    ///
    /// - Throws: the fault, when it is time already.
    func outcome() throws -> CommandOutcome {
        guard until > .now else { throw fault }
        return .waiting(CommandWait(until: until) { [fault] in throw fault })
    }
}
