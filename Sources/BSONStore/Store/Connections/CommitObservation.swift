/// The registration of a commit observer, which ends when it is cancelled or released.
public final class CommitObservation: Sendable {
    private let remove: @Sendable () -> Void

    init(_ remove: @escaping @Sendable () -> Void) { self.remove = remove }

    deinit { cancel() }

    /// Removes the observer; a call in progress on another thread finishes normally.
    public func cancel() { remove() }
}

/// The observers of a store's commits, or of its closing.
final class CommitObservers<Event: Sendable>: Sendable {
    private struct State: Sendable {
        var nextID = 0
        var observers: [(id: Int, call: @Sendable (Event) -> Void)] = []
    }

    private let state = Locked(State())

    func add(_ observer: @escaping @Sendable (Event) -> Void) -> CommitObservation {
        let id = state.withLock { state in
            state.nextID += 1
            state.observers.append((state.nextID, observer))
            return state.nextID
        }
        return CommitObservation { self.remove(id) }
    }

    private func remove(_ id: Int) {
        state.withLock { state in state.observers.removeAll { $0.id == id } }
    }

    /// Calls all observers without holding the lock.
    func notify(_ event: Event) {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer.call(event) }
    }
}
