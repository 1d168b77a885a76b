/// Keeps an observer of commits registered; it is removed when this is cancelled or let go.
public final class CommitObservation: Sendable {
    private let observers: CommitObservers
    private let id: Int

    init(observers: CommitObservers, id: Int) {
        self.observers = observers
        self.id = id
    }

    deinit { cancel() }

    /// Removes the observer; a call that is under way on another thread ends undisturbed.
    public func cancel() { observers.remove(id) }
}

/// Holds the observers of a store's commits.
final class CommitObservers: Sendable {
    private struct State: Sendable {
        var nextID = 0
        var observers: [(id: Int, call: @Sendable () -> Void)] = []
    }

    private let state = Locked(State())

    func add(_ observer: @escaping @Sendable () -> Void) -> CommitObservation {
        let id = state.withLock { state in
            state.nextID += 1
            state.observers.append((state.nextID, observer))
            return state.nextID
        }
        return CommitObservation(observers: self, id: id)
    }

    func remove(_ id: Int) {
        state.withLock { state in state.observers.removeAll { $0.id == id } }
    }

    /// Calls all observers, outside of the lock.
    func notify() {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer.call() }
    }
}
