import BSONStore
import Testing

@testable import StitchSync

/// A kill at any commit of a set's bootstrap loses nothing and shows no half of it.
struct SubscriptionKillScenarios {
    private struct Killed: Error {}

    /// Dies before or after the commit of a number.
    private final class Life: Sendable {
        private let commits = Locked(0)
        let dies: (step: Int, committed: Bool)?

        init(_ dies: (step: Int, committed: Bool)?) { self.dies = dies }

        var count: Int { commits.withLock { $0 } }

        var probe: EngineProbe {
            EngineProbe(
                commitsOnCallingThread: true,
                beforeCommit: { [self] in
                    let step = commits.withLock { count in
                        count += 1
                        return count
                    }
                    if let dies, dies.step == step, !dies.committed { throw Killed() }
                },
                afterCommit: { [self] in
                    if let dies, dies.step == count, dies.committed { throw Killed() }
                })
        }
    }

    /// A store of which several engines follow each other.
    private struct Phone {
        let store: DocumentStore
        let world: SyncWorld

        func engine(_ probe: EngineProbe) async throws -> SyncEngine {
            var limits = SyncLimits()
            limits.batchDocuments = 2
            let engine = try SyncEngine(
                store: store, remote: world.remote, limits: limits, backoff: Backoff(),
                clock: ContinuousClock(), probe: probe, freshInstance: 0)
            await engine.collection(SyncWorld.namespace).configure(
                conflictHandler: .remoteWins, changeEventListener: nil)
            return engine
        }
    }

    private static let rooms: [(Int32, String)] = [
        (1, "red"), (2, "red"), (3, "red"), (4, "blue"), (5, "blue"), (6, "blue"), (7, "blue"),
        (8, "green"),
    ]

    /// A world in which the red room is here, a change of it waits, and the blue one is wanted.
    private func world(
        shows: SubscriptionArrival = .together
    ) async throws -> (phone: Phone, world: SyncWorld) {
        let world = try SyncWorld()
        for (id, room) in Self.rooms {
            try world.foreign(.int32(id)) { $0["room"] = .string(room) }
        }
        // Another phone's look gives the documents their versions.
        let other = try await world.device("B", handler: nil)
        try await other.items.sync(ids: Self.rooms.map { .int32($0.0) })
        try await other.sync()
        let phone = Phone(store: try DocumentStore(at: .inMemory), world: world)
        let engine = try await phone.engine(EngineProbe(commitsOnCallingThread: true))
        let items = engine.collection(SyncWorld.namespace)
        let (red, blue) = try (
            SubscriptionQuery(items.find(["room": "red"])),
            SubscriptionQuery(items.find(["room": "blue"]))
        )
        try await engine.subscriptions.update { try $0.append(red, named: "room", shows: shows) }
        try await engine.syncUntilQuiet()
        try await items.updateOne(["_id": 1], ["$set": ["seen": true]])
        try await engine.subscriptions.update { try $0.update(named: "room", to: blue) }
        try await items.insertOne(["_id": 9, "room": "blue"])
        return (phone, world)
    }

    private func ids(_ store: DocumentStore) throws -> Set<BSONValue> {
        Set(try store.collection(SyncWorld.namespace).find().fetch().map(\.documentID))
    }

    /// Runs to the end, killed once; returns the number of commits and the documents at the kill.
    private func run(
        _ dies: (step: Int, committed: Bool)?, shows: SubscriptionArrival
    ) async throws -> (commits: Int, held: Set<BSONValue>?) {
        let (phone, world) = try await world(shows: shows)
        var atKill: Set<BSONValue>?
        let life = Life(dies)
        let red: Set<BSONValue> = [1, 2, 3, 9]
        let blue: Set<BSONValue> = [4, 5, 6, 7, 9]
        do {
            let engine = try await phone.engine(life.probe)
            // Somebody else writes while the documents are on their way.
            world.remote.after { call in
                guard call.kind == .query else { return }
                world.remote.after(nil)
                try world.foreign(8) { $0["room"] = "blue" }
                try world.foreignDelete(4)
            }
            try await engine.syncUntilQuiet()
        } catch is Killed {
            world.remote.after(nil)
            let held = try ids(phone.store)
            let later: Set<BSONValue> = [5, 6, 7, 8, 9]
            let isExpected =
                switch shows {
                case .together: held == red
                case .asTheyArrive:
                    held.isSuperset(of: red) && held.isSubset(of: red.union(blue + [8]))
                }
            #expect(isExpected || held == later, "after \(String(describing: dies)): \(held)")
            atKill = held
        }
        world.remote.after(nil)
        let engine = try await phone.engine(EngineProbe(commitsOnCallingThread: true))
        try await engine.syncUntilQuiet()
        #expect(try await engine.verify() == [])
        let state = try engine.subscriptions.state
        #expect(state == .complete, "after \(String(describing: dies))")
        let held = try ids(phone.store)
        #expect(
            held == blue || held == [5, 6, 7, 8, 9], "after \(String(describing: dies)): \(held)")
        #expect(try world.remoteDocument(1)?["seen"] == true)
        #expect(try world.remoteDocument(9)?["room"] == "blue")
        for id in [2, 3, 5, 6, 7] as [BSONValue] { #expect(try world.remoteDocument(id) != nil) }
        let left = try phone.store.read { transaction in
            try ["sync_staged", "sync_earlier", "sync_wanted", "sync_attempts"].map {
                try transaction.connection.int64("SELECT count(*) FROM \($0)")
            }
        }
        #expect(left == [0, 0, 0, 0])
        return (life.count, atKill)
    }

    @Test("a kill before or after any commit leaves the old room or the new one, never a mixture")
    func everyCommit() async throws {
        let commits = try await run(nil, shows: .together).commits
        #expect(commits > 8)
        for step in 1...commits {
            for committed in [false, true] {
                _ = try await run((step, committed), shows: .together)
            }
        }
    }

    @Test("a kill while the new room arrives leaves whole pages of it beside the old one")
    func everyCommitOfArrival() async throws {
        let commits = try await run(nil, shows: .asTheyArrive).commits
        var found: Set<Set<BSONValue>> = []
        for step in 1...commits {
            for committed in [false, true] {
                let held = try await run((step, committed), shows: .asTheyArrive).held
                if let held { found.insert(held) }
            }
        }
        // Before the first page, after it, and after the second one.
        #expect(found.contains([1, 2, 3, 9]))
        #expect(found.contains { $0.isSuperset(of: [1, 2, 3, 5, 9]) && !$0.contains(7) })
        #expect(found.contains { $0.isSuperset(of: [1, 2, 3, 5, 6, 7, 9]) })
    }

    /// Has the second request for documents get lost; counts all of them.
    @discardableResult
    private static func loseSecondQuery(to world: SyncWorld) -> Locked<Int> {
        world.remote.lose(.query, number: 2)
    }

    @Test("what was read before a kill is not read again")
    func goesOn() async throws {
        let (phone, world) = try await world()
        let queries = Self.loseSecondQuery(to: world)
        let first = try await phone.engine(EngineProbe(commitsOnCallingThread: true))
        try await first.syncNow()
        #expect(try first.subscriptions.state == .bootstrapping)
        #expect(try ids(phone.store) == [1, 2, 3, 9])
        let second = try await phone.engine(EngineProbe(commitsOnCallingThread: true))
        #expect(try second.subscriptions.state == .bootstrapping)
        try await second.syncUntilQuiet()
        world.remote.before(nil)
        // Four documents in pages of two: the first page, the lost request, the second and the end.
        #expect(queries.withLock { $0 } == 4)
        #expect(try ids(phone.store) == [4, 5, 6, 7, 9])
    }

    @Test("a history that is lost while documents come in has them read anew")
    func gapInBootstrap() async throws {
        let (phone, world) = try await world()
        Self.loseSecondQuery(to: world)
        let engine = try await phone.engine(EngineProbe(commitsOnCallingThread: true))
        try await engine.syncNow()
        world.remote.before(nil)
        try world.foreignDelete(4)
        try await engine.forceScan(SyncWorld.namespace)
        try await engine.syncUntilQuiet()
        #expect(try ids(phone.store) == [5, 6, 7, 9])
        #expect(try await engine.verify() == [])
    }

    @Test("an edit that the app undoes while its query goes leaves the document to go")
    func undone() async throws {
        // Without a kill first, which tells how many commits there are.
        var (step, commits) = (0, 0)
        var undone = 0
        while step <= commits {
            let world = try SyncWorld()
            try world.foreign(1) { $0["room"] = "red" }
            let phone = Phone(store: try DocumentStore(at: .inMemory), world: world)
            let engine = try await phone.engine(EngineProbe(commitsOnCallingThread: true))
            let items = engine.collection(SyncWorld.namespace)
            try await items.subscribe(to: ["room": "red"], named: "room")
            _ = try await engine.subscriptions.update { $0.remove(named: "room") }
            // Of after the set: it is sent once the set has taken over.
            try await items.updateOne(["_id": 1], ["$set": ["seen": true]])
            let life = Life(step == 0 ? nil : (step, true))
            do {
                try await phone.engine(life.probe).syncUntilQuiet()
            } catch is Killed {}
            commits = max(commits, life.count)
            let next = try await phone.engine(EngineProbe(commitsOnCallingThread: true))
            let again = next.collection(SyncWorld.namespace)
            undone += try await again.updateOne(["_id": 1], ["$unset": ["seen": ""]]).modifiedCount
            try await next.syncUntilQuiet()
            #expect(try ids(phone.store) == [], "after \(step)")
            #expect(try await next.verify() == [])
            #expect(try world.remoteDocument(1) != nil)
            step += 1
        }
        #expect(undone > 0 && commits > 1)
    }
}
