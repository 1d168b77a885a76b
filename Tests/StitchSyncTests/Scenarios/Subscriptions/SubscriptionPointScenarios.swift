import BSONStore
import StitchRules
import Testing

@testable import StitchSync

/// At whatever point of a set's way something else happens, the set ends complete, with what belongs
/// to it: 114 and 138 of the acceptance list.
@Suite(.remotes, .timeLimit(.minutes(30)))
struct SubscriptionPointScenarios {
    /// Ann sees and writes what is hers.
    private static let own = """
        [{"name": "own", "apply_when": {},
          "document_filters": {"read": {"ownerId": "ann"}, "write": {"ownerId": "ann"}},
          "read": true, "write": true}]
        """

    private static var smallPages: SyncLimits {
        var limits = SyncLimits()
        limits.batchDocuments = 2
        return limits
    }

    @Test("rules that give or take before or after any request leave what they let be seen")
    func changedRules() async throws {
        let world = try RuledWorld(RuledWorld.everybody)
        let owners = ["a": "ann", "b": "ben", "c": "ann", "d": "ben", "e": "ann", "f": "ben"]
        for (id, owner) in owners.sorted(by: { $0.key < $1.key }) {
            try world.foreign(.string(id), ["ownerId": .string(owner)])
        }
        let everything = Set(owners.keys.map { BSONValue.string($0) })
        let hers: Set<BSONValue> = ["a", "c", "e"]
        for isGiving in [true, false] {
            let (before, after) =
                isGiving
                ? (Self.own, RuledWorld.everybody) : (RuledWorld.everybody, Self.own)
            var point = 0
            var isReached = true
            while isReached {
                try world.use(before)
                isReached = try await bootstrap(world, thenAt: point, after)
                let engine = try #require(last.withLock { $0 })
                let held = try Set(engine.items.find().fetch().map(\.documentID))
                let sees = isGiving == isReached ? everything : hers
                #expect(held == sees, "\(isGiving ? "giving" : "taking") at \(point)")
                #expect(try engine.subscriptions.state == .complete, "at \(point)")
                #expect(try await engine.verify() == [], "at \(point)")
                let told = world.transcript().filter { $0.contains("delete") }
                #expect(told == [], "at \(point)")
                point += 1
            }
            #expect(point > 6)
        }
        #expect(try world.stored.collection(RuledWorld.items).find().count() == owners.count)
    }

    private let last = Locked<SyncEngine?>(nil)

    /// Lets a new device ask for everything, under roles that change at a point: even ones are before
    /// a request, odd ones behind its answer.
    ///
    /// - Returns: whether there were so many requests.
    private func bootstrap(
        _ world: RuledWorld, thenAt point: Int, _ roles: String
    ) async throws -> Bool {
        let engine = try await world.engine(limits: Self.smallPages)
        last.withLock { $0 = engine }
        let passed = Locked(0)
        let isReached = Locked(false)
        let script: ScriptedRemote.Script = { _ in
            let now = passed.withLock { passed in
                defer { passed += 1 }
                return passed
            }
            guard now == point else { return }
            isReached.withLock { $0 = true }
            try world.use(roles)
        }
        world.remote.before(script)
        world.remote.after(script)
        let query = try SubscriptionQuery(engine.items.find([:]))
        try await engine.subscriptions.update { $0.insertOrAssign(query, named: "all") }
        try await engine.syncUntilQuiet(passesMax: 20)
        world.remote.before(nil)
        world.remote.after(nil)
        // Rules that change behind the last answer are found by the next pass.
        try await engine.syncUntilQuiet(passesMax: 20)
        await engine.flushEvents()
        return isReached.withLock { $0 }
    }

    @Test("who waits is told to stop at any request and does; whoever waits then finds all")
    func cancelled() async throws {
        let world = try SyncWorld()
        for number in 1...5 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["n"] = 1 }
        }
        var request: Int32 = 1
        var isReached = true
        while isReached {
            let engine = try SyncEngine(
                store: try DocumentStore(at: .inMemory), remote: world.remote,
                limits: Self.smallPages)
            let items = engine.collection(SyncWorld.namespace)
            await items.configure(conflictHandler: .remoteWins)
            try await items.insertOne(["_id": .int32(100 + request), "n": 1])
            let query = try SubscriptionQuery(items.find(["n": 1]))
            try await engine.subscriptions.update { $0.insertOrAssign(query, named: "one") }
            isReached = await wait(engine, world, cancelledAt: request)
            try await engine.subscriptions.waitForSynchronization()
            #expect(try items.find().count() == 5 + Int(request), "at \(request)")
            #expect(try world.remoteDocument(.int32(100 + request)) != nil, "at \(request)")
            #expect(try await engine.verify() == [], "at \(request)")
            request += 1
        }
        #expect(request > 4)
    }

    /// Waits for an engine's documents, until a request of a number; returns whether there was one.
    private func wait(
        _ engine: SyncEngine, _ world: SyncWorld, cancelledAt request: Int32
    ) async -> Bool {
        let (asked, never) = (Signal(), Signal())
        let count = Locked<Int32>(0)
        world.remote.before { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number == request else { return }
            asked.notify()
            // Until the task is cancelled.
            await never.wait(after: 0)
        }
        defer { world.remote.before(nil) }
        return await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await engine.subscriptions.waitForSynchronization()
                return false
            }
            group.addTask {
                await asked.wait(after: 0)
                return true
            }
            let first = await group.nextResult()
            group.cancelAll()
            let second = await group.nextResult()
            guard case .success(true)? = first else { return false }
            #expect(throws: CancellationError.self, "at \(request)") { try second?.get() }
            return true
        }
    }
}
