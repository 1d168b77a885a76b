internal import BSONStore

/// The delivery of events and errors to the app's listeners, outside any lock.
///
/// An event is removed once all listeners of its collection have handled it: with the next commit of
/// the engine, or by a commit of its own after a short time. If the process ends before that, the event
/// is delivered again after the next start. Errors live in memory only, except those about refused
/// writes, which are stored until they were reported.
final class EventDelivery: Sendable {
    private struct State {
        var receivers: [ObjectIdentifier: EventListenerQueue] = [:]
        /// The receivers that the app set by `SyncCollection.configure`.
        var configured: [Namespace: EventListenerQueue] = [:]
        var errorReceivers: [ObjectIdentifier: ErrorListenerQueue] = [:]
        /// The error receivers that the app set by `SyncCollection.configure`.
        var configuredErrors: [Namespace: ErrorListenerQueue] = [:]
        /// The collections whose stored errors have to be reported, and the tasks that do so.
        var storedErrors: Set<Namespace> = []
        var storedTasks: [Namespace: Task<Void, Never>] = [:]
        /// The collections where a report failed, for the next wake; `nil` stands for all.
        var failed: Set<Namespace?> = []
        /// Stored errors that were reported and are not marked so in the store yet.
        var reported: [Namespace: [RejectedWriteRecord]] = [:]
        /// The number of writes of a collection before its stored events are merged next, where no
        /// listener takes them.
        var writesToMerge: [Namespace: Int] = [:]
        /// The events of collections, up to a sequence number, that are handled and not removed yet.
        var handled: [Namespace: Int64] = [:]
        /// The task that removes them if no other commit does.
        var removal: Task<Void, Never>?
        /// Whether the log has said that errors have no listener.
        var hasLoggedUnheard = false
        /// Whether the engine was closed, which ends the delivery to listeners.
        var isClosed = false
        /// Whether event iterators end.
        var endsIterators = false
    }

    /// The time after which handled events are removed by a commit of their own.
    private static let removalDelay: Duration = .milliseconds(100)

    /// The maximum number of errors that wait for a slow listener; newer ones replace the oldest.
    static let errorsMax = 1000

    @TaskLocal private static var isDelivering = false

    /// Whether the caller is a listener.
    static var isInDelivery: Bool { isDelivering }

    private let store: DocumentStore
    private let log: SyncLog
    private let clock: any Clock<Duration>
    private let state = Locked(State())
    /// Signals that there may be new events.
    let news = Signal()
    /// Signals that handled events are to be removed now.
    private let removalIsDue = Signal()

    init(store: DocumentStore, log: SyncLog, clock: any Clock<Duration> = ContinuousClock()) {
        self.store = store
        self.log = log
        self.clock = clock
    }

    /// Whether the engine was closed.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether event iterators end.
    var endsIterators: Bool { state.withLock { $0.endsIterators } }

    /// Ends the delivery to listeners after their current event, and all event iterators.
    ///
    /// The other events stay in the store, for the next start.
    ///
    /// - Parameter endsIterators: `false` leaves the iterators, which the closing of the store ends with
    ///   an error.
    func close(endsIterators: Bool = true) {
        state.withLock { ($0.isClosed, $0.endsIterators) = (true, endsIterators) }
        news.notify()
    }

    /// Waits until no delivery uses the store any more; call it after ``close()``.
    ///
    /// Returns at once inside a listener.
    func waitForEnd() async {
        if Self.isDelivering { return }
        let receivers = state.withLock { Array($0.receivers.values) }
        for receiver in receivers { await receiver.task?.value }
        for task in state.withLock({ Array($0.storedTasks.values) }) { await task.value }
        await endRemoval()
    }

    /// Runs a closure as a delivery, inside which ``flush()`` does not wait for itself.
    func asDelivery(_ body: () async -> Void) async {
        await RunningPass.$engines.withValue([]) {
            await Self.$isDelivering.withValue(true) { await body() }
        }
    }
}

// MARK: - Receivers

extension EventDelivery {
    /// Whether a collection has a receiver of events.
    func hasReceivers(_ namespace: Namespace) -> Bool {
        state.withLock { $0.receivers.values.contains { $0.namespace == namespace } }
    }

    /// The smallest number of writes between two merges of events that no listener takes.
    private static let writesPerMerge = 64

    /// Counts a write whose events no listener takes; returns whether events have to be merged now.
    func isMergeDue(in namespace: Namespace) -> Bool {
        state.withLock { state in
            let left = state.writesToMerge[namespace, default: Self.writesPerMerge] - 1
            state.writesToMerge[namespace] = left
            return left <= 0
        }
    }

    /// Notes that events were merged; the more are left, the later is the next merge.
    func noteMerge(in namespace: Namespace, left count: Int) {
        state.withLock { $0.writesToMerge[namespace] = max(Self.writesPerMerge, count / 8) }
    }

    /// Adds a receiver, which begins with the oldest stored event that is not handled.
    func add(_ receiver: EventListenerQueue) {
        state.withLock { state in
            if let last = state.handled[receiver.namespace] { receiver.advance(to: last) }
            state.receivers[ObjectIdentifier(receiver)] = receiver
        }
        receiver.wake(self)
    }

    /// Removes a receiver; a later delivery removes the events that only it had not received.
    func remove(_ receiver: EventListenerQueue) {
        receiver.remove()
        state.withLock { _ = $0.receivers.removeValue(forKey: ObjectIdentifier(receiver)) }
    }

    /// Sets or removes the configured listener of a collection.
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

    /// Starts the delivery of stored events and errors.
    func wake() {
        news.notify()
        for receiver in state.withLock({ Array($0.receivers.values) }) { receiver.wake(self) }
        let failed = state.withLock { state in
            defer { state.failed = [] }
            return state.failed
        }
        for namespace in failed { reportStoredRejections(in: namespace) }
    }

    /// Waits until all current events and errors are delivered; returns at once inside a listener.
    func flush() async {
        if Self.isDelivering { return }
        wake()
        for task in state.withLock({ $0.receivers.values.map(\.task) }) { await task?.value }
        for task in state.withLock({ Array($0.storedTasks.values) }) { await task.value }
        for receiver in state.withLock({ Array($0.errorReceivers.values) }) {
            for task in receiver.tasks { await task.value }
        }
        await endRemoval()
    }

    /// Returns the oldest events of a collection after a sequence number.
    func events(
        after sequence: Int64, in namespace: Namespace
    ) throws -> [ChangeEvent<BSONDocument>] {
        try store.read { transaction in
            try EventOutbox.next(
                limit: EventOutbox.eventsPerRead, after: sequence, of: namespace,
                in: transaction.connection)
        }
    }

    /// Notes that a receiver has handled events: those that all receivers have handled are removed.
    func noteHandled(in namespace: Namespace) {
        state.withLock { state in
            let positions = state.receivers.values.filter { $0.namespace == namespace }
                .map(\.position)
            guard let last = positions.min(), last > 0 else { return }
            state.handled[namespace] = last
            guard state.removal == nil, !state.isClosed else { return }
            let seen = removalIsDue.count
            state.removal = Task { [weak self, clock, removalIsDue] in
                do {
                    try await removalIsDue.wait(
                        after: seen, atMost: Self.removalDelay, clock: clock)
                } catch {
                    // Nobody cancels this task. If its wait is cut short all the same, the events are
                    // removed at once.
                }
                await self?.removeHandled()
            }
        }
    }

    /// Returns the sequence number of the last event of a collection that is handled and still stored;
    /// `nil` if all handled ones are removed.
    func handled(in namespace: Namespace) -> Int64? { state.withLock { $0.handled[namespace] } }

    /// Notes that a commit removed handled events.
    func noteRemoved(upTo last: Int64, in namespace: Namespace) {
        state.withLock { state in
            if state.handled[namespace] == last { state.handled[namespace] = nil }
        }
    }

    /// Removes the handled events that no commit has removed.
    func removeHandled() async {
        let handled = state.withLock { state in
            state.removal = nil
            return state.handled
        }
        guard !handled.isEmpty else { return }
        do {
            try await store.write { transaction in
                for (namespace, last) in handled {
                    try EventOutbox.forget(upTo: last, of: namespace, in: transaction.connection)
                }
            }
            for (namespace, last) in handled { noteRemoved(upTo: last, in: namespace) }
        } catch {
            // They stay noted: the next commit removes them, or the next start delivers them again.
        }
    }

    /// Removes the handled events now; afterwards no task of this kind uses the store.
    private func endRemoval() async {
        removalIsDue.notify()
        await state.withLock { $0.removal }?.value
        await removeHandled()
    }
}

// MARK: - Errors

extension EventDelivery {
    /// Adds an error receiver.
    func add(_ receiver: ErrorListenerQueue) {
        state.withLock { $0.errorReceivers[ObjectIdentifier(receiver)] = receiver }
    }

    /// Removes an error receiver with its waiting errors.
    func remove(_ receiver: ErrorListenerQueue) {
        state.withLock { _ = $0.errorReceivers.removeValue(forKey: ObjectIdentifier(receiver)) }
        receiver.remove()
    }

    /// Sets or removes the configured error listener of a collection.
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

    /// Starts the delivery of errors, each after the current events of its collection.
    func report(_ errors: [SyncError]) {
        for error in errors {
            for receiver in receivers(ofErrorsIn: error.namespace) { receiver.add(error, self) }
        }
    }

    /// Starts the delivery of a pass's errors.
    ///
    /// An error that concerns the whole remote, such as a lost connection, is reported once to the
    /// engine's listeners; without one, to those of the collections.
    ///
    /// - Parameter collectionCount: the number of the pass's collections; an error that only one of
    ///   several had concerns that one.
    func reportPass(_ errors: [SyncError], collectionCount: Int) {
        let hasOwn = state.withLock { state in
            state.errorReceivers.values.contains { $0.namespace == nil }
        }
        guard hasOwn else { return report(errors) }
        let shared = errors.filter(\.mayConcernWholeRemote)
        let concerned = Dictionary(grouping: shared, by: { Name($0.message) }).mapValues { errors in
            Set(errors.map(\.namespace)).count
        }
        var reported: Set<Name> = []
        for error in errors {
            let text = Name(error.message)
            let count = error.mayConcernWholeRemote ? concerned[text] ?? 0 : 0
            if count == 0 || count == 1 && collectionCount > 1 {
                report([error])
            } else if reported.insert(text).inserted {
                report([SyncError(error.code, error.message, underlying: error.underlying)])
            }
        }
    }

    /// Starts the delivery of an error of the engine, which concerns no collection, to the engine's
    /// listeners; without one, to those of the collections.
    func reportOfEngine(_ error: SyncError) {
        let receivers = state.withLock { state in
            let all = state.errorReceivers.values
            let own = all.filter { $0.namespace == nil }
            return own.isEmpty ? Array(all) : own
        }
        for receiver in receivers { receiver.add(error, self) }
    }

    /// Logs once that passes fail, where no listener takes errors.
    func logUnheard(_ error: SyncError) {
        guard let namespace = error.namespace, log.isHeard else { return }
        let isNew = state.withLock { state in
            guard state.errorReceivers.isEmpty, !state.hasLoggedUnheard else { return false }
            state.hasLoggedUnheard = true
            return true
        }
        guard isNew else { return }
        log.note(
            .warning, namespace,
            "Passes fail, and no error listener is configured (configure(errorListener:) or "
                + "the errors of the engine): \(error)")
    }

    private func receivers(ofErrorsIn namespace: Namespace?) -> [ErrorListenerQueue] {
        state.withLock { state in
            state.errorReceivers.values.filter { receiver in
                receiver.namespace == nil || receiver.namespace == namespace
            }
        }
    }

    /// Delivers the current events of a collection.
    func deliverEvents(in namespace: Namespace?) async {
        let receivers = state.withLock { state in
            state.receivers.values.filter { $0.namespace == namespace }
        }
        for receiver in receivers {
            receiver.wake(self)
            await receiver.task?.value
        }
    }

    /// Starts the report of stored errors to error listeners.
    ///
    /// - Parameter namespace: the collection; `nil` for all.
    func reportStoredRejections(in namespace: Namespace?) {
        let namespaces: [Namespace]
        do {
            namespaces =
                try namespace.map { [$0] }
                ?? store.read {
                    try RejectedWriteTable(connection: $0.connection).collectionsWithUnreported()
                }
        } catch {
            // The errors stay in the store, and the next wake reports them.
            return state.withLock { _ = $0.failed.insert(namespace) }
        }
        state.withLock { state in
            guard !state.isClosed else { return }
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

    /// Returns whether stored errors have to be reported; ends the task when there are none.
    private func hasUnreported(in namespace: Namespace) -> Bool {
        state.withLock { state in
            if state.storedErrors.remove(namespace) != nil { return true }
            state.storedTasks[namespace] = nil
            return false
        }
    }

    /// Reports stored errors; each is marked once all listeners have returned.
    private func deliverStored(in namespace: Namespace) async {
        do {
            try await markReported(in: namespace)
            while !isClosed {
                let receivers = receivers(ofErrorsIn: namespace)
                if receivers.isEmpty { return }
                let (unreported, session) = try unreported(in: namespace)
                guard let error = RejectedWriteRecord.error(unreported) else { return }
                if let first = unreported.first {
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
                state.withLock { $0.reported[namespace] = unreported }
                try await markReported(in: namespace)
            }
        } catch {
            // The errors stay in the store, and the next wake reports them.
            state.withLock { _ = $0.failed.insert(namespace) }
        }
    }

    /// Marks reported errors in the store, including those for which that failed before.
    private func markReported(in namespace: Namespace) async throws {
        guard let reported = state.withLock({ $0.reported[namespace] }) else { return }
        try await store.write { transaction in
            try RejectedWriteTable(connection: transaction.connection).markReported(reported)
        }
        state.withLock { $0.reported[namespace] = nil }
    }

    private func unreported(
        in namespace: Namespace
    ) throws -> ([RejectedWriteRecord], session: Int64) {
        try store.read { transaction in
            let connection = transaction.connection
            guard
                let collection = try SyncCollectionTable(connection: connection).existing(namespace)
            else {
                return ([], 0)
            }
            let rejectedWrites = RejectedWriteTable(connection: connection)
            return (try rejectedWrites.unreported(in: collection), collection.rowID)
        }
    }
}

extension SyncError {
    /// Whether the cause may be the connection, the server or the sign-in.
    fileprivate var mayConcernWholeRemote: Bool {
        guard documentID == nil, let cause = underlying as? RemoteError else { return false }
        switch cause.errorClass {
        case .retryable, .unauthenticated: return true
        case .unknown, .rejected, .historyLost, .collectionDropped: return false
        }
    }
}
