internal import BSONStore

/// Wakes those who wait for the next commit, without a thread for each.
final class CommitHub: Sendable {
    private struct State: Sendable {
        var generation: UInt64 = 0
        var waiters: [@Sendable () -> Void] = []
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

    /// Calls back once when there were more commits than so many.
    func wait(after generation: UInt64, _ wake: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if state.generation > generation { return true }
            state.waiters.append(wake)
            return false
        }
        if isLate { wake() }
    }

    private static func wake(_ state: Locked<State>) {
        let waiters = state.withLock { state in
            state.generation += 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for wake in waiters { wake() }
    }
}
