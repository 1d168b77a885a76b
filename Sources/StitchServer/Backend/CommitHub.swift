internal import BSONStore

/// Wakes those who wait for the next commit, without a thread for each.
final class CommitHub: Sendable {
    private struct State: Sendable {
        var generation: UInt64 = 0
        var waiters: [@Sendable () -> Void] = []
        var observation: CommitObservation?
    }

    private let state = Locked(State())

    /// Follows the commits of a store.
    init(_ store: DocumentStore) {
        let observation = store.onCommit { [state] in Self.wake(state) }
        state.withLock { $0.observation = observation }
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
