internal import BSONStore

/// Receives one collection's events in order, from a place of its own: a slow one holds up neither
/// writes nor passes nor other receivers (rule R11, invariant I9).
final class EventListenerQueue: Sendable {
    typealias Listener = @Sendable (ChangeEvent<BSONDocument>) async -> Void

    private struct State {
        /// Called with each event; `nil` for one that asks for events itself.
        var listener: Listener?
        /// The last event that the receiver is done with.
        var position: Int64 = 0
        var task: Task<Void, Never>?
        var isAskedAgain = false
        var isRemoved = false
    }

    /// Events read from the store at a time.
    static let eventsPerRead = 100

    let namespace: Namespace
    private let state: Locked<State>

    init(_ namespace: Namespace, _ listener: Listener?) {
        self.namespace = namespace
        state = Locked(State(listener: listener))
    }

    /// The last event that the receiver is done with.
    var position: Int64 { state.withLock { $0.position } }

    /// Notes that the receiver is done with an event.
    func advance(to sequence: Int64) {
        state.withLock { $0.position = max($0.position, sequence) }
    }

    /// Puts another listener in the place of this one; it goes on where the first one was.
    func replaceListener(by listener: @escaping Listener) {
        state.withLock { $0.listener = listener }
    }

    /// Ends delivery after the event that is under way.
    func remove() { state.withLock { $0.isRemoved = true } }

    /// What is delivering, if anything is.
    var task: Task<Void, Never>? { state.withLock { $0.task } }

    /// Delivers what is there, soon.
    ///
    /// - Parameter delivery: reads events, and is told of those that the receiver is done with.
    func wake(_ delivery: EventDelivery) {
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

    /// Ends the task unless somebody asked meanwhile.
    private func isAskedAgain() -> Bool {
        state.withLock { state in
            let again = state.isAskedAgain && !state.isRemoved
            state.isAskedAgain = false
            if !again { state.task = nil }
            return again
        }
    }

    /// Delivers one read's worth; `false` when there is nothing more.
    private func deliver(_ delivery: EventDelivery) async throws -> Bool {
        let events = try delivery.events(after: position, in: namespace)
        guard !events.isEmpty else { return false }
        for event in events {
            let listener = state.withLock { $0.isRemoved ? nil : $0.listener }
            guard let listener else { break }
            await listener(event)
            advance(to: event.sequence)
        }
        try await delivery.removeDelivered(in: namespace)
        return state.withLock { !$0.isRemoved }
    }
}
