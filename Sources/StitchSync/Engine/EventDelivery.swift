internal import BSONStore

/// Delivers events and errors to the app's listeners: one at a time, in order, off every lock, so
/// that a slow listener holds up neither writes nor passes (rule R11, invariant I9).
///
/// Events are forgotten some at a time, after their listeners returned: a crash before that delivers
/// them again.
final class EventDelivery: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isAskedAgain = false
        var errors: [(configuration: CollectionConfiguration, error: SyncError)] = []
    }

    /// Errors that wait for a slow listener at most; older ones are dropped for newer.
    static let errorsMax = 1000
    /// Events read from the store at a time.
    static let eventsPerRead = 100

    @TaskLocal private static var isDelivering = false

    private let store: DocumentStore
    private let configured: @Sendable () -> [Namespace: CollectionConfiguration]
    private let state = Locked(State())

    /// - Parameter configured: the collections that the app configured since the process began;
    ///   events of others wait.
    init(
        store: DocumentStore,
        configured: @escaping @Sendable () -> [Namespace: CollectionConfiguration]
    ) {
        self.store = store
        self.configured = configured
    }

    /// Delivers what is there, soon.
    func wake() {
        state.withLock { state in
            if state.task == nil {
                state.task = Task { [self] in
                    await SyncEngine.$passing.withValue([]) {
                        await Self.$isDelivering.withValue(true) { await run() }
                    }
                }
            } else {
                state.isAskedAgain = true
            }
        }
    }

    /// Delivers errors, soon.
    func report(_ errors: [SyncError], for configuration: CollectionConfiguration) {
        guard !errors.isEmpty else { return }
        state.withLock { state in
            state.errors += errors.map { (configuration, $0) }
            state.errors.removeFirst(max(0, state.errors.count - Self.errorsMax))
        }
        wake()
    }

    /// Waits until everything that is there now is delivered; returns at once inside of a listener.
    func flush() async {
        if Self.isDelivering { return }
        wake()
        await state.withLock { $0.task }?.value
    }

    private func run() async {
        repeat {
            do {
                while try await deliverEvents() {}
            } catch {
                // The events stay in the store and are delivered by the next wake; the store's
                // failure itself comes to light at the caller whose write or pass meets it.
            }
            await deliverErrors()
        } while isAskedAgain()
    }

    /// Ends the task unless somebody asked meanwhile.
    private func isAskedAgain() -> Bool {
        state.withLock { state in
            let again = state.isAskedAgain || !state.errors.isEmpty
            state.isAskedAgain = false
            if !again { state.task = nil }
            return again
        }
    }

    private func deliverErrors() async {
        let errors = state.withLock { state in
            defer { state.errors = [] }
            return state.errors
        }
        for (configuration, error) in errors {
            await configuration.errorListener?(error, error.documentID)
        }
    }

    /// Delivers one read's worth; `false` when there is nothing more for anybody who listens.
    private func deliverEvents() async throws -> Bool {
        let listeners = configured()
        let events = try store.read { transaction in
            try EventOutbox.next(
                limit: Self.eventsPerRead, for: Array(listeners.keys),
                in: transaction.connection)
        }
        guard !events.isEmpty else { return false }
        for event in events {
            await listeners[event.namespace]?.changeEventListener?(event)
        }
        try await store.write { transaction in
            for event in events {
                try EventOutbox.acknowledge(event.sequence, in: transaction.connection)
            }
        }
        return true
    }
}
