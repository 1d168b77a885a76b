import BSONStore
import Testing

@testable import StitchSync

/// A remote may answer too little, too much, or with what no store can hold.
@Suite(.remotes)
struct HostileRemoteScenarios {
    private func engine(_ world: SyncWorld, _ remote: TwistedRemote) throws -> SyncEngine {
        try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
    }

    @Test("a list of versions that is cut short deletes nothing and hides nothing")
    func shortList() async throws {
        let world = try SyncWorld()
        let isShort = Locked(true)
        let items = try engine(
            world,
            TwistedRemote(
                base: world.remote,
                versions: { versions in
                    isShort.withLock { $0 } ? Array(versions.dropLast()) : versions
                })
        ).collection(SyncWorld.namespace)
        try await items.insertMany([["_id": 1, "x": 0], ["_id": 2, "x": 0]])
        try await items.engine.syncUntilQuiet()
        try world.foreign(2) { $0["x"] = 5 }
        let isLost = Locked(true)
        world.remote.before { call in
            guard call.kind == .changes, isLost.withLock({ $0 }) else { return }
            isLost.withLock { $0 = false }
            throw RemoteError(.historyLost, code: 286, "gone")
        }
        try await items.engine.syncNow()
        #expect(try items.findOne(id: 1) == ["_id": 1, "x": 0])
        #expect(try items.findOne(id: 2) != nil)
        isShort.withLock { $0 = false }
        try await items.engine.syncNow()
        #expect(try items.findOne(id: 2) == ["_id": 2, "x": 5])
    }

    @Test("a document that no store can hold stops itself only")
    func unusableDocument() async throws {
        let world = try SyncWorld()
        let excess = SyncWorld.bytes(16 * 1024 * 1024)
        let items = try engine(
            world,
            TwistedRemote(
                base: world.remote,
                finds: { ids, found in
                    zip(ids, found).map { id, lookup in
                        guard id == "bad", case .found(var document) = lookup else { return lookup }
                        document.append("s", excess)
                        return .found(document)
                    }
                })
        ).collection(SyncWorld.namespace)
        try world.foreign("bad") { $0["x"] = 1 }
        try world.foreign("good") { $0["x"] = 1 }
        try await items.sync(ids: ["bad", "good"])
        for _ in 0..<2 { try await items.engine.syncNow() }
        #expect(try items.findOne(id: "good") == ["_id": "good", "x": 1])
        #expect(try items.findOne(id: "bad") == nil)
        #expect(try await items.pausedIDs == ["bad"])
    }

    @Test("a document that is nested too deeply stops itself only, and the file is readable")
    func tooDeepDocument() async throws {
        let world = try SyncWorld()
        let items = try engine(
            world,
            TwistedRemote(
                base: world.remote,
                finds: { ids, found in
                    zip(ids, found).map { id, lookup in
                        id == "bad" ? Self.tooDeep(lookup) : lookup
                    }
                })
        ).collection(SyncWorld.namespace)
        try await items.insertMany([["_id": "bad", "x": 0], ["_id": "good", "x": 0]])
        try await items.engine.syncUntilQuiet()
        try await items.updateOne(["_id": "bad"], ["$set": ["mine": true]])
        try world.foreign("bad") { $0["x"] = 1 }
        try world.foreign("good") { $0["x"] = 1 }
        for _ in 0..<2 { try await items.engine.syncNow() }
        #expect(try items.findOne(id: "good") == ["_id": "good", "x": 1])
        #expect(try items.findOne(id: "bad") == ["_id": "bad", "x": 0, "mine": true])
        #expect(try await items.pausedIDs == ["bad"])
        #expect(try await items.engine.verify() == [])
    }

    /// Returns a document that is too deep for the device in place of a found one.
    private static func tooDeep(_ lookup: RemoteLookup) -> RemoteLookup {
        guard case .found(var document) = lookup else { return lookup }
        var nested: BSONDocument = ["x": 0]
        for _ in 0..<150 { nested = ["n": .document(nested)] }
        document.append("n", .document(nested))
        return .found(document)
    }

    /// Returns a device's collection that finds only documents that are too deep, until it is told that
    /// they are as they are.
    private func deviceOfTooDeep(
        _ world: SyncWorld
    ) throws -> (items: SyncCollection<BSONDocument>, isTwisted: Locked<Bool>) {
        let isTwisted = Locked(true)
        let remote = TwistedRemote(
            base: world.remote,
            finds: { _, found in isTwisted.withLock { $0 } ? found.map(Self.tooDeep) : found })
        return (try engine(world, remote).collection(SyncWorld.namespace), isTwisted)
    }

    @Test("a new document that is too deep does not stop a set that shows what has arrived")
    func tooDeepWhileArriving() async throws {
        let world = try SyncWorld()
        let other = try await world.device("B", handler: nil)
        try await other.items.insertOne(["_id": "good", "x": 1])
        try await other.sync()
        let (items, isTwisted) = try deviceOfTooDeep(world)
        let isFirst = Locked(true)
        world.remote.after { call in
            guard call.kind == .query,
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                })
            else { return }
            try await other.items.insertOne(["_id": "late", "x": 1])
            try await other.sync()
        }
        try await items.subscribe(shows: .asTheyArrive, waitForSync: .never)
        for _ in 0..<3 { try await items.engine.syncNow() }
        world.remote.after(nil)
        #expect(try items.engine.subscriptions.state == .complete)
        #expect(try items.findOne(id: "good") == ["_id": "good", "x": 1])
        #expect(try items.findOne(id: "late") == nil)
        #expect(try await items.engine.verify() == [])
        isTwisted.withLock { $0 = false }
        try await other.items.updateOne(["_id": "late"], ["$set": ["x": 2]])
        try await other.sync()
        try await items.engine.syncUntilQuiet()
        #expect(try items.findOne(id: "late") == ["_id": "late", "x": 2])
    }

    @Test("a document that became too deep while it got its version does not stop its subscription")
    func tooDeepAfterClaim() async throws {
        let world = try SyncWorld()
        let (items, isTwisted) = try deviceOfTooDeep(world)
        try world.foreign("bare") { $0["x"] = 1 }
        try await items.subscribe(waitForSync: .never)
        for _ in 0..<2 { _ = try await items.engine.syncNow() }
        #expect(try items.engine.subscriptions.latest.state == .complete)
        #expect(try await items.pausedIDs == ["bare"])
        #expect(try await items.engine.verify() == [])
        isTwisted.withLock { $0 = false }
        #expect(try await items.resumeSync(of: "bare"))
        try await items.engine.syncUntilQuiet()
        #expect(try items.findOne(id: "bare") == ["_id": "bare", "x": 1])
    }

    @Test("a document of a query that is too deep is paused, and the rest of the set arrives")
    func tooDeepInPage() async throws {
        let world = try SyncWorld()
        for id in ["deep", "good"] { try world.foreign(.string(id)) { $0["x"] = 1 } }
        let isTwisted = Locked(true)
        @Sendable func twisted(_ lookup: RemoteLookup) -> RemoteLookup {
            guard isTwisted.withLock({ $0 }), case .found(let document) = lookup,
                document.documentID == "deep"
            else { return lookup }
            return Self.tooDeep(lookup)
        }
        let remote = TwistedRemote(
            base: world.remote, finds: { $1.map(twisted) },
            pages: { page in
                let documents = page.documents.map { document in
                    if case .found(let deep) = twisted(.found(document)) { deep } else { document }
                }
                return RemotePage(documents: documents, isLast: page.isLast)
            })
        let items = try engine(world, remote).collection(SyncWorld.namespace)
        try await items.subscribe(waitForSync: .never)
        try await items.insertOne(["_id": "own"])
        for _ in 0..<3 { _ = try await items.engine.syncNow() }
        #expect(try items.engine.subscriptions.latest.state == .complete)
        #expect(try await items.pausedIDs == ["deep"])
        #expect(try items.findOne(id: "good") == ["_id": "good", "x": 1])
        #expect(try world.remoteDocument("own") == ["_id": "own"])
        #expect(try await items.engine.verify() == [])
        isTwisted.withLock { $0 = false }
        #expect(try await items.resumeSync(of: "deep"))
        try await items.engine.syncUntilQuiet()
        #expect(try items.findOne(id: "deep") == ["_id": "deep", "x": 1])
    }

    @Test("a write that fails for a while does not hold up the ones behind it")
    func passingFailure() async throws {
        let world = try SyncWorld()
        var limits = SyncLimits()
        limits.batchDocuments = 2
        let remote = TwistedRemote(
            base: world.remote,
            writeFault: { $0.documentID == 0 ? RemoteError(.retryable, "busy") : nil })
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertMany((0..<6).map { ["_id": .int32($0)] })
        try await engine.syncNow()
        #expect(try await items.status().pending == 1)
        #expect(try world.remoteChanged(times: 5))
    }

    @Test(
        "a collection that may not be watched does not delay the others", .timeLimit(.minutes(30)))
    func unwatchable() async throws {
        let world = try SyncWorld()
        let secret = Namespace(SyncWorld.database, "secret")
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory),
            remote: TwistedRemote(
                base: world.remote,
                watchFault: {
                    $0 == secret ? RemoteError(.rejected, code: 13, "not authorized") : nil
                }),
            backoff: Backoff(initial: .seconds(3600)))
        try await engine.collection(secret).sync(ids: ["s"])
        let items = engine.collection(SyncWorld.namespace)
        let (arrived, arrive) = AsyncStream.makeStream(of: BSONValue.self)
        await items.configure(
            conflictHandler: .remoteWins,
            changeEventListener: { event in arrive.yield(event.documentID) })
        try await items.sync(ids: ["first", "second"])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            var ids = arrived.makeAsyncIterator()
            try world.foreign("first") { $0["x"] = 1 }
            #expect(await ids.next() == "first")
            try world.foreign("second") { $0["x"] = 1 }
            #expect(await ids.next() == "second")
            group.cancelAll()
        }
    }

    @Test("after a lost request, the evidence for many documents takes few requests")
    func evidenceIsBounded() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertMany((0..<500).map { ["_id": .int32($0)] })
        world.remote.before { call in
            if call.kind == .write { throw RemoteError(.retryable, "cut") }
        }
        try await engine.syncNow()
        world.remote.before(nil)
        #expect(try await engine.syncNow().requests < 20)
        #expect(try await items.status() == SyncStatus(synced: 500))
    }

    @Test("a document as deep as allowed travels, changes in flight, and its events arrive")
    func deepDocument() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        var nested: BSONDocument = ["x": 0]
        for _ in 1..<99 { nested = ["n": .document(nested)] }
        try await a.insert(["_id": "deep", "n": .document(nested)])
        world.remote.after { call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            try await a.items.updateOne(["_id": "deep"], ["$set": ["y": 1]])
        }
        try await a.sync()
        try await a.sync()
        #expect(
            world.transcript() == [
                "A local insert deep pending", "A local update deep pending",
                "A committed insert deep pending", "A committed update deep settled",
            ])
        #expect(try world.remoteDocument("deep")?["y"] == 1)
    }
}
