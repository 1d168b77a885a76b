internal import BSONStore

/// The commits that end a wait: all, or those to one database or one collection.
enum CommitScope: Hashable, Sendable {
    case everything
    case database(Name)
    case collection(Namespace)
}

/// The callbacks that run at the next commit that concerns them, so that waiting needs no thread.
///
/// Who waits for the changes of one collection is not woken by commits to others, so a write costs the
/// same however many streams follow other collections.
final class CommitNotifier: Sendable {
    fileprivate struct State: Sendable {
        var generation: UInt64 = 0
        /// The callbacks by scope and number.
        var waiters: [CommitScope: [UInt64: @Sendable () -> Void]] = [:]
        var lastNumber: UInt64 = 0
        /// The number of commits at the last one of each scope.
        var lastOfScope: [CommitScope: UInt64] = [:]
        /// The number of commits at the last one that concerned everybody.
        var lastOfAll: UInt64 = 0
        /// The number of changes since everybody was woken.
        var changeCount: Int64 = 0
    }

    /// The number of scopes that are remembered; beyond it, the next wait of each looks once in vain.
    private static let scopesMax = 4_096

    private let state: Locked<State>
    /// Kept outside of `state`, since the observation refers to it; `nil` without a store.
    private let observation: CommitObservation?

    /// Observes the commits of a store.
    ///
    /// - Parameter concernsAll: whether a change in a collection concerns all who wait, as one of users
    ///   and rights does.
    init(_ store: DocumentStore, concernsAll: @escaping @Sendable (Namespace) -> Bool) {
        let state = Locked(State())
        self.state = state
        let changesMax =
            if case .keep(let changesMax) = store.options.changeHistory { changesMax } else { 0 }
        // A reader that sleeps while the feed moves on would lose its place.
        let sleepMax = Int64(max(1, changesMax / 10))
        observation = store.onCommit(telling: { writes in
            guard let namespaces = writes.namespaces, !namespaces.contains(where: concernsAll)
            else { return Self.wakeAll(state) }
            Self.wake(state, namespaces, changes: writes.changeCount, sleepMax)
        })
    }

    /// Creates a notifier whose owner reports each commit.
    init() {
        state = Locked(State())
        observation = nil
    }

    /// Reports a commit: the waiting callbacks run.
    func notify() { Self.wakeAll(state) }

    /// The number of commits so far; read it before the data whose change is awaited.
    var generation: UInt64 { state.withLock { $0.generation } }

    /// Calls back once when a commit that concerns a scope comes after a number of commits; returns a
    /// closure that unsubscribes.
    ///
    func wait(
        after generation: UInt64, in scope: CommitScope = .everything,
        _ wake: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let number: UInt64? = state.withLock { state in
            let last = max(state.lastOfAll, state.lastOfScope[scope] ?? 0)
            guard last <= generation else { return nil }
            state.lastNumber += 1
            state.waiters[scope, default: [:]][state.lastNumber] = wake
            return state.lastNumber
        }
        guard let number else {
            wake()
            return {}
        }
        return { [state] in
            state.withLock { state in
                state.waiters[scope]?[number] = nil
                if state.waiters[scope]?.isEmpty == true { state.waiters[scope] = nil }
            }
        }
    }

    private static func wakeAll(_ state: Locked<State>) {
        let waiters = state.withLock { state in
            state.generation += 1
            return state.takeAll()
        }
        for wakes in waiters { for wake in wakes.values { wake() } }
    }

    private static func wake(
        _ state: Locked<State>, _ namespaces: Set<Namespace>, changes: Int64, _ sleepMax: Int64
    ) {
        let waiters = state.withLock { state in
            state.generation += 1
            state.changeCount += changes
            guard state.changeCount < sleepMax else { return state.takeAll() }
            var scopes: Set<CommitScope> = [.everything]
            for namespace in namespaces {
                scopes.insert(.collection(namespace))
                scopes.insert(.database(Name(namespace.database)))
            }
            for scope in scopes { state.lastOfScope[scope] = state.generation }
            if state.lastOfScope.count > scopesMax { state.noteAll() }
            return scopes.compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for wakes in waiters { for wake in wakes.values { wake() } }
    }
}

extension CommitNotifier.State {
    /// Takes the callbacks of all who wait: the last commit concerns everybody.
    fileprivate mutating func takeAll() -> [[UInt64: @Sendable () -> Void]] {
        noteAll()
        changeCount = 0
        defer { waiters = [:] }
        return Array(waiters.values)
    }

    /// Notes that the last commit concerns everybody.
    fileprivate mutating func noteAll() {
        lastOfAll = generation
        lastOfScope = [:]
    }
}
