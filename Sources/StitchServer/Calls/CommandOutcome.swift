internal import BSONStore

/// Says what became of a command for now.
enum CommandOutcome: Sendable {
    /// It is answered; the general fields are added later.
    case reply(BSONDocument)
    /// It is answered when something happens, or its time is over.
    case waiting(CommandWait)
    /// It goes on where it may hold a thread until somebody else's transaction ends.
    case blocking(@Sendable () -> CommandOutcome)
    /// The connection is to be closed without an answer.
    case close

    /// An answer of nothing but `ok`.
    static var ok: CommandOutcome { .reply(BSONDocument()) }
}

/// A command that waits, without a thread, for a commit or the end of its time.
struct CommandWait: Sendable {
    /// Takes what is to be called, and gives what is to be called when it no longer matters.
    typealias Subscription =
        @Sendable (@escaping @Sendable () -> Void) -> (@Sendable () -> Void)

    /// When it goes on at the latest.
    let deadline: ContinuousClock.Instant
    /// Calls back once when there is something new; at once when there is already.
    ///
    /// Gives what takes the wish back.
    let subscribe: Subscription
    /// Goes on; told whether the time is over.
    let again: @Sendable (Bool) throws -> CommandOutcome
    /// Gives up, because the client is gone.
    let abandon: @Sendable () -> Void

    init(
        deadline: ContinuousClock.Instant,
        subscribe: @escaping Subscription = { _ in {} },
        again: @escaping @Sendable (Bool) throws -> CommandOutcome,
        abandon: @escaping @Sendable () -> Void
    ) {
        self.deadline = deadline
        self.subscribe = subscribe
        self.again = again
        self.abandon = abandon
    }

    /// Goes on at a time.
    init(
        until time: ContinuousClock.Instant,
        _ body: @escaping @Sendable () throws -> CommandOutcome
    ) {
        self.init(
            deadline: time, again: { _ in try body() }, abandon: {})
    }
}
