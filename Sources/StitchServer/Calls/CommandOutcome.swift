internal import BSONStore

/// The state of a command after one step.
enum CommandOutcome: Sendable {
    /// Finished; the dispatcher adds the general fields to the reply.
    case reply(BSONDocument)
    /// Waiting for an event, or for its deadline.
    case waiting(CommandWait)
    /// To be continued on a thread that may block until another session's transaction ends.
    case blocking(@Sendable () -> CommandOutcome)
    /// Close the connection without a reply.
    case close

    /// A reply with `ok` only.
    static var ok: CommandOutcome { .reply(BSONDocument()) }
}

/// A command that waits for a commit or its deadline, without occupying a thread.
struct CommandWait: Sendable {
    /// Registers a callback, and returns a closure that unregisters it.
    typealias Subscription =
        @Sendable (@escaping @Sendable () -> Void) -> (@Sendable () -> Void)

    /// The deadline, at which the command continues in any case.
    let deadline: ContinuousClock.Instant
    /// Calls back once when there is something new; immediately if there already is.
    ///
    /// Returns a closure that unsubscribes.
    let subscribe: Subscription
    /// Continues the command; the argument is whether the deadline has passed.
    let again: @Sendable (Bool) throws -> CommandOutcome
    /// Releases the command's resources, because the client is gone.
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

    /// Creates a wait that only a deadline ends.
    init(
        until time: ContinuousClock.Instant,
        _ body: @escaping @Sendable () throws -> CommandOutcome
    ) {
        self.init(
            deadline: time, again: { _ in try body() }, abandon: {})
    }
}

extension DelayedFailure {
    /// Returns a wait that reports the failure when its time has come.
    ///
    /// - Throws: the failure, if its time has come already.
    func outcome() throws -> CommandOutcome {
        guard until > .now else { throw fault }
        return .waiting(CommandWait(until: until) { [fault] in throw fault })
    }
}
