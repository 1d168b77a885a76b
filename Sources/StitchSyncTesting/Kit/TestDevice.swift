public import BSONStore
public import StitchSync

/// One device of a test: a store in memory, its engine, and its own way to the remote.
///
/// A device can be killed between any two commits and started again over what its store holds then,
/// as a process would be.
public final class TestDevice: Sendable {
    /// What a device does whenever it starts: the app's calls of `configure`.
    public typealias Configure = @Sendable (SyncEngine) async throws -> Void

    /// What tests call it.
    public let name: String
    /// The device's documents and what sync knows of them.
    public let store: DocumentStore
    /// The device's way to the remote.
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

    /// The engine of the device's present life.
    public var engine: SyncEngine {
        guard let engine = life.withLock({ $0?.engine }) else {
            preconditionFailure("a device has an engine from its init on")
        }
        return engine
    }

    /// Kills the device's process, if it lives, and starts it again.
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

    /// Kills the process in the next pass, before or after its n-th commit, counted from 1.
    public func killInNextPass(atCommit number: Int, isBefore: Bool) {
        killPlan.withLock { $0 = (number, isBefore) }
    }

    /// Whether a kill was asked for and has not happened.
    public var waitsForKill: Bool { killPlan.withLock { $0 != nil } }

    /// Runs one pass; where it was to be killed in, the device starts again.
    ///
    /// - Returns: what the pass did; `nil` for one that was killed.
    /// - Throws: as `SyncEngine.syncNow()`.
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

    /// Runs passes until one finds nothing to do, however the network is.
    ///
    /// - Returns: whether that was within so many.
    public func syncUntilQuiet(passesMax: Int = 20) async throws -> Bool {
        for _ in 0..<passesMax {
            guard let report = try await sync() else { continue }
            if report.isQuiet && report.reachedRemote { return true }
        }
        return false
    }

    /// What the device has not sent, one line a document; empty when all is sent.
    public func pending() async throws -> [String] {
        var lines: [String] = []
        for (namespace, id, status) in try engine.unsettled() {
            lines.append("\(name) \(namespace) \(id.extendedJSON(.relaxed)): \(status)")
        }
        return lines
    }
}

/// One life of a device's process, which ends at once or at a commit.
final class TestProcess: Sendable {
    /// Says that the process was killed.
    struct Killed: Error {}

    private struct State {
        var isOver = false
        var commits = 0
        var end: (number: Int, isBefore: Bool)?
    }

    private let state = Locked(State())

    var isOver: Bool { state.withLock { $0.isOver } }

    func end() { state.withLock { $0.isOver = true } }

    /// Ends the life at the n-th commit from now on.
    func end(atCommit number: Int, isBefore: Bool) {
        state.withLock { state in
            state.commits = 0
            state.end = (number, isBefore)
        }
    }

    /// Called around each commit: after its end a process commits nothing.
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
