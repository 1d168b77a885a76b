internal import BSONStore

/// A failure that is reported to the client only after a delay.
struct DelayedFailure: Error, Sendable {
    let fault: CommandFailure
    let until: ContinuousClock.Instant

    /// Returns a wait that reports the failure when its time has come.
    ///
    /// - Throws: the failure, if its time has come already.
    func outcome() throws -> CommandOutcome {
        guard until > .now else { throw fault }
        return .waiting(CommandWait(until: until) { [fault] in throw fault })
    }
}
