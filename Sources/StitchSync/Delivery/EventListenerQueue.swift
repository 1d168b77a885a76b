internal import BSONStore

/// A receiver of one collection's events in order, with its own position: a slow one does not delay
/// writes, passes or other receivers (rule R11, invariant I9).
final class EventListenerQueue: Sendable {
    typealias Listener = @Sendable (ChangeEvent<BSONDocument>) async -> Void

    private struct State {
        /// The closure for each event; `nil` for an iterator, which reads events itself.
        var listener: Listener?
        /// The sequence number of the last event that the receiver has handled.
        var position: Int64 = 0
        var task: Task<Void, Never>?
        var isAskedAgain = false
        var isRemoved = false
    }

    let namespace: Namespace
    private let state: Locked<State>

    init(_ namespace: Namespace, _ listener: Listener?) {
        self.namespace = namespace
        state = Locked(State(listener: listener))
    }

    /// The sequence number of the last event that the receiver has handled.
    var position: Int64 { state.withLock { $0.position } }

    /// Notes that the receiver has handled an event.
    func advance(to sequence: Int64) {
        state.withLock { $0.position = max($0.position, sequence) }
    }

    /// Replaces the listener; the new one continues at the same position.
    func replaceListener(by listener: @escaping Listener) {
        state.withLock { $0.listener = listener }
    }

    /// Ends the delivery after the current event.
    func remove() { state.withLock { $0.isRemoved = true } }

    /// The delivery task; `nil` while none runs.
    var task: Task<Void, Never>? { state.withLock { $0.task } }

    /// Starts the delivery of stored events.
    ///
    /// - Parameter delivery: the source of events, which removes the handled ones.
    func wake(_ delivery: EventDelivery) {
        guard !delivery.isClosed else { return }
        state.withLock { state in
            guard state.listener != nil, !state.isRemoved else { return }
            if state.task == nil {
                state.task = Task { [self] in
                    await delivery.asDelivery { await run(delivery) }
                }
            } else {
                state.isAskedAgain = true
            }
        }
    }

    private func run(_ delivery: EventDelivery) async {
        repeat {
            do {
                while try await deliver(delivery) {}
            } catch {
                // The events stay in the store and are delivered by the next wake; the store's
                // failure itself comes to light at the caller whose write or pass meets it.
            }
        } while isAskedAgain()
    }

    /// Returns whether there was another wake meanwhile; ends the task if not.
    private func isAskedAgain() -> Bool {
        state.withLock { state in
            let again = state.isAskedAgain && !state.isRemoved
            state.isAskedAgain = false
            if !again { state.task = nil }
            return again
        }
    }

    /// Delivers the events of one read; returns `false` when there are none.
    private func deliver(_ delivery: EventDelivery) async throws -> Bool {
        let events = try delivery.events(after: position, in: namespace)
        guard !events.isEmpty else { return false }
        for event in events {
            let listener = state.withLock { $0.isRemoved ? nil : $0.listener }
            guard let listener, !delivery.isClosed else { break }
            await listener(event)
            advance(to: event.sequence)
        }
        delivery.noteHandled(in: namespace)
        // No later commit removes them.
        if delivery.isClosed { await delivery.removeHandled() }
        return state.withLock { !$0.isRemoved } && !delivery.isClosed
    }
}
