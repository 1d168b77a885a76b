internal import BSONStore

/// Tells one listener of errors, those of one collection in order, at its own pace: a slow one holds
/// up no other.
final class ErrorListenerQueue: Sendable {
    typealias Listener = @Sendable (SyncError) async -> Void

    private struct Waiting {
        let error: SyncError
        /// Who waits until the listener is done with it.
        let told: CheckedContinuation<Void, Never>?
    }

    /// What is to be told of one collection.
    private struct Queue {
        var waiting: [Waiting] = []
        let task: Task<Void, Never>
    }

    private struct State {
        var listener: Listener
        var queues: [Namespace?: Queue] = [:]
        var isRemoved = false
    }

    /// The collection whose errors it is told of; `nil` for all.
    let namespace: Namespace?
    private let state: Locked<State>

    init(_ namespace: Namespace?, _ listener: @escaping Listener) {
        self.namespace = namespace
        state = Locked(State(listener: listener))
    }

    /// What is telling.
    var tasks: [Task<Void, Never>] { state.withLock { $0.queues.values.map(\.task) } }

    /// Puts another listener in the place of this one; it is told of what waits.
    func replaceListener(by listener: @escaping Listener) {
        state.withLock { $0.listener = listener }
    }

    /// Ends the listening after the errors that are being told.
    func remove() {
        let waiting = state.withLock { state in
            state.isRemoved = true
            defer { for key in state.queues.keys { state.queues[key]?.waiting = [] } }
            return state.queues.values.flatMap(\.waiting)
        }
        for waiting in waiting { waiting.told?.resume() }
    }

    /// Tells of an error, soon.
    func add(_ error: SyncError, _ delivery: EventDelivery) {
        add(Waiting(error: error, told: nil), delivery)
    }

    /// Tells of an error; returns when the listener has, or was removed.
    func tell(_ error: SyncError, _ delivery: EventDelivery) async {
        await withCheckedContinuation { told in
            add(Waiting(error: error, told: told), delivery)
        }
    }

    private func add(_ waiting: Waiting, _ delivery: EventDelivery) {
        let key = waiting.error.namespace
        let isRemoved = state.withLock { state in
            if state.isRemoved { return true }
            var queue =
                state.queues[key]
                ?? Queue(
                    task: Task { [self] in
                        await delivery.asDelivery { await run(key, delivery) }
                    })
            queue.waiting.append(waiting)
            if queue.waiting.count > EventDelivery.errorsMax,
                let oldest = queue.waiting.firstIndex(where: { $0.told == nil })
            {
                queue.waiting.remove(at: oldest)
            }
            state.queues[key] = queue
            return false
        }
        if isRemoved { waiting.told?.resume() }
    }

    private func run(_ key: Namespace?, _ delivery: EventDelivery) async {
        while let next = next(key) {
            await delivery.deliverEvents(in: key)
            if let listener = state.withLock({ $0.isRemoved ? nil : $0.listener }) {
                await listener(next.error)
            }
            next.told?.resume()
        }
    }

    /// What is to be told of next; ends the task when there is nothing.
    private func next(_ key: Namespace?) -> Waiting? {
        state.withLock { state in
            guard state.queues[key]?.waiting.isEmpty == false else {
                state.queues[key] = nil
                return nil
            }
            return state.queues[key]?.waiting.removeFirst()
        }
    }
}
