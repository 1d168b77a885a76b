internal import BSONStore

/// The subscriptions of an engine: queries that choose the documents on the device.
///
/// The store keeps the subscription sets. The app can change them offline, and they survive a
/// restart. See Docs/FLEXIBLE-SYNC.md.
///
/// ```swift
/// let query = try SubscriptionQuery(todos.find(["done": false]))
/// try await engine.subscriptions.update { changes in
///     changes.insertOrAssign(query, named: "open")
/// }
/// try await engine.subscriptions.waitForSynchronization(timeout: .seconds(30))
/// ```
public struct SyncSubscriptions: Sendable {
    let engine: SyncEngine

    /// The set that was committed last, in any state.
    ///
    /// - Throws: `StoreError` when the store cannot be read, as all members that read sets do.
    public var latest: SubscriptionSet { get throws { try history().latest } }

    /// The set whose documents are on the device.
    public var active: SubscriptionSet { get throws { try history().active } }

    /// The state of the latest set.
    public var state: SubscriptionState { get throws { try latest.state } }

    /// The version of the latest set; 0 before the first.
    public var version: Int64 { get throws { try latest.version } }

    /// The number of subscriptions in the latest set.
    public var count: Int { get throws { try latest.subscriptions.count } }

    /// Returns the latest set's subscription with a name.
    public func first(named name: String) throws -> Subscription? {
        try latest.first(named: name)
    }

    /// Returns a subscription of the latest set with a query, named or not.
    public func first(with query: SubscriptionQuery) throws -> Subscription? {
        try latest.first(with: query)
    }

    /// Returns the state of the set with a version; `nil` for a version that never existed.
    public func state(of version: Int64) throws -> SubscriptionState? {
        try history().state(of: version)
    }

    /// The latest set now and after each change of the set or its state, for `for try await`.
    public var updates: SyncUpdates<SubscriptionSet> {
        SyncUpdates(engine: engine) { try latest }
    }

    /// Returns whether the documents of a query are on the device.
    func holds(_ query: SubscriptionQuery) throws -> Bool {
        try history().held.queries.all.contains(query)
    }

    private func history() throws -> SubscriptionHistory {
        try engine.store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: engine.sets).history()
        }
    }
}

// MARK: - Changing

extension SyncSubscriptions {
    /// Commits the next set: the latest one with the changes of a closure, in one transaction.
    ///
    /// Works offline; a later pass downloads and evicts the documents. The engine uploads earlier
    /// writes first, under the earlier sets.
    ///
    /// - Returns: the new set, even where the closure changed nothing.
    /// - Throws: the closure's error, which commits no set; `StoreError`.
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
        let stored = SyncCollectionTable(connection: transaction.connection)
        var seen: Set<Namespace> = []
        for namespace in set.subscriptions.map(\.query.namespace)
        where seen.insert(namespace).inserted {
            var collection = try stored.findOrInsert(namespace)
            guard !collection.isSubscribed else { continue }
            collection.isSubscribed = true
            try stored.save(collection)
        }
        // Finds earlier writes by the collections that the set queries.
        try sets.add(set)
        return set
    }
}

// MARK: - Waiting

extension SyncSubscriptions {
    /// Runs passes until the documents of a set are on the device or a later set superseded it.
    ///
    /// Continues to wait while the engine is offline or another engine syncs the file.
    ///
    /// - Parameters:
    ///   - version: the version of the set; the latest by default.
    ///   - timeout: the longest wait; `nil` sets no limit.
    /// - Throws: `SyncError` of code `.subscriptionFailed` with the remote's message when the
    ///   remote refused the set, `.timedOut`, `.authRequired`, `.notAuthorized`, the error of a stopped
    ///   collection, and the errors of ``SyncEngine/syncNow()`` except `.offline`; `CancellationError`.
    public func waitForSynchronization(
        of version: Int64? = nil, timeout: Duration? = nil
    ) async throws {
        try await waitForSynchronization(
            of: version, asking: false, for: .allQueries, timeout: timeout)
    }

    /// Waits as the public method does, and may ask the remote in any case.
    ///
    /// - Parameters:
    ///   - isAsking: whether a pass must reach the remote first.
    ///   - goal: what of the set the caller waits for.
    func waitForSynchronization(
        of version: Int64?, asking isAsking: Bool = false, for goal: Goal = .allQueries,
        timeout: Duration?
    ) async throws {
        let version = try version ?? self.version
        guard let timeout else {
            var wait = Wait(version: version, isAsking: isAsking, goal: goal)
            if case .removal = goal { wait.mayStall = false }
            return try await self.wait(wait)
        }
        do {
            try await withTimeout(timeout, clock: engine.clock) {
                try await self.wait(Wait(version: version, isAsking: isAsking, goal: goal))
            }
        } catch is TimeoutError {
            let seconds = timeout.formattedSeconds
            throw SyncError(
                .timedOut, "Waiting for update timed out after \(seconds) seconds.")
        }
    }

    /// The part of a set that a call waits for; a refusal of another query does not end the wait.
    enum Goal: Sendable {
        /// The documents of all queries.
        case allQueries
        /// The documents of one query.
        case query(SubscriptionQuery)
        /// The removal of the documents of removed queries.
        case removal
    }

    /// A wait for a set.
    private struct Wait: Sendable {
        let version: Int64
        /// Whether a pass must reach the remote first.
        let isAsking: Bool
        let goal: Goal
        /// Whether the wait goes on while no pass can get on, for example without a network.
        var mayStall = true
    }

    private func wait(_ wait: Wait) async throws {
        let (version, goal) = (wait.version, wait.goal)
        var (fruitless, quietTurns) = (0, 0)
        var commitsOfOtherEngine: Int?
        var isToAsk = wait.isAsking
        var patience = PassRetryPolicy()
        var random = SystemRandomNumberGenerator()
        while try !isThere(version, goal) || isToAsk {
            let (seen, commits) = (engine.wakes.count, engine.store.commitCount)
            let passed: SyncPassReport?
            do {
                passed = try await engine.runPassIfOnline()
            } catch let error as SyncError where error.code == .storeInUse {
                // The engine that syncs the file downloads the documents; each commit shows that it
                // gets on.
                quietTurns = commits == commitsOfOtherEngine ? quietTurns + 1 : 0
                commitsOfOtherEngine = commits
                if quietTurns >= Self.quietTurnsMax { try checkMayStall(wait, .storeInUse) }
                try await engine.waitForOtherEngine(after: commits)
                isToAsk = false
                continue
            }
            guard let report = passed else {
                try checkMayStall(wait, .offline)
                try await engine.waitUntilWoken(after: seen)
                continue
            }
            if report.reachedRemote { isToAsk = false }
            do {
                if try isThere(version, goal), !isToAsk { return }
            } catch let error as SyncError where error.code == .subscriptionFailed {
                throw try endOfWaiting(report, goal) ?? error
            }
            if let error = try endOfWaiting(report, goal) { throw error }
            let mayGoOn = report.reachedRemote && patience.mayGoOn(after: report)
            fruitless = mayGoOn ? 0 : fruitless + 1
            guard fruitless > 0 else { continue }
            try checkMayStall(wait, Self.cause(report))
            let jitter = Double.random(in: 0..<1, using: &random)
            try await engine.wakes.wait(
                after: seen,
                atMost: engine.backoff.delay(afterFailures: fruitless, jitter: jitter),
                clock: engine.clock)
        }
    }

    /// The number of seconds without a commit for which a removal waits for the engine that syncs
    /// the file.
    private static let quietTurnsMax = 30

    /// Returns why a pass did not get on.
    private static func cause(_ report: SyncPassReport) -> SyncError.Code {
        let causes: [SyncError.Code] = [
            .authRequired, .notAuthorized, .remoteUnavailable, .offline, .remoteChanged,
            .collectionDropped,
        ]
        return causes.first(where: report.errors.contains) ?? .timedOut
    }

    /// Ends a wait that cannot end by itself, since no passes run.
    ///
    /// - Throws: `SyncError` with the cause, which says what the call waited for.
    private func checkMayStall(_ wait: Wait, _ cause: SyncError.Code) throws {
        guard !wait.mayStall, !engine.isRunning else { return }
        let earlier = try engine.store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: engine.sets)
                .earlierRows(before: wait.version).count
        }
        let rest =
            earlier == 0
            ? "" : " that first sends changes from before the removal (documents: \(earlier))"
        let stall =
            cause == .storeInUse
            ? "another engine has the right to sync the file and wrote nothing to it for "
                + "\(Self.quietTurnsMax) seconds (\(cause.rawValue))"
            : "no pass got on now (\(cause.rawValue)), and no run() is under way"
        throw SyncError(
            cause,
            "the subscriptions are removed, and their documents leave the device with the next pass"
                + "\(rest); \(stall). Pass a "
                + "timeout to wait longer, or waitForSync: .never to wait for nothing")
    }

    /// Returns the error that only a person can end: the user has to sign in, or a subscribed
    /// collection is stopped.
    private func endOfWaiting(_ report: SyncPassReport, _ goal: Goal) throws -> SyncError? {
        let asked: Set<Namespace> =
            switch goal {
            case .allQueries: try Set(latest.subscriptions.map(\.query.namespace))
            case .query(let query): [query.namespace]
            case .removal: []
            }
        var concerned = report
        concerned.unreadable.formIntersection(asked)
        if concerned.unreadable.isEmpty { concerned.errors.removeAll { $0 == .notAuthorized } }
        if let refused = SyncEngine.refusedUser(concerned) { return refused }
        for namespace in asked {
            if let stopped = try engine.stopError(in: namespace) { return stopped }
        }
        return nil
    }

    private func isThere(_ version: Int64, _ goal: Goal) throws -> Bool {
        // The empty set that every store begins with has no documents.
        guard version > 0 else { return true }
        let history = try history()
        guard let state = history.state(of: version) else {
            throw StoreError(.badValue, "There is no set of subscriptions of version \(version)")
        }
        switch state.wait(for: .complete) {
        case .reached: return true
        case .waiting: return false
        case .failed(let text):
            switch goal {
            case .removal: return true
            case .query(let query) where history.held.queries.all.contains(query): return true
            case .allQueries, .query: throw SyncError(.subscriptionFailed, text)
            }
        }
    }
}

extension Duration {
    /// The seconds with up to three decimals, without trailing zeros.
    fileprivate var formattedSeconds: String {
        let (seconds, attoseconds) = components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return "\(seconds)" }
        var text = "\(seconds)." + String("00\(milliseconds)".suffix(3))
        while text.last == "0" { text.removeLast() }
        return text
    }
}

/// The time at which a call that changes subscriptions waits for the documents.
///
/// ```swift
/// try await todos.subscribe(to: ["done": false], named: "open", waitForSync: .always)
/// try await todos.subscribe(named: "all", waitForSync: .never)
/// ```
public enum WaitForSync: Sendable, Hashable, CaseIterable {
    /// The call waits only when the subscription is new.
    case onCreation
    /// The call always waits.
    case always
    /// The call does not wait; a later pass downloads the documents.
    case never
}

/// The subscriptions that an engine begins with.
///
/// ```swift
/// let engine = try SyncEngine(
///     store: store, remote: remote,
///     initialSubscriptions: InitialSubscriptions { changes in
///         changes.insertOrAssign(try SubscriptionQuery(Namespace("app", "todos")))
///     })
/// ```
public struct InitialSubscriptions: Sendable {
    /// Whether the closure runs with each new engine, not only for a store that never had
    /// subscriptions.
    public let rerunOnOpen: Bool
    let body: @Sendable (inout SubscriptionChanges) throws -> Void

    /// Wraps a closure that makes the first subscription set.
    public init(
        rerunOnOpen: Bool = false,
        _ body: @escaping @Sendable (inout SubscriptionChanges) throws -> Void
    ) {
        self.rerunOnOpen = rerunOnOpen
        self.body = body
    }

    /// Commits the first set, or the next one where ``rerunOnOpen`` is set.
    func run(_ transaction: WriteTransaction, _ cache: SubscriptionCache) throws {
        let sets = SubscriptionTable(connection: transaction.connection, cache: cache)
        guard try rerunOnOpen || sets.history().latest.version == 0 else { return }
        _ = try SyncSubscriptions.commit(body, transaction, cache)
    }
}
