internal import BSONStore

/// Wakes those who wait for the next commit, without a thread for each.
final class CommitNotifier: Sendable {
    private struct State: Sendable {
        var generation: UInt64 = 0
        /// By a number of their own.
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state: Locked<State>
    /// Beside the state and not in it, since it holds the state.
    private let observation: CommitObservation

    /// Follows the commits of a store.
    init(_ store: DocumentStore) {
        let state = Locked(State())
        self.state = state
        observation = store.onCommit { Self.wake(state) }
    }

    /// The number of commits so far; to be read before what is then waited for.
    var generation: UInt64 { state.withLock { $0.generation } }

    /// How many wait.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Calls back once when there were more commits than so many; gives what takes the wish back.
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
