import BSONStore
import StitchSyncTesting
import Testing

@testable import StitchSync

/// Remotes hang, users sign in late and tasks are cancelled.
///
/// No call may then wait without end.
@Suite(.remotes)
struct HangingRemoteScenarios {
    /// Keeps who comes by until everybody is let go, whether or not their tasks are cancelled.
    private final class Trap: Sendable {
        private struct State {
            var isOpen = false
            var held: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Locked(State())
        let entered = Signal()

        func hold() async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.held.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
                entered.notify()
            }
        }

        func open() {
            let held = state.withLock { state in
                state.isOpen = true
                defer { state.held = [] }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }
    }

    /// An engine whose remote carries writes out and then hangs.
    private func hanging(
        _ world: SyncWorld, timeout: Duration?, clock: any Clock<Duration> = ContinuousClock()
    ) throws -> (items: SyncCollection<BSONDocument>, trap: Trap) {
        var limits = SyncLimits()
        limits.requestTimeout = timeout
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote, limits: limits,
            clock: clock)
        let trap = Trap()
        world.remote.after { call in
            if call.kind == .write { await trap.hold() }
        }
        return (engine.collection(SyncWorld.namespace), trap)
    }

    @Test(
        "a request that is not answered in time counts as a lost answer", .timeLimit(.minutes(30)))
    func requestTimeout() async throws {
        let world = try SyncWorld()
        let clock = ManualClock()
        let (items, trap) = try hanging(world, timeout: .seconds(60), clock: clock)
        try await items.insertOne(["_id": "k", "x": 0])
        try await clock.advance(by: .seconds(60), from: trap.entered) {
            let report = try await items.engine.syncNow()
            #expect(report.errors == [.remoteUnavailable])
        }
        try await items.updateOne(["_id": "k"], ["$set": ["x": 1]])
        trap.open()
        world.remote.after(nil)
        try await items.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try world.remoteVersion("k")?.version?.counter == 1)
        #expect(try await items.status() == SyncStatus(synced: 1))
    }

    @Test("waiting ends in time although the remote hangs", .timeLimit(.minutes(30)))
    func waitTimeout() async throws {
        let world = try SyncWorld()
        let clock = ManualClock()
        let (items, trap) = try hanging(world, timeout: nil, clock: clock)
        try await items.insertOne(["_id": "k"])
        for _ in 0..<2 {
            // The first is in the request that hangs by then, the second waits for its turn.
            try await clock.advance(by: .seconds(60), from: trap.entered) {
                let error = await #expect(throws: SyncError.self) {
                    try await items.waitForUpload(timeout: .seconds(60))
                }
                #expect(error?.code == .timedOut)
            }
        }
        trap.open()
        try await items.engine.syncUntilQuiet()
        #expect(try await items.status() == SyncStatus(synced: 1))
    }

    @Test("cancelled, a pass and one that waits for its turn end at once", .timeLimit(.minutes(30)))
    func cancellation() async throws {
        let world = try SyncWorld()
        let (items, trap) = try hanging(world, timeout: .seconds(3600))
        let engine = items.engine
        try await items.insertOne(["_id": "k"])
        await withThrowingTaskGroup(of: Void.self) { first in
            first.addTask { _ = try await engine.syncNow() }
            await trap.entered.wait(after: 0)
            await withThrowingTaskGroup(of: Void.self) { others in
                others.addTask { _ = try await engine.syncNow() }
                others.addTask { try await items.waitForDownload() }
                others.cancelAll()
                for _ in 0..<2 {
                    let result = await others.nextResult()
                    #expect(throws: CancellationError.self) { try result?.get() }
                }
            }
            first.cancelAll()
            let result = await first.nextResult()
            #expect(throws: CancellationError.self) { try result?.get() }
        }
        #expect(try await engine.verify().isEmpty)
        trap.open()
        world.remote.after(nil)
        try await engine.syncUntilQuiet()
        #expect(try world.remoteVersion("k")?.version?.counter == 0)
    }

    /// What ends the wait after a failure.
    enum Wake: CaseIterable { case localWrite, network, signIn, reachability }

    /// A remote that tells whether it can be reached.
    private struct ReachableRemote: Remote {
        let base: any Remote
        let reachability: AsyncStream<Bool>?

        func collection(_ namespace: Namespace) -> any RemoteCollection {
            base.collection(namespace)
        }
    }

    @Test(
        "after a failure a local write, the network, a sign-in and the remote have a pass run at once",
        .timeLimit(.minutes(30)), arguments: Wake.allCases)
    func wakes(by wake: Wake) async throws {
        let world = try SyncWorld()
        let (reachability, news) = AsyncStream<Bool>.makeStream()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory),
            remote: ReachableRemote(base: world.remote, reachability: reachability),
            backoff: Backoff(initial: .seconds(3600), cap: .seconds(3600)))
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": "k"])
        let isSignIn = wake == .signIn
        world.remote.before { _ in
            throw RemoteError(isSignIn ? .unauthenticated : .retryable, "not now")
        }
        var errors = engine.errors.makeAsyncIterator()
        var statuses = items.statusUpdates.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await errors.next()?.code == (isSignIn ? .authRequired : .remoteUnavailable))
            #expect(try await items.status() == SyncStatus(synced: 1, pending: 1))
            world.remote.before(nil)
            switch wake {
            case .localWrite: try await items.insertOne(["_id": "l"])
            case .network: engine.setOnline(true)
            case .signIn: engine.noteSignIn()
            case .reachability: for isThere in [false, true] { news.yield(isThere) }
            }
            while let status = try await statuses.next(), status.pending > 0 {}
            group.cancelAll()
        }
        #expect(try world.remoteDocument("k") == ["_id": "k"])
    }

    @Test(
        "a set that is made while nobody is signed in is asked for after the sign-in",
        .timeLimit(.minutes(30)))
    func subscribedSignedOut() async throws {
        let world = try SyncWorld()
        for number in 1...3 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["n"] = .int32(number) }
        }
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote,
            backoff: Backoff(initial: .seconds(3600), cap: .seconds(3600)))
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        try await items.subscribe(to: ["n": 1], named: "s", waitForSync: .never)
        world.remote.before { _ in throw RemoteError(.unauthenticated, "expired") }
        var errors = engine.errors.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await errors.next()?.code == .authRequired)
            let query = try SubscriptionQuery(items.find(["n": ["$gte": 2]]))
            let set = try await engine.subscriptions.update {
                $0.insertOrAssign(query, named: "s")
            }
            #expect(await errors.next()?.code == .authRequired)
            #expect(try engine.subscriptions.state(of: set.version) == .pending)
            world.remote.before(nil)
            engine.noteSignIn()
            for try await set in engine.subscriptions.updates where set.state == .complete { break }
            group.cancelAll()
        }
        #expect(try Set(items.find().fetch().map(\.documentID)) == [2, 3])
    }

    @Test("a user without a role is told so, waits end, and all goes on once there is one")
    func noRole() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        try await items.insertOne(["_id": "k"])
        let command = String(repeating: "x", count: 600)
        let refusal = "not authorized on app to execute command {\(command)}"
        world.remote.before { _ in throw RemoteError(.rejected, code: 13, refusal) }
        var errors = engine.errors.makeAsyncIterator()
        let report = try await engine.syncNow()
        #expect(report.errors == [.notAuthorized] && !report.reachedRemote)
        let error = await errors.next()
        #expect(error?.code == .notAuthorized && error?.namespace == SyncWorld.namespace)
        #expect(error?.message.contains("no privilege to read \(SyncWorld.namespace)") == true)
        #expect(error.map { $0.message.count < 400 } == true)
        let wait = await #expect(throws: SyncError.self) { try await engine.waitForUpload() }
        #expect(wait?.code == .notAuthorized)
        let subscribing = await #expect(throws: SyncError.self) {
            try await items.subscribe(to: ["n": 1], waitForSync: .always)
        }
        #expect(subscribing?.code == .notAuthorized)
        #expect(try await items.pausedIDs.isEmpty)
        world.remote.before(nil)
        try await engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k"])
    }

    @Test("without a sign-in nothing is paused, however often it is tried")
    func signedOut() async throws {
        let world = try SyncWorld()
        var limits = SyncLimits()
        limits.failuresMax = 1
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": "k"])
        world.remote.outcomes { _, outcomes in
            outcomes.map { _ in .failed(RemoteError(.unauthenticated, code: 18, "expired")) }
        }
        let report = try await engine.syncNow()
        #expect(report.errors == [.authRequired] && !report.reachedRemote)
        for _ in 0..<2 { try await engine.syncNow() }
        #expect(try await items.pausedIDs.isEmpty)
        world.remote.outcomes(nil)
        try await engine.syncUntilQuiet()
        #expect(try await items.status() == SyncStatus(synced: 1))
    }
}
