internal import BSONStore

/// Brings events and errors to the app's listeners, off every lock.
///
/// An event is forgotten once everybody who listens to its collection is done with it: a crash
/// before that delivers it again. Errors live in memory only, but for those about refused writes,
/// which are stored until they were told.
final class EventDelivery: Sendable {
    private struct State {
        var receivers: [ObjectIdentifier: EventListenerQueue] = [:]
        /// The receivers that ``SyncCollection/configure(conflictHandler:changeEventListener:errorListener:syncFrequency:)`` set.
        var configured: [Namespace: EventListenerQueue] = [:]
        var errorReceivers: [ObjectIdentifier: ErrorListenerQueue] = [:]
        /// The receivers of errors that the collection is configured with.
        var configuredErrors: [Namespace: ErrorListenerQueue] = [:]
        /// Collections whose stored errors are to be told of, and what does it.
        var storedErrors: Set<Namespace> = []
        var storedTasks: [Namespace: Task<Void, Never>] = [:]
        /// Where telling failed, for the next wake; `nil` for all collections.
        var failed: Set<Namespace?> = []
        /// Stored errors that were told of, and whose mark is still to be stored.
        var told: [Namespace: [RejectedWriteRecord]] = [:]
        /// The engine was closed: who steps through events is at their end.
        var isClosed = false
    }

    /// Errors that wait for a slow listener at most; older ones are dropped for newer.
    static let errorsMax = 1000

    @TaskLocal private static var isDelivering = false

    private let store: DocumentStore
    private let log: SyncLog
    private let state = Locked(State())
    /// New events may be there.
    let news = Signal()

    init(store: DocumentStore, log: SyncLog) {
        self.store = store
        self.log = log
    }

    /// Whether the engine was closed.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Ends those who step through events.
    func close() {
        state.withLock { $0.isClosed = true }
        news.notify()
    }

    /// Runs a body as a delivery, inside of which ``flush()`` does not wait for itself.
    func asDelivery(_ body: () async -> Void) async {
        await SyncEngine.$passing.withValue([]) {
            await Self.$isDelivering.withValue(true) { await body() }
        }
    }
}

// MARK: - Receivers

extension EventDelivery {
    /// Whether somebody receives a collection's events.
    func hasReceivers(_ namespace: Namespace) -> Bool {
        state.withLock { $0.receivers.values.contains { $0.namespace == namespace } }
    }

    /// Adds a receiver; it begins with the oldest event that is still kept.
    func add(_ receiver: EventListenerQueue) {
        state.withLock { $0.receivers[ObjectIdentifier(receiver)] = receiver }
        receiver.wake(self)
    }

    /// Removes a receiver; events that only it was still to receive are forgotten by and by.
    func remove(_ receiver: EventListenerQueue) {
        receiver.remove()
        state.withLock { _ = $0.receivers.removeValue(forKey: ObjectIdentifier(receiver)) }
    }

    /// Sets the listener that the collection is configured with, or none.
    func configure(_ namespace: Namespace, _ listener: EventListenerQueue.Listener?) {
        let old = state.withLock { $0.configured[namespace] }
        switch (old, listener) {
        case (nil, nil): break
        case (let old?, let listener?):
            old.replaceListener(by: listener)
            old.wake(self)
        case (let old?, nil):
            state.withLock { _ = $0.configured.removeValue(forKey: namespace) }
            remove(old)
        case (nil, let listener?):
            let receiver = EventListenerQueue(namespace, listener)
            state.withLock { $0.configured[namespace] = receiver }
            add(receiver)
        }
    }

    /// Delivers what is there, soon.
    func wake() {
        news.notify()
        for receiver in state.withLock({ Array($0.receivers.values) }) { receiver.wake(self) }
        let failed = state.withLock { state in
            defer { state.failed = [] }
            return state.failed
        }
        for namespace in failed { reportStoredRejections(in: namespace) }
    }

    /// Waits until everything that is there now is delivered; returns at once inside of a listener.
    func flush() async {
        if Self.isDelivering { return }
        wake()
        for task in state.withLock({ $0.receivers.values.map(\.task) }) { await task?.value }
        for task in state.withLock({ Array($0.storedTasks.values) }) { await task.value }
        for receiver in state.withLock({ Array($0.errorReceivers.values) }) {
            for task in receiver.tasks { await task.value }
        }
    }

    /// The oldest events of a collection after a place.
    func events(
        after sequence: Int64, in namespace: Namespace
    ) throws -> [ChangeEvent<BSONDocument>] {
        try store.read { transaction in
            try EventOutbox.next(
                limit: EventListenerQueue.eventsPerRead, after: sequence, of: namespace,
                in: transaction.connection)
        }
    }

    /// Forgets the events that all who receive them are done with.
    func removeDelivered(in namespace: Namespace) async throws {
        let positions = state.withLock { state in
            state.receivers.values.filter { $0.namespace == namespace }.map(\.position)
        }
        guard let last = positions.min(), last > 0 else { return }
        try await store.write { transaction in
            try EventOutbox.forget(upTo: last, of: namespace, in: transaction.connection)
        }
    }
}

// MARK: - Errors

extension EventDelivery {
    /// Adds a receiver of one collection's errors, or of all.
    func add(_ receiver: ErrorListenerQueue) {
        state.withLock { $0.errorReceivers[ObjectIdentifier(receiver)] = receiver }
    }

    /// Removes a receiver, with what waits for it.
    func remove(_ receiver: ErrorListenerQueue) {
        state.withLock { _ = $0.errorReceivers.removeValue(forKey: ObjectIdentifier(receiver)) }
        receiver.remove()
    }

    /// Sets the error listener that the collection is configured with, or none.
    func configureErrors(_ namespace: Namespace, _ listener: ErrorListenerQueue.Listener?) {
        let old = state.withLock { $0.configuredErrors[namespace] }
        switch (old, listener) {
        case (nil, nil): break
        case (let old?, let listener?): old.replaceListener(by: listener)
        case (let old?, nil):
            state.withLock { _ = $0.configuredErrors.removeValue(forKey: namespace) }
            remove(old)
        case (nil, let listener?):
            let receiver = ErrorListenerQueue(namespace, listener)
            state.withLock { $0.configuredErrors[namespace] = receiver }
            add(receiver)
        }
    }

    /// Delivers errors, soon; those of a collection after its events that are there.
    func report(_ errors: [SyncError]) {
        for error in errors {
            for receiver in receivers(ofErrorsIn: error.namespace) { receiver.add(error, self) }
        }
    }

    private func receivers(ofErrorsIn namespace: Namespace?) -> [ErrorListenerQueue] {
        state.withLock { state in
            state.errorReceivers.values.filter { receiver in
                receiver.namespace == nil || receiver.namespace == namespace
            }
        }
    }

    /// Delivers the events that a collection has now.
    func deliverEvents(in namespace: Namespace?) async {
        let receivers = state.withLock { state in
            state.receivers.values.filter { $0.namespace == namespace }
        }
        for receiver in receivers {
            receiver.wake(self)
            await receiver.task?.value
        }
    }

    /// Tells of stored errors, soon, where somebody listens to errors.
    ///
    /// - Parameter namespace: the collection; `nil` for all.
    func reportStoredRejections(in namespace: Namespace?) {
        let namespaces: [Namespace]
        do {
            namespaces =
                try namespace.map { [$0] }
                ?? store.read {
                    try SyncRecordTable(connection: $0.connection).collectionsWithUnreported()
                }
        } catch {
            // They stay in the store, and are told of by the next wake.
            return state.withLock { _ = $0.failed.insert(namespace) }
        }
        state.withLock { state in
            for namespace in namespaces {
                state.storedErrors.insert(namespace)
                guard state.storedTasks[namespace] == nil else { continue }
                state.storedTasks[namespace] = Task { [self] in
                    await asDelivery {
                        while hasUnreported(in: namespace) { await deliverStored(in: namespace) }
                    }
                }
            }
        }
    }

    /// Whether stored errors are still to be told of; ends the task when there are none.
    private func hasUnreported(in namespace: Namespace) -> Bool {
        state.withLock { state in
            if state.storedErrors.remove(namespace) != nil { return true }
            state.storedTasks[namespace] = nil
            return false
        }
    }

    /// Tells of stored errors, each of which is forgotten once all listeners have returned.
    private func deliverStored(in namespace: Namespace) async {
        do {
            try await markReported(in: namespace)
            while true {
                let receivers = receivers(ofErrorsIn: namespace)
                if receivers.isEmpty { return }
                let (untold, session) = try untold(in: namespace)
                guard let error = RejectedWriteRecord.error(untold) else { return }
                if let first = untold.first {
                    log.note(
                        .info, namespace,
                        CompensatingWrite.reportingLine(
                            session: session, client: first.write.operationID.sequence,
                            server: first.serverVersion))
                }
                await withTaskGroup { group in
                    for receiver in receivers {
                        group.addTask { await receiver.tell(error, self) }
                    }
                }
                state.withLock { $0.told[namespace] = untold }
                try await markReported(in: namespace)
            }
        } catch {
            // They stay in the store, and are told of by the next wake.
            state.withLock { _ = $0.failed.insert(namespace) }
        }
    }

    /// Stores that errors were told of, those too for which that failed before.
    private func markReported(in namespace: Namespace) async throws {
        guard let told = state.withLock({ $0.told[namespace] }) else { return }
        try await store.write { transaction in
            try SyncRecordTable(connection: transaction.connection).markReported(told)
        }
        state.withLock { $0.told[namespace] = nil }
    }

    private func untold(in namespace: Namespace) throws -> ([RejectedWriteRecord], session: Int64) {
        try store.read { transaction in
            let connection = transaction.connection
            guard let collection = try SyncStateTable(connection: connection).existing(namespace)
            else {
                return ([], 0)
            }
            let records = SyncRecordTable(connection: connection)
            return (try records.unreportedRejections(in: collection), collection.rowID)
        }
    }
}
