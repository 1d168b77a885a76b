internal import BSONStore

/// Says by queries which documents an engine keeps on the device.
///
/// Sets of subscriptions are kept in the store: they are changed offline, and survive a restart. See
/// Docs/FLEXIBLE-SYNC.md.
public struct SyncSubscriptions: Sendable {
    let engine: SyncEngine

    /// The set that was committed last, whatever became of it.
    ///
    /// - Throws: `StoreError` when the store cannot be read, as all that asks for sets does.
    public var latest: SubscriptionSet { get throws { try history().latest } }

    /// The set whose documents are here.
    public var active: SubscriptionSet { get throws { try history().active } }

    /// How far the latest set has come.
    public var state: SubscriptionState { get throws { try latest.state } }

    /// The version of the latest set; 0 before the first.
    public var version: Int64 { get throws { try latest.version } }

    /// How many subscriptions the latest set has.
    public var count: Int { get throws { try latest.subscriptions.count } }

    /// The latest set's subscription of a name.
    public func first(named name: String) throws -> Subscription? {
        try latest.first(named: name)
    }

    /// A subscription of the latest set with a query, named or not.
    public func first(with query: SubscriptionQuery) throws -> Subscription? {
        try latest.first(with: query)
    }

    /// How far the set of a version has come; `nil` for one that never was.
    public func state(of version: Int64) throws -> SubscriptionState? {
        try history().state(of: version)
    }

    /// The latest set now and whenever it, or its state, is another, for `for await`.
    public var updates: SyncUpdates<SubscriptionSet> {
        SyncUpdates(engine: engine) { try latest }
    }

    private func history() throws -> SubscriptionHistory {
        try engine.store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: engine.sets).history()
        }
    }
}

// MARK: - Changing

extension SyncSubscriptions {
    /// Makes the next set: what the body makes of the latest one, in one transaction.
    ///
    /// Works offline; the documents come and go with a pass. Writes made before it are sent before
    /// it, and judged by the sets before it.
    ///
    /// - Returns: the new set, also where nothing was changed.
    /// - Throws: what the body throws: then there is no new set; `StoreError`.
    @discardableResult
    public func update(
        _ body: @escaping @Sendable (inout SubscriptionChanges) throws -> Void
    ) async throws -> SubscriptionSet {
        let cache = engine.sets
        let set = try await engine.write { transaction in
            try Self.commit(body, transaction, cache)
        }
        engine.wake()
        return set
    }

    /// Commits a change of the latest set.
    static func commit(
        _ body: (inout SubscriptionChanges) throws -> Void, _ transaction: WriteTransaction,
        _ cache: SubscriptionCache
    ) throws -> SubscriptionSet {
        let sets = SubscriptionTable(connection: transaction.connection, cache: cache)
        var history = try sets.history()
        var changes = SubscriptionChanges(
            of: history.latest, now: .now, makeID: { BSONObjectID() })
        try body(&changes)
        let set = history.commit(changes)
        let state = SyncStateTable(connection: transaction.connection)
        var seen: Set<Namespace> = []
        for namespace in set.subscriptions.map(\.query.namespace)
        where seen.insert(namespace).inserted {
            var collection = try state.collection(namespace)
            guard !collection.isSubscribed else { continue }
            collection.isSubscribed = true
            try state.save(collection)
        }
        // It knows earlier writes by the collections that are asked of.
        try sets.add(set)
        return set
    }
}

// MARK: - Waiting

extension SyncSubscriptions {
    /// Runs passes until the documents of a set are here, or a later set took over; waits for them
    /// where another engine syncs the file, and through times offline.
    ///
    /// - Parameters:
    ///   - version: the set's; the latest unless told.
    ///   - timeout: how long at most; for ever unless told.
    /// - Throws: `SyncError` of code `.subscriptionFailed` with the remote's words when it refused the
    ///   set, `.timedOut`, `.authRequired`, that of a collection that is stopped, and those of ``SyncEngine/syncNow()`` but `.offline`;
    ///   `CancellationError`.
    public func waitForSynchronization(
        of version: Int64? = nil, timeout: Duration? = nil
    ) async throws {
        try await waitForSynchronization(of: version, asking: false, timeout: timeout)
    }

    /// As the public one.
    ///
    /// - Parameter isAsking: whether the remote is asked for news in any case.
    func waitForSynchronization(
        of version: Int64?, asking isAsking: Bool, timeout: Duration?
    ) async throws {
        let version = try version ?? self.version
        guard let timeout else { return try await wait(for: version, asking: isAsking) }
        do {
            try await withTimeout(timeout, clock: engine.clock) {
                try await wait(for: version, asking: isAsking)
            }
        } catch is TimeoutError {
            let seconds = timeout.formattedSeconds
            throw SyncError(
                .timedOut, "Waiting for update timed out after \(seconds) seconds.")
        }
    }

    private func wait(for version: Int64, asking isAsking: Bool) async throws {
        var fruitless = 0
        var isToAsk = isAsking
        var patience = PassRetryPolicy()
        var random = SystemRandomNumberGenerator()
        while try !isThere(version) || isToAsk {
            let (seen, commits) = (engine.wakes.count, engine.store.commitCount)
            let passed: SyncPassReport?
            do {
                passed = try await engine.runPassIfOnline()
            } catch let error as SyncError where error.code == .storeInUse {
                // The documents come by the engine that syncs the file.
                try await engine.waitForOtherEngine(after: commits)
                isToAsk = false
                continue
            }
            guard let report = passed else {
                try await engine.waitUntilWoken(after: seen)
                continue
            }
            if report.reachedRemote { isToAsk = false }
            if try isThere(version), !isToAsk { return }
            if let error = try endOfWaiting(report) { throw error }
            let mayGoOn = report.reachedRemote && patience.mayGoOn(after: report)
            fruitless = mayGoOn ? 0 : fruitless + 1
            guard fruitless > 0 else { continue }
            let jitter = Double.random(in: 0..<1, using: &random)
            try await engine.wakes.wait(
                after: seen,
                atMost: engine.backoff.delay(afterFailures: fruitless, jitter: jitter),
                clock: engine.clock)
        }
    }

    /// Why only a person can end the wait, if so: somebody has to sign in, or a collection that is
    /// asked for is stopped.
    private func endOfWaiting(_ report: SyncPassReport) throws -> SyncError? {
        if report.errors.contains(.authRequired) { return SyncEngine.authRequired() }
        for namespace in try Set(latest.subscriptions.map(\.query.namespace)) {
            if let stopped = try engine.stopError(in: namespace) { return stopped }
        }
        return nil
    }

    private func isThere(_ version: Int64) throws -> Bool {
        // Nothing comes with the empty set that every store begins with.
        guard version > 0 else { return true }
        guard let state = try state(of: version) else {
            throw StoreError(.badValue, "There is no set of subscriptions of version \(version)")
        }
        switch state.wait(for: .complete) {
        case .reached: return true
        case .waiting: return false
        case .failed(let text): throw SyncError(.subscriptionFailed, text)
        }
    }
}

extension Duration {
    /// Seconds with what is behind the point, without zeros at the end.
    fileprivate var formattedSeconds: String {
        let (seconds, attoseconds) = components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return "\(seconds)" }
        var text = "\(seconds)." + String("00\(milliseconds)".suffix(3))
        while text.last == "0" { text.removeLast() }
        return text
    }
}

/// Says whether a call that changes subscriptions waits for the documents.
public enum WaitForSync: Sendable, Hashable, CaseIterable {
    /// Only where the subscription is new.
    case onCreation
    /// In any case.
    case always
    /// Not at all: the documents come later.
    case never
}

/// Gives an engine its first subscriptions, in its configuration.
public struct InitialSubscriptions: Sendable {
    /// Whether the body runs again with each engine, and not only for a store that never had any.
    public let rerunOnOpen: Bool
    let body: @Sendable (inout SubscriptionChanges) throws -> Void

    /// Takes a body that makes the first set of subscriptions.
    public init(
        rerunOnOpen: Bool = false,
        _ body: @escaping @Sendable (inout SubscriptionChanges) throws -> Void
    ) {
        self.rerunOnOpen = rerunOnOpen
        self.body = body
    }

    /// Makes the first set, or the next one where that is wanted.
    func run(_ transaction: WriteTransaction, _ cache: SubscriptionCache) throws {
        let sets = SubscriptionTable(connection: transaction.connection, cache: cache)
        guard try rerunOnOpen || sets.history().latest.version == 0 else { return }
        _ = try SyncSubscriptions.commit(body, transaction, cache)
    }
}
