public import BSONStore

/// Keeps documents of a store and of a remote in step.
///
/// Local calls never wait for the network: they write to the store, and passes carry changes both
/// ways. A pass runs when ``syncNow()`` is called, or by itself while ``run()`` runs. See Docs/SYNC.md.
public final class SyncEngine: Sendable {
    /// The store that holds the documents and what sync knows of them.
    public let store: DocumentStore
    /// Where the documents are kept in step with.
    public let remote: any Remote

    let limits: SyncLimits
    let backoff: Backoff
    let clock: any Clock<Duration>
    let delivery: EventDelivery
    let log = SyncLog()
    let journal: SyncJournal
    let gate = PassQueue()
    /// Something is to be done.
    let wakes = Signal()
    /// A pass ended, or a frequency changed: what is watched may be another.
    let passes = Signal()
    /// A record may have changed, or something was carried.
    let changed = Signal()
    let probe: EngineProbe
    /// The sets of subscriptions as they were last read.
    let sets = SubscriptionCache()
    let state: Locked<State>
    /// The right to sync the store's file, once a pass ran; not in the state, which deliveries keep.
    let lease = Locked<SyncLease?>(nil)
    /// Tells the engine that its store was closed.
    private let closing = Locked<CommitObservation?>(nil)
    /// The engines whose pass the task runs, or whose conflict handler it is.
    @TaskLocal static var passing: Set<ObjectIdentifier> = []

    /// What lives in memory only.
    struct State {
        var configurations: [Namespace: CollectionConfiguration] = [:]
        /// The stops that the app was told of since the start.
        var reportedStops: [Namespace: SyncStop] = [:]
        var isOnline = true
        var progress = SyncProgress()
        var totals = TransferTotals()
        /// ``SyncEngine/close()`` was called.
        var isClosed = false
    }

    /// Sets an engine up over an open store.
    ///
    /// Over a store that is open for reading only it tells what is there, and writes and syncs nothing.
    ///
    /// - Parameters:
    ///   - limits: bounds of batches, handlers and retries.
    ///   - backoff: the spacing of passes after failures.
    ///   - clock: what waiting is measured by; tests pass their own.
    ///   - initialSubscriptions: what a store that never had subscriptions begins with.
    /// - Throws: `StoreError` when the store fails, `SyncError` of code `.storeFailed` when its sync
    ///   tables are of a later version, or the store is for reading only and has none, or earlier ones.
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

    /// As the public one, with what makes a run repeatable.
    package init(
        store: DocumentStore, remote: any Remote, limits: SyncLimits, backoff: Backoff,
        clock: any Clock<Duration>, probe: EngineProbe, freshInstance: UInt64,
        initialSubscriptions: InitialSubscriptions? = nil
    ) throws {
        self.store = store
        self.remote = remote
        self.limits = limits.clamped
        journal = SyncJournal(conflictsMax: self.limits.conflictsKept)
        self.backoff = backoff
        self.clock = clock
        self.probe = probe
        state = Locked(State())
        delivery = EventDelivery(store: store, log: log)
        if store.isReadOnly {
            try store.read { try SyncSchema.check($0.connection) }
        } else {
            try store.write { transaction in
                transaction.isEngineWrite = true
                try SyncSchema.prepare(transaction, freshInstance: freshInstance)
                try initialSubscriptions?.run(transaction, sets)
            }
        }
        // Not strongly: the store may outlive the engine.
        let observation = store.observeClosing { [weak self] in self?.noteClosed() }
        closing.withLock { $0 = observation }
    }

    /// A collection of raw BSON documents.
    public func collection(_ namespace: Namespace) -> SyncCollection<BSONDocument> {
        SyncCollection(engine: self, namespace: namespace, coding: .raw)
    }

    /// A collection of `Codable` documents; fields that the type does not know are kept.
    public func collection<Document: Codable & Sendable>(
        _ namespace: Namespace, of type: Document.Type
    ) -> SyncCollection<Document> {
        SyncCollection(engine: self, namespace: namespace, coding: .codable())
    }
}

// MARK: - Transactions

extension SyncEngine {
    /// Runs a transaction over one collection's documents, records and events.
    ///
    /// - Parameters:
    ///   - expanding: whether what is stored for several records at once is first spread over them,
    ///     so that the body finds each as it is.
    ///   - byApp: whether the app writes, which a strict collection judges at once.
    func write<R: Sendable>(
        _ namespace: Namespace, expanding: Bool = true, byApp: Bool = false,
        _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        let listens = listens(to: namespace)
        let sets = sets
        let strict = byApp ? state.withLock { $0.configurations[namespace]?.strict } : nil
        let (result, hasReport) = try await write { transaction in
            let state = SyncStateTable(connection: transaction.connection)
            var collection = try state.collection(namespace)
            try state.note(listens: listens, in: &collection)
            var sync = SyncTransaction(
                transaction: transaction, collection: collection, sets: sets)
            sync.strict = strict
            if expanding { try sync.expand() }
            let result = try body(sync)
            return (result, hasReport: sync.hasReport)
        }
        if listens == true { delivery.wake() }
        if hasReport { delivery.reportStoredRejections(in: namespace) }
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

    /// Whether somebody listens to a collection; unknown until the app configured it or listens.
    func listens(to namespace: Namespace) -> Bool? {
        if delivery.hasReceivers(namespace) { return true }
        let isConfigured = state.withLock { $0.configurations[namespace]?.isSet } ?? false
        return isConfigured && ownsStoreFile ? false : nil
    }

    /// Nobody else's listeners depend on what this engine says: an engine that only writes beside the
    /// one that syncs the file knows nothing of that one's.
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
    /// Whether passes may go to the remote.
    public var isOnline: Bool { state.withLock { $0.isOnline } }

    /// Tells the engine that there is a network, or that there is none.
    ///
    /// Offline, reads and writes go on and changes queue; online again, a pass runs at once.
    public func setOnline(_ isOnline: Bool) {
        state.withLock { $0.isOnline = isOnline }
        if isOnline { wake() }
    }

    /// Tells the engine that its user signed in, or signed in anew: a pass runs at once.
    public func noteSignIn() { wake() }

    /// Notes that there is something to do.
    func wake() { wakes.notify() }
}

// MARK: - Passes

extension SyncEngine {
    /// Has the next pass compare all versions of a collection, as after a gap in the history.
    public func forceScan(_ namespace: Namespace) async throws {
        try await write(namespace) { sync in
            var collection = sync.collection
            collection.needsScan = true
            try sync.state.save(collection)
        }
        wake()
    }
}

extension SyncEngine {
    /// Runs one pass over all collections: remote to local, then local to remote.
    ///
    /// A conflict that a handler answers in a pass is uploaded by the next one.
    /// A collection whose remote fails does not keep the others from their turn; the report tells.
    ///
    /// - Throws: `SyncError` of code `.offline` when the app said so, `.storeInUse` when another
    ///   engine syncs the store's file, `.passUnderWay` inside of a conflict handler; `StoreError`
    ///   when the store fails; `CancellationError`.
    @discardableResult
    public func syncNow() async throws -> SyncPassReport { try await syncNow(only: nil) }

    /// Runs one pass over some collections, or all, or a part of it.
    @discardableResult
    func syncNow(
        only namespaces: Set<Namespace>?, direction: SyncPass.Direction = .both
    ) async throws -> SyncPassReport {
        try checkIsOpen()
        guard isOnline else { throw SyncError(.offline, "the engine is offline") }
        try checkIsOutsideOfPass()
        return try await gate.run {
            // It may have been closed while the pass before was under way, or by a handler of this one.
            try checkIsOpen()
            defer { if isClosed { noteClosed() } }
            try takeLease()
            do {
                state.withLock { $0.totals.resetMinimum() }
                defer { state.withLock { $0.totals.resetMinimum() } }
                let passing = Self.passing.union([ObjectIdentifier(self)])
                let report = try await Self.$passing.withValue(passing) {
                    try await SyncPass(engine: self, only: namespaces, direction: direction).run()
                }
                try await journal.store(report, in: self)
                try await probe.passEnded(report)
                return report
            } catch let error as StoreError where error.code == .closed {
                noteClosed()
                throw error
            }
        }
    }

    /// Runs passes until a pass finds nothing to do; what is paused or waits for a handler stays.
    ///
    /// - Parameter passesMax: gives up after so many.
    /// - Returns: what all passes did, and how many there were.
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

    /// Delivers all events and errors that are there now to the app's listeners.
    ///
    /// Inside of a listener it returns at once.
    public func flushEvents() async { await delivery.flush() }
}

extension SyncPassReport {
    /// Nothing was taken in, sent, resolved, paused or left for the next pass.
    public var isQuiet: Bool {
        taken == 0 && removed == 0 && uploaded == 0 && conflicts == 0 && paused == 0
            && reverted == 0 && answered == 0 && overtaken == 0 && evicted == 0
            && subscriptionSets == 0
    }
}
