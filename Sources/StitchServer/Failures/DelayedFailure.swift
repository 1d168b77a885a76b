internal import BSONStore

/// A failure that is reported to the client only after a delay.
struct DelayedFailure: Error, Sendable {
    let fault: CommandFailure
    let until: ContinuousClock.Instant
}
