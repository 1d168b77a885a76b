internal import BSONStore

/// The error queue of one listener, which receives each collection's errors in order and at its own
/// pace, so that a slow listener does not delay others.
final class ErrorListenerQueue: Sendable {
    typealias Listener = @Sendable (SyncError) async -> Void

    private struct Waiting {
        let error: SyncError
        /// The continuation of the caller that waits for the listener.
        let delivered: CheckedContinuation<Void, Never>?
    }

    /// The errors of one collection.
    private struct Queue {
        var waiting: [Waiting] = []
        let task: Task<Void, Never>
    }

    private struct State {
        var listener: Listener
        var queues: [Namespace?: Queue] = [:]
        var isRemoved = false
    }

    /// The collection of the errors; `nil` for all.
    let namespace: Namespace?
    private let state: Locked<State>

    init(_ namespace: Namespace?, _ listener: @escaping Listener) {
        self.namespace = namespace
        state = Locked(State(listener: listener))
    }

    /// The running delivery tasks.
    var tasks: [Task<Void, Never>] { state.withLock { $0.queues.values.map(\.task) } }

    /// Replaces the listener; the new one receives the waiting errors.
    func replaceListener(by listener: @escaping Listener) {
        state.withLock { $0.listener = listener }
    }

    /// Removes the listener after its running calls.
    func remove() {
        let waiting = state.withLock { state in
            state.isRemoved = true
            defer { for key in state.queues.keys { state.queues[key]?.waiting = [] } }
            return state.queues.values.flatMap(\.waiting)
        }
        for waiting in waiting { waiting.delivered?.resume() }
    }

    /// Queues an error for delivery.
    func add(_ error: SyncError, _ delivery: EventDelivery) {
        add(Waiting(error: error, delivered: nil), delivery)
    }

    /// Delivers an error; returns when the listener has handled it or was removed.
    func tell(_ error: SyncError, _ delivery: EventDelivery) async {
        await withCheckedContinuation { delivered in
            add(Waiting(error: error, delivered: delivered), delivery)
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
                let oldest = queue.waiting.firstIndex(where: { $0.delivered == nil })
            {
                queue.waiting.remove(at: oldest)
            }
            state.queues[key] = queue
            return false
        }
        if isRemoved { waiting.delivered?.resume() }
    }

    private func run(_ key: Namespace?, _ delivery: EventDelivery) async {
        while let next = next(key) {
            await delivery.deliverEvents(in: key)
            if let listener = state.withLock({ $0.isRemoved ? nil : $0.listener }) {
                await listener(next.error)
            }
            next.delivered?.resume()
        }
    }

    /// Returns the next error; ends the task when there is none.
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
