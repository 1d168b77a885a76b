import BSONStore
import Testing

@testable import StitchSync

/// Batches that are under way at the same time must not settle each other.
@Suite(.timeLimit(.minutes(30))) struct UploadWindowScenarios {
    private static let batch = 10
    private static let count = 6 * batch

    /// A device with pending inserts of six batches, and the gates that hold the answers to them.
    private func held() async throws -> (world: SyncWorld, device: Device, gates: Gates) {
        let world = try SyncWorld()
        var limits = SyncLimits()
        limits.batchDocuments = Self.batch
        let device = try await world.device("a", limits: limits)
        let gates = Gates()
        world.remote.after { call in
            guard call.kind == .write, case .int32(let id)? = call.writes.first?.documentID else {
                return
            }
            await gates.pass(Int(id) / Self.batch)
        }
        try await device.items.insertMany(
            (0..<Int32(Self.count)).map { ["_id": .int32($0), "n": 1] })
        return (world, device, gates)
    }

    private func checkAll(_ world: SyncWorld, counter: Int64 = 0) throws {
        for id in 0..<Int32(Self.count) {
            #expect(try world.remoteDocument(.int32(id))?["n"] == 1)
            #expect(try world.remoteVersion(.int32(id))?.version?.counter == counter)
        }
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    @Test("batches are sent while others are answered, and settled in any order")
    func anyOrder() async throws {
        let (world, device, gates) = try await held()
        async let pass = device.engine.syncNow()
        await gates.waitForArrivals(Upload.window.lowerBound)
        for number in [2, 0, 3, 1, 5, 4] { await gates.open(number) }
        #expect(try await pass.uploaded == Self.count)
        #expect(try await device.items.status() == SyncStatus(synced: Self.count))
        try checkAll(world)
    }

    @Test("a local write while batches are under way is kept, whichever answer comes first")
    func localWrite() async throws {
        let (world, device, gates) = try await held()
        async let pass = device.engine.syncNow()
        await gates.waitForArrivals(Upload.window.lowerBound)
        // It moves the attempts of all batches into their records; later batches get their row numbers.
        try await device.set(15, ["m": 2])
        await gates.open(0)
        await gates.waitForArrivals(Upload.window.lowerBound + 1)
        await gates.open(2)
        await gates.waitForArrivals(Upload.window.lowerBound + 2)
        for number in [1, 3, 4, 5] { await gates.open(number) }
        #expect(try await pass.uploaded == Self.count)
        #expect(try await device.items.status() == SyncStatus(synced: Self.count, pending: 1))
        #expect(try await device.local(15) == ["_id": 15, "n": 1, "m": 2])
        try await device.engine.syncUntilQuiet()
        #expect(try world.remoteDocument(15) == ["_id": 15, "n": 1, "m": 2])
        #expect(!world.transcript().contains { $0.contains("conflict") })
        #expect(try await device.engine.verify().isEmpty)
    }

    @Test(
        "a batch whose request or answer is lost leaves the others settled",
        arguments: [false, true])
    func lost(isAnswer: Bool) async throws {
        let (world, device, _) = try await held()
        let script: ScriptedRemote.Script = { call in
            guard call.kind == .write, call.writes.contains(where: { $0.documentID == 15 }) else {
                return
            }
            throw RemoteError(.retryable, "lost")
        }
        world.remote.after(isAnswer ? script : nil)
        world.remote.before(isAnswer ? nil : script)
        let report = try await device.engine.syncNow()
        // No further batch is begun after the first failure.
        #expect(
            (Upload.window.lowerBound - 1) * Self.batch...Self.count - Self.batch ~= report.uploaded
        )
        #expect(report.errors == [.remoteUnavailable])
        world.remote.after(nil)
        world.remote.before(nil)
        try await device.engine.syncUntilQuiet()
        #expect(try await device.items.status() == SyncStatus(synced: Self.count))
        try checkAll(world)
    }

    @Test("one change from device to device costs a write, a fetch and what waits for changes")
    func requestsOfOneChange() async throws {
        let changes = 20
        let counts = try await cost(of: changes, in: try SyncWorld()).requests
        #expect(counts[.write] == changes, "\(counts)")
        // The writer fetches now and then what it has overtaken itself.
        #expect(counts[.find, default: 0] <= changes * 3 / 2, "\(counts)")
        // Each device waits anew; the change comes back to its writer; and a change that is made
        // while no wait is under way has the history read.
        #expect(counts[.changes, default: 0] <= changes * 5, "\(counts)")
        #expect(counts[.versions] == nil && counts[.token] == nil && counts[.query] == nil)
    }

    @Test(
        "one change from device to device over a server costs two requests and some commits",
        arguments: ServedWay.allCases)
    func costOfOneChange(way: ServedWay) async throws {
        let changes = 40
        let world = try SyncWorld.$remoteKind.withValue(.served(way)) { try SyncWorld() }
        let cost = try await cost(of: changes, in: world)
        // A's write, and B's next wait; a wait that ends at its time limit begins anew.
        // A connection of libmongoc has no number, so that each pass asks for the identity.
        let others = way == .libmongoc ? 0 : cost.others
        #expect(
            cost.requests.values.reduce(0, +) + others <= changes * 3,
            "\(cost.requests), and \(cost.others) others")
        // A's change, its attempt and the settlement; B's document with its event and position. On a
        // busy machine each of the three events is removed by a commit of its own.
        #expect(cost.commits <= changes * 7, "\(cost.commits)")
    }

    @Test("one change costs no more requests where devices have many other collections")
    func costBesideOthers() async throws {
        let changes = 20
        let world = try SyncWorld.$remoteKind.withValue(.served(.swift)) { try SyncWorld() }
        let cost = try await cost(
            of: changes, in: world, beside: ["b", "c", "d", "e"])
        #expect(
            cost.requests.values.reduce(0, +) + cost.others <= changes * 3 + 10,
            "\(cost.requests), and \(cost.others) others")
    }

    /// The requests and commits of two running devices while one passes changes to the other, each after
    /// the one before has arrived.
    ///
    /// A wait that ends at its time limit is not counted: their number is that of the seconds.
    private func cost(
        of changes: Int, in world: SyncWorld, beside others: [String] = []
    ) async throws -> (requests: [RemoteCall.Kind: Int], others: Int, commits: Int) {
        let (a, b) = try await world.devicesInStep()
        for other in others {
            for device in [a, b] {
                let items = device.engine.collection(Namespace(SyncWorld.database, other))
                try await items.insertOne(["_id": .string(device.name)])
            }
        }
        for device in [a, b] { try await device.engine.syncUntilQuiet() }
        let calls = Locked<[RemoteCall.Kind: Int]>([:])
        world.remote.before { call in calls.withLock { $0[call.kind, default: 0] += 1 } }
        var arrivals = b.items.events.makeAsyncIterator()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await a.engine.run() }
            group.addTask { try await b.engine.run() }
            defer { group.cancelAll() }
            var (commits, asked, ended) = (0, 0, 0)
            for n in 1...Int32(changes) + 5 {
                // What the beginning needs is not counted.
                if n == 6 {
                    calls.withLock { $0 = [:] }
                    asked = world.remote.otherCalls
                    ended = world.remote.endedWaits
                    commits = a.store.commitCount + b.store.commitCount
                }
                try await a.items.updateOne(["_id": "k"], ["$set": ["n": .int32(n)]])
                while let event = try await arrivals.next(), event.fullDocument?["n"] != .int32(n) {
                }
            }
            var requests = calls.withLock { $0 }
            requests[.changes, default: 0] -= world.remote.endedWaits - ended
            return (
                requests, world.remote.otherCalls - asked,
                a.store.commitCount + b.store.commitCount - commits
            )
        }
    }
}
