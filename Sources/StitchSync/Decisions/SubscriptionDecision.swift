/// An event in the life of a committed subscription set.
enum SubscriptionEvent: Sendable, Hashable {
    /// The first documents of the set were downloaded.
    case bootstrapBegan
    /// The incomplete download was discarded.
    case bootstrapCancelled
    /// All documents were downloaded and applied.
    case bootstrapApplied
    /// The remote refused the set.
    case refused(String)
}

/// The effect of an event on a subscription set.
enum SubscriptionDecision: Hashable {
    /// The set changes to another state.
    case become(SubscriptionState)
    /// The set's state stays: it does not change, or the set is superseded.
    case stay
    /// The event is illegal in this state: the remote has an error.
    case violation

    static func decide(_ state: SubscriptionState, _ event: SubscriptionEvent) -> Self {
        switch (state, event) {
        // An answer to this set that arrived after a later set superseded it.
        case (.superseded, _): .stay
        case (.pending, .bootstrapBegan): .become(.bootstrapping)
        case (.bootstrapping, .bootstrapBegan): .stay
        case (.pending, .bootstrapCancelled): .stay
        case (.bootstrapping, .bootstrapCancelled): .become(.pending)
        case (.pending, .bootstrapApplied), (.bootstrapping, .bootstrapApplied):
            .become(.complete)
        case (.pending, .refused(let text)), (.bootstrapping, .refused(let text)):
            .become(.error(text))
        // Documents are downloaded again when the user's rules change.
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
    /// The state's position in the order of states, for waits.
    private var progress: Int {
        switch self {
        case .pending: 0
        case .bootstrapping: 1
        case .complete: 2
        case .error: 3
        case .superseded: 4
        }
    }

    /// Returns the result of a wait for another state.
    func wait(for wanted: SubscriptionState) -> SubscriptionWait {
        if case .error(let text) = self {
            return wanted == .superseded ? .waiting : .failed(text)
        }
        return progress >= wanted.progress ? .reached : .waiting
    }
}

/// The result of a wait for a set's state.
enum SubscriptionWait: Hashable {
    /// The wait continues.
    case waiting
    /// The set has reached the state or a later one.
    case reached
    /// The remote refused the set with this message.
    case failed(String)
}
