internal import BSONStore

/// Says what became of a command for now.
enum CommandOutcome: Sendable {
    /// It is answered; the general fields are added later.
    case reply(BSONDocument)
    /// It is answered when something happens, or its time is over.
    case waiting(CommandWait)
    /// The connection is to be closed without an answer.
    case close

    /// An answer of nothing but `ok`.
    static var ok: CommandOutcome { .reply(BSONDocument()) }
}

/// A command that waits, without a thread, for a commit or the end of its time.
struct CommandWait: Sendable {
    /// When it goes on at the latest.
    let deadline: ContinuousClock.Instant
    /// Calls back once when there is something new; at once when there is already.
    let subscribe: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Goes on; told whether the time is over.
    let again: @Sendable (Bool) throws -> CommandOutcome
    /// Gives up, because the client is gone.
    let abandon: @Sendable () -> Void
}
