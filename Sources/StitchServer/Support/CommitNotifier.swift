internal import BSONStore

/// The callbacks that run at the next commit, so that waiting needs no thread.
final class CommitNotifier: Sendable {
    private struct State: Sendable {
        var generation: UInt64 = 0
        /// The callbacks by number.
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state: Locked<State>
    /// Kept outside of `state`, since the observation refers to it; `nil` without a store.
    private let observation: CommitObservation?

    /// Observes the commits of a store.
    init(_ store: DocumentStore) {
        let state = Locked(State())
        self.state = state
        observation = store.onCommit { Self.wake(state) }
    }

    /// Creates a notifier whose owner reports each commit.
    init() {
        state = Locked(State())
        observation = nil
    }

    /// Reports a commit: the waiting callbacks run.
    func notify() { Self.wake(state) }

    /// The number of commits so far; read it before the data whose change is awaited.
    var generation: UInt64 { state.withLock { $0.generation } }

    /// Calls back once when the number of commits exceeds a count; returns a closure that
    /// unsubscribes.
    func wait(
        after generation: UInt64, _ wake: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let number: UInt64? = state.withLock { state in
            guard state.generation <= generation else { return nil }
            state.lastNumber += 1
            state.waiters[state.lastNumber] = wake
            return state.lastNumber
        }
        guard let number else {
            wake()
            return {}
        }
        return { [state] in state.withLock { $0.waiters[number] = nil } }
    }

    private static func wake(_ state: Locked<State>) {
        let waiters = state.withLock { state in
            state.generation += 1
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for wake in waiters { wake() }
    }
}
