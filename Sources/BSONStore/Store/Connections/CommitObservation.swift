/// The registration of a commit observer, which ends when it is cancelled or released.
public final class CommitObservation: Sendable {
    private let observers: CommitObservers
    private let id: Int

    init(observers: CommitObservers, id: Int) {
        self.observers = observers
        self.id = id
    }

    deinit { cancel() }

    /// Removes the observer; a call in progress on another thread finishes normally.
    public func cancel() { observers.remove(id) }
}

/// The commit observers of a store.
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

    /// Calls all observers without holding the lock.
    func notify() {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer.call() }
    }
}
