public import BSONStore

/// An engine that syncs the documents of a store with a remote.
///
/// Local calls never wait for the network: they read and write the store. Passes carry changes both
/// ways. The app starts a pass with ``syncNow()``; ``run()`` starts passes by itself. See
/// Docs/SYNC.md.
///
/// ```swift
/// let store = try DocumentStore(at: .file("app.db"))
/// let engine = try SyncEngine(store: store, remote: remote)
/// let todos = engine.collection(Namespace("app", "todos"), of: Todo.self)
/// try await todos.insertOne(Todo(_id: 1, task: "Buy milk"))
/// try await engine.syncUntilQuiet()
/// ```
public final class SyncEngine: Sendable {
    /// The store that holds the documents and their sync records.
    public let store: DocumentStore
    /// The remote that the documents are synced with.
    public let remote: any Remote

    let limits: SyncLimits
    let backoff: Backoff
    let clock: any Clock<Duration>
    let delivery: EventDelivery
    let log = SyncLog()
    let journal: SyncJournal
    let gate = PassQueue()
    /// Signals that there is work.
    let wakes = Signal()
    /// Signals that a pass ended or a frequency changed, which may change the watched collections.
    let passes = Signal()
    /// Signals that a record or the progress may have changed.
    let changed: Signal
    /// The progress that passes count.
    let transfers: TransferProgress
    /// The stops that were reported to the app since the start.
    let reportedStops = Locked<[Namespace: SyncStop]>([:])
    private let failures: LastingFailures
    /// The files beside the documents.
    let files: AttachmentTransfers
    private let echoes = OwnEchoes()
    /// What the server was told last to wait on the device; `nil` if that is not known.
    let reportedBacklog = Locked<DeviceBacklog?>(nil)
    let probe: EngineProbe
    /// The calls of ``run()`` under way.
    let runs = RunningCalls()
    /// The subscription sets as they were last read.
    let sets = SubscriptionCache()
    let state: Locked<State>
    /// The lease on the store's file, once a pass ran; not in the state, which deliveries retain.
    let lease = Locked<SyncLease?>(nil)
    /// The observation that reports the closing of the store.
    private let closing = Locked<CommitObservation?>(nil)

    /// The state that lives in memory only.
    struct State {
        var configurations: [Namespace: CollectionConfiguration] = [:]
        var isOnline = true
        var metering = Metering()
        /// Whether the app suspended the engine.
        var isSuspended = false
        /// Whether the app closed the engine.
        var isClosed = false
    }

    /// Makes an engine over an open store.
    ///
    /// Over a read-only store the engine only reads; it writes and syncs nothing.
    ///
    /// - Parameters:
    ///   - limits: the bounds of batches, handlers and retries.
    ///   - backoff: the pauses between passes after failures.
    ///   - clock: the clock that measures waits; tests pass their own.
    ///   - initialSubscriptions: the first subscriptions of a store that never had any.
    /// - Throws: `StoreError` when the store fails; `SyncError` of code `.storeFailed` when its
    ///   sync tables are of a later version, or the store is read-only and its sync tables are
    ///   missing or of an earlier version.
    public convenience init(
        store: DocumentStore, remote: any Remote, limits: SyncLimits = SyncLimits(),
        backoff: Backoff = Backoff(), clock: any Clock<Duration> = ContinuousClock(),
        initialSubscriptions: InitialSubscriptions? = nil
    ) throws {
        try self.init(
            store: store, remote: remote, limits: limits, backoff: backoff, clock: clock,
            probe: EngineProbe(), freshInstance: UInt64.random(in: 1...UInt64.max),
            initialSubscriptions: initialSubscriptions)
    }

    /// Makes an engine with a probe and a fixed instance number, which make a run repeatable.
    package init(
        store: DocumentStore, remote: any Remote, limits: SyncLimits, backoff: Backoff,
        clock: any Clock<Duration>, probe: EngineProbe, freshInstance: UInt64,
        initialSubscriptions: InitialSubscriptions? = nil
    ) throws {
        self.store = store
        self.remote = remote
        self.limits = limits.clamped
        failures = LastingFailures(span: limits.failureSpan)
        journal = SyncJournal(conflictsMax: self.limits.conflictsKept)
        self.backoff = backoff
        self.clock = clock
        self.probe = probe
        changed = Signal()
        transfers = TransferProgress(changed: changed)
        state = Locked(State())
        delivery = EventDelivery(store: store, log: log)
        files = AttachmentTransfers(
            store, remote, RemoteRequests(limit: self.limits.requestTimeout, clock: clock),
            isInOrder: probe.answerArriving != nil)
        if store.isReadOnly {
            try store.read { try SyncSchema.check($0.connection) }
        } else {
            let introduction = remote as? any DeviceIntroduction
            let device = try store.write { transaction in
                transaction.isEngineWrite = true
                try SyncSchema.prepare(transaction, freshInstance: freshInstance)
                try initialSubscriptions?.run(transaction, sets)
                return try FormerInstances(connection: transaction.connection).identity()
            }
            // The remote may outlive the engine.
            introduction?.introduce(device) { [weak self] in self?.backlogOfConnection() }
        }
        // A weak reference, since the store may outlive the engine.
        let observation = store.observeClosing { [weak self] in self?.noteClosed() }
        closing.withLock { $0 = observation }
    }

    /// The subscriptions: queries whose documents the engine keeps on the device.
    public var subscriptions: SyncSubscriptions { SyncSubscriptions(engine: self) }

    /// Returns a collection of raw BSON documents.
    public func collection(_ namespace: Namespace) -> SyncCollection<BSONDocument> {
        SyncCollection(engine: self, namespace: namespace, coding: .raw)
    }

    /// Returns a collection of `Codable` documents; updates keep fields that the type does not
    /// know.
    public func collection<Document: Codable & Sendable>(
        _ namespace: Namespace, of type: Document.Type
    ) -> SyncCollection<Document> {
        SyncCollection(engine: self, namespace: namespace, coding: DocumentCoding())
    }
}

// MARK: - Transactions

extension SyncEngine {
    /// Runs a transaction over one collection's documents, records and events, whose body finds every
    /// record complete.
    ///
    /// The app's changes of documents run by ``writeForApp(_:_:)``, which can also check them.
    func write<R: Sendable>(
        _ namespace: Namespace, _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        try await write(namespace, expanding: true, body)
    }

    /// Runs a transaction over one collection's documents, records and events.
    ///
    /// - Parameter expanding: whether state that is stored once for several records is first written to
    ///   each of them, so that the body finds every record complete: in transactions of the app, and in
    ///   those of a pass that ask for it.
    func write<R: Sendable>(
        _ namespace: Namespace, expanding: Bool,
        _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        let listens = listens(to: namespace)
        let sets = sets
        let (notesDocuments, keepsReferences) = (files.isUsed, self.keepsReferences)
        let limits = limits
        let handled = delivery.handled(in: namespace)
        let merge = listens == true ? nil : dueMerge(in: namespace)
        let (result, hasReport, left, changed, added) = try await write { transaction in
            if let handled {
                try EventOutbox.forget(
                    upTo: handled, of: namespace, in: transaction.connection)
            }
            let stored = SyncCollectionTable(connection: transaction.connection)
            var collection = try stored.findOrInsert(namespace)
            try stored.save(listens: listens, in: &collection)
            var sync = SyncTransaction(
                transaction: transaction, collection: collection, sets: sets)
            sync.notesDocuments = notesDocuments
            sync.keepsReferences = keepsReferences
            sync.keepsHistory = limits.keepsHistory
            if expanding { try ExpandBatches(sync: sync).run() }
            let result = try body(sync)
            try sync.storeHistory(limits)
            let left = collection.listens ? try merge?(transaction, collection.rowID) : nil
            return (result, sync.hasReport, left, sync.changedDocuments, try sync.addedFiles())
        }
        if let handled { delivery.noteRemoved(upTo: handled, in: namespace) }
        files.note(changed, in: namespace)
        files.note(added: added)
        if listens == true { delivery.wake() }
        if hasReport { delivery.reportStoredRejections(in: namespace) }
        if let left { delivery.noteMerge(in: namespace, left: left) }
        return result
    }

    /// Runs a transaction in which the app changes documents; a strict one judges its writes at once.
    ///
    /// The body has each change noted (``NoteLocalWrite``), and the caller then calls ``wake()``;
    /// ``change(_:_:)`` does both for updates.
    func writeForApp<R: Sendable>(
        _ namespace: Namespace, _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        let strict = state.withLock { $0.configurations[namespace]?.strict }
        return try await write(namespace) { sync in
            var sync = sync
            sync.strict = strict
            return try body(sync)
        }
    }

    /// Runs an update of the app, notes each changed document and wakes the next pass.
    func change(
        _ namespace: Namespace,
        _ body: @escaping @Sendable (SyncTransaction) throws -> UpdateResult
    ) async throws -> UpdateResult {
        let result = try await writeForApp(namespace) { sync in
            let outcome = try body(sync)
            var untouched = 0
            for image in outcome.images {
                try NoteLocalWrite(sync: sync).note(before: image.before, after: image.after)
                // The write removes a version field that the app sets.
                if let before = image.before, before == image.after?.withoutVersion {
                    untouched += 1
                }
            }
            return UpdateResult(
                matchedCount: outcome.matchedCount,
                modifiedCount: outcome.modifiedCount - untouched, upsertedID: outcome.upsertedID)
        }
        wake()
        return result
    }

    /// Runs a transaction over the whole store.
    func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        try checkIsOpen()
        let probe = probe
        let work: @Sendable (WriteTransaction) throws -> R = { transaction in
            transaction.isEngineWrite = true
            let result = try body(transaction)
            try probe.beforeCommit()
            return result
        }
        let result =
            probe.commitsOnCallingThread
            ? try writeOnCallingThread(work) : try await store.write(work)
        try probe.afterCommit()
        changed.notify()
        return result
    }

    /// Whether a collection has a listener; `nil` until the app configures the collection or
    /// listens.
    func listens(to namespace: Namespace) -> Bool? {
        if delivery.hasReceivers(namespace) { return true }
        let isConfigured = state.withLock { $0.configurations[namespace]?.isSet } ?? false
        return isConfigured && ownsStoreFile ? false : nil
    }

    /// A merge of events that no listener takes, within the transaction of a write to their collection.
    ///
    /// - Returns: the number of events that are left; `nil` if a listener takes them by now.
    private typealias Merge = @Sendable (WriteTransaction, _ collection: Int64) throws -> Int?

    /// Returns the merge that is due after some writes.
    ///
    /// It is part of the write, so that no failure of it is one of a write that is stored. Only the engine
    /// that syncs the file knows that no listener takes the events.
    private func dueMerge(in namespace: Namespace) -> Merge? {
        guard ownsStoreFile, delivery.isMergeDue(in: namespace) else { return nil }
        return { [limits, delivery] transaction, collection in
            guard !delivery.hasReceivers(namespace) else { return nil }
            do {
                return try transaction.savepoint {
                    try EventMerge(
                        connection: transaction.connection, collection: collection,
                        countMax: limits.eventsKept, bytesMax: limits.eventBytesKept
                    ).run()
                }
            } catch let error as SyncError {
                // An event that cannot be read stops no write; the merge is due again much later.
                delivery.reportOfEngine(error)
                return limits.eventsKept
            }
        }
    }

    /// Whether this engine alone syncs the store.
    ///
    /// An engine that only writes to the file does not know the listeners of the engine that syncs
    /// it.
    private var ownsStoreFile: Bool {
        store.location == .inMemory || lease.withLock { $0 != nil }
    }

    /// Commits on the calling thread.
    func writeOnCallingThread<R>(_ work: (WriteTransaction) throws -> R) throws -> R {
        try store.write(work)
    }
}

// MARK: - Network

extension SyncEngine {
    /// Whether passes may connect to the remote: not after `setOnline(false)`, and not while the
    /// engine is suspended.
    public var isOnline: Bool { state.withLock { $0.isOnline && !$0.isSuspended } }

    /// Whether passes run by themselves: a call of ``run()`` is under way.
    var isRunning: Bool { runs.areRunning }

    /// Sets whether the engine may use the network.
    ///
    /// While offline, reads and writes continue and changes queue. A running pass sends no further
    /// request and reports no error to the listeners; its report has the code `.offline`. Back
    /// online, a pass runs at once.
    public func setOnline(_ isOnline: Bool) {
        state.withLock { $0.isOnline = isOnline }
        if isOnline {
            wake()
            files.wakes.notify()
        }
    }

    /// Notes that the user signed in, the first time or again, and starts a pass at once.
    public func noteSignIn() {
        wake()
        files.wakes.notify()
    }

    /// Signals that there is work.
    func wake() { wakes.notify() }
}

// MARK: - Passes

extension SyncEngine {
    /// Makes the next pass compare all versions of a collection, as after a gap in the history.
    public func forceScan(_ namespace: Namespace) async throws {
        try await write(namespace) { sync in
            var collection = sync.collection
            collection.needsScan = true
            try sync.collections.save(collection)
        }
        wake()
    }
}

extension SyncEngine {
    /// Runs one pass over all collections: first pull, then push.
    ///
    /// The next pass uploads the resolution of a conflict. A failure in one collection does not
    /// stop the others; the report lists it.
    ///
    /// - Throws: `SyncError` of code `.offline` after `setOnline(false)` or ``suspend()``,
    ///   `.storeInUse` when
    ///   another engine syncs the store's file, `.passUnderWay` inside a conflict handler;
    ///   `StoreError` when the store fails; `CancellationError`.
    @discardableResult
    public func syncNow() async throws -> SyncPassReport { try await syncNow(only: nil) }

    /// Runs one pass, or only some of its steps, over some collections or all.
    @discardableResult
    func syncNow(
        only namespaces: Set<Namespace>?, steps: SyncPass.Steps = .all,
        history: HistoryWatch? = nil
    ) async throws -> SyncPassReport {
        try checkIsOpen()
        try checkIsOnline()
        try checkIsOutsideOfPass()
        return try await gate.run {
            // The engine may be closed during the previous pass, or by a handler of this one; it
            // may be suspended, too, and then must not take the lease again.
            try checkIsOpen()
            try checkIsOnline()
            defer {
                if isClosed {
                    noteClosed()
                } else if isSuspended {
                    lease.withLock { $0 = nil }
                }
            }
            try takeLease()
            do {
                transfers.resetMinimum()
                defer { transfers.resetMinimum() }
                let passing = RunningPass.engines.union([ObjectIdentifier(self)])
                let report = try await RunningPass.$engines.withValue(passing) {
                    var engine = passEngine
                    engine.history = history
                    return try await SyncPass(engine: engine, only: namespaces, steps: steps).run()
                }
                try await journal.store(report, write: writeAside)
                try await shareConflicts(after: report)
                try await reportBacklog(after: report)
                files.notePass(changedSubscriptions: report.subscriptionSets > 0)
                try await probe.passEnded(report)
                return report
            } catch let error as StoreError where error.code == .closed {
                noteClosed()
                throw error
            }
        }
    }

    private func checkIsOnline() throws(SyncError) {
        guard !isOnline else { return }
        throw SyncError(
            .offline, isSuspended ? "the engine is suspended" : "the engine is offline")
    }

    /// Runs passes until one finds nothing to do; paused documents and open conflicts stay.
    ///
    /// - Parameter passesMax: the maximum number of passes.
    /// - Returns: the sum of all reports, and the number of passes.
    @discardableResult
    public func syncUntilQuiet(
        passesMax: Int = 10
    ) async throws -> (report: SyncPassReport, passes: Int) {
        var total = SyncPassReport()
        for pass in 1...max(passesMax, 1) {
            let report = try await syncNow()
            total.add(report)
            if report.isQuiet || !report.reachedRemote { return (total, pass) }
        }
        return (total, passesMax)
    }

    /// Delivers all events and errors that are stored now to the app's listeners.
    ///
    /// Called by a listener, it returns at once.
    public func flushEvents() async { await delivery.flush() }
}

extension SyncEngine {
    /// Syncs until the task is cancelled.
    ///
    /// It runs a pass at once, then after each local or remote change, and after a failure by the
    /// backoff. It runs in the caller's task, with child tasks that watch the remotes' histories.
    /// While another engine syncs the file, it waits for the end of that one; the error listener gets
    /// one `.storeInUse`.
    ///
    /// - Throws: `StoreError` when the store fails; returns when the task is cancelled, and after
    ///   ``close()``.
    public func run() async throws {
        runs.begin()
        defer { runs.end() }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.syncLoop.run() }
                group.addTask {
                    await self.files.run(
                        isOnline: { self.isOnline }, carries: { self.carriesByItself($0) },
                        backoff: self.backoff
                    ) {
                        if $0.namespace == nil {
                            self.delivery.reportOfEngine($0)
                        } else {
                            self.delivery.report([$0])
                        }
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch is CancellationError where Task.isCancelled {
            return
        } catch let error as StoreError where error.code == .closed && isClosed {
            return
        }
    }
}

extension SyncEngine {
    /// The loop of ``run()``.
    private var syncLoop: SyncLoop {
        let history = HistoryWatch()
        return SyncLoop(
            store: store, remote: remote, requests: requests, limits: limits,
            backoff: backoff, clock: clock, sets: sets, wakes: wakes, passes: passes,
            faults: StoreFaults { [delivery] in delivery.reportOfEngine($0) },
            isOnline: { self.syncsByItself },
            noteMetered: { self.noteSystemNetwork(isMetered: $0) },
            checkIsOpen: { try self.checkIsOpen() },
            frequency: { self.configuration(of: $0).frequency }, history: history,
            echoes: echoes,
            pass: {
                try self.checkSyncsByItself()
                return try await self.syncNow(only: $0, steps: $1, history: history)
            })
    }
}

extension SyncEngine: PassWriter {
    /// The parts that a pass uses.
    private var passEngine: PassEngine {
        PassEngine(
            store: store, remote: remote, writer: self, requests: requests, limits: limits,
            clock: clock, sets: sets, journal: journal, log: log, delivery: delivery,
            progress: transfers, reportedStops: reportedStops, failures: failures,
            conflictFound: probe.conflictFound,
            answerArriving: probe.answerArriving, echoes: echoes)
    }

    /// The sending of requests with the engine's time limit.
    var requests: RemoteRequests { RemoteRequests(limit: limits.requestTimeout, clock: clock) }

    var keepsReferences: Bool { files.mayHaveFiles }

    func configuration(of namespace: Namespace) -> CollectionConfiguration {
        state.withLock { $0.configurations[namespace] } ?? CollectionConfiguration()
    }
}

extension SyncPassReport {
    /// Whether another pass would find nothing to do, unless something happened meanwhile: the pass
    /// only carried documents.
    var isSettled: Bool {
        var rest = self
        (rest.taken, rest.removed, rest.uploaded, rest.evicted) = (0, 0, 0, 0)
        return rest.isQuiet && unexplained == 0 && errors.isEmpty
    }

    /// Whether the pass downloaded, uploaded, resolved and paused nothing, and left nothing to do.
    public var isQuiet: Bool {
        taken == 0 && removed == 0 && uploaded == 0 && conflicts == 0 && paused == 0
            && reverted == 0 && answered == 0 && overtaken == 0 && evicted == 0
            && subscriptionSets == 0
    }
}
