public import BSONStore
public import StitchSync

/// One device of a test: a store in memory, its engine and its network.
///
/// A test can kill the device before or after any commit, as a process may die. The device then
/// starts again over the content of its store.
///
/// ```swift
/// let phone = try await world.device("phone") { engine in
///     await engine.collection(items).configure(conflictHandler: .remoteWins)
/// }
/// try await phone.engine.collection(items).insertOne(["_id": 1])
/// phone.killInNextPass(atCommit: 1, isBefore: false)
/// #expect(try await phone.sync() == nil)
/// #expect(try await phone.syncUntilQuiet())
/// ```
public final class TestDevice: Sendable {
    /// A closure that a device runs at each start: the app's calls of `configure`.
    ///
    /// ```swift
    /// let configure: TestDevice.Configure = { engine in
    ///     await engine.collection(items).configure(conflictHandler: .localWins)
    /// }
    /// ```
    public typealias Configure = @Sendable (SyncEngine) async throws -> Void

    /// The device's name in failure messages.
    public let name: String
    /// The store with the device's documents and sync records.
    public let store: DocumentStore
    /// The device's connection to the remote, which can fail.
    public let network: FaultyRemote

    private let clock: any Clock<Duration>
    private let limits: SyncLimits
    private let configure: Configure
    private let asked: EngineProbe.ConflictFound?
    private let life: Locked<(engine: SyncEngine, life: TestProcess)?> = Locked(nil)
    private let killPlan = Locked<(commit: Int, isBefore: Bool)?>(nil)

    init(
        name: String, remote: any Remote, clock: any Clock<Duration>, limits: SyncLimits,
        asked: EngineProbe.ConflictFound? = nil, configure: @escaping Configure
    ) async throws {
        self.name = name
        store = try DocumentStore(at: .inMemory)
        network = FaultyRemote(remote)
        self.clock = clock
        self.limits = limits
        self.asked = asked
        self.configure = configure
        try await restart()
    }

    /// The engine since the device's last start.
    public var engine: SyncEngine {
        guard let engine = life.withLock({ $0?.engine }) else {
            preconditionFailure("a device has an engine from its init on")
        }
        return engine
    }

    /// Kills the device's process and starts it again.
    public func restart() async throws {
        life.withLock { $0?.life.end() }
        let next = TestProcess()
        let engine = try SyncEngine(
            store: store, remote: network, limits: limits, backoff: Backoff(), clock: clock,
            probe: EngineProbe(
                beforeCommit: { try next.commit(isBefore: true) },
                afterCommit: { try next.commit(isBefore: false) }, conflictFound: asked),
            freshInstance: UInt64.random(in: 1...UInt64.max))
        life.withLock { $0 = (engine, next) }
        try await configure(engine)
    }

    /// Makes the next pass kill the process before or after its n-th commit, counted from 1.
    public func killInNextPass(atCommit number: Int, isBefore: Bool) {
        killPlan.withLock { $0 = (number, isBefore) }
    }

    /// Whether a requested kill has not happened yet.
    public var waitsForKill: Bool { killPlan.withLock { $0 != nil } }

    /// Runs one pass and restarts the device if the pass was killed.
    ///
    /// - Returns: the report of the pass; `nil` after a kill.
    /// - Throws: as `SyncEngine.syncNow()` does.
    @discardableResult
    public func sync() async throws -> SyncPassReport? {
        let (engine, life) = (engine, self.life.withLock { $0?.life })
        if let plan = killPlan.withLock({ $0 }) {
            life?.end(atCommit: plan.commit, isBefore: plan.isBefore)
        }
        let result: Result<SyncPassReport, any Error>
        do { result = .success(try await engine.syncNow()) } catch { result = .failure(error) }
        guard life?.isOver != true else {
            killPlan.withLock { $0 = nil }
            try await restart()
            return nil
        }
        return try result.get()
    }

    /// Runs passes until one reaches the remote and finds nothing to do.
    ///
    /// - Returns: whether that took at most `passesMax` passes.
    public func syncUntilQuiet(passesMax: Int = 20) async throws -> Bool {
        for _ in 0..<passesMax {
            guard let report = try await sync() else { continue }
            if report.isQuiet && report.reachedRemote { return true }
        }
        return false
    }

    /// Returns one line for each unsettled document; empty when all are settled.
    public func pending() async throws -> [String] {
        var lines: [String] = []
        for (namespace, id, status) in try engine.unsettled() {
            lines.append("\(name) \(namespace) \(id.extendedJSON(.relaxed)): \(status)")
        }
        return lines
    }
}

/// One run of a device's process, which ends at once or at a commit.
final class TestProcess: Sendable {
    /// The error of calls into a killed process.
    struct Killed: Error {}

    private struct State {
        var isOver = false
        var commits = 0
        var end: (number: Int, isBefore: Bool)?
    }

    private let state = Locked(State())

    var isOver: Bool { state.withLock { $0.isOver } }

    func end() { state.withLock { $0.isOver = true } }

    /// Ends the run at the n-th commit from now on.
    func end(atCommit number: Int, isBefore: Bool) {
        state.withLock { state in
            state.commits = 0
            state.end = (number, isBefore)
        }
    }

    /// Ends the run where planned; called before and after each commit.
    ///
    /// - Throws: `Killed` once the run is over, so that the process commits nothing more.
    func commit(isBefore: Bool) throws {
        let isOver = state.withLock { state in
            if isBefore { state.commits += 1 }
            if let end = state.end, end.number == state.commits, end.isBefore == isBefore {
                state.isOver = true
            }
            return state.isOver
        }
        if isOver { throw Killed() }
    }
}
