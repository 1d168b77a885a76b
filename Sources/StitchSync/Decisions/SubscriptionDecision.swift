/// Happens to a committed set of subscriptions.
enum SubscriptionEvent: Sendable, Hashable {
    /// The first documents of the set came in.
    case bootstrapBegan
    /// What came in before the end was thrown away.
    case bootstrapCancelled
    /// All documents came in and were applied.
    case bootstrapApplied
    /// The remote refused the set.
    case refused(String)
}

/// Decides how a set of subscriptions goes on.
enum SubscriptionDecision: Hashable {
    /// The set has come to another state.
    case become(SubscriptionState)
    /// Nothing is to be done: it was so, or the set is over.
    case stay
    /// This cannot happen to a set in this state: the remote is wrong.
    case violation

    static func decide(_ state: SubscriptionState, _ event: SubscriptionEvent) -> Self {
        switch (state, event) {
        // An answer that was under way when a later set took over.
        case (.superseded, _): .stay
        case (.pending, .bootstrapBegan): .become(.bootstrapping)
        case (.bootstrapping, .bootstrapBegan): .stay
        case (.pending, .bootstrapCancelled): .stay
        case (.bootstrapping, .bootstrapCancelled): .become(.pending)
        case (.pending, .bootstrapApplied), (.bootstrapping, .bootstrapApplied):
            .become(.complete)
        case (.pending, .refused(let text)), (.bootstrapping, .refused(let text)):
            .become(.error(text))
        // Documents come in again when the rules for the user change.
        case (.complete, .bootstrapBegan), (.complete, .bootstrapCancelled),
            (.complete, .bootstrapApplied):
            .stay
        case (.complete, .refused): .violation
        case (.error, .bootstrapCancelled), (.error, .refused): .stay
        case (.error, .bootstrapBegan), (.error, .bootstrapApplied): .violation
        }
    }
}

extension SubscriptionState {
    /// How far a state is, for those who wait.
    private var progress: Int {
        switch self {
        case .pending: 0
        case .bootstrapping: 1
        case .complete: 2
        case .error: 3
        case .superseded: 4
        }
    }

    /// What somebody is told who waits for another state.
    func wait(for wanted: SubscriptionState) -> SubscriptionWait {
        if case .error(let text) = self {
            return wanted == .superseded ? .waiting : .failed(text)
        }
        return progress >= wanted.progress ? .reached : .waiting
    }
}

/// Is what somebody is told who waits for a state of a set.
enum SubscriptionWait: Hashable {
    /// Go on waiting.
    case waiting
    /// The state was reached, or a later one.
    case reached
    /// The remote refused the set, with these words.
    case failed(String)
}
