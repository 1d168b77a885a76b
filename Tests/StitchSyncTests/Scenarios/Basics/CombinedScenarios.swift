import BSONStore
import Testing

@testable import StitchSync

/// Two things at once that are simple by themselves.
@Suite(.remotes)
struct CombinedScenarios {
    private struct Undecided: Error {}

    @Test("a document that was deleted while it was paused is a conflict with a delete, not hidden")
    func deletedWhilePaused() async throws {
        let world = try SyncWorld()
        let isDecided = Locked(false)
        // A remote that shows a part of its documents does not tell why one is missing.
        let limited = TwistedRemote(
            base: world.remote,
            finds: { _, lookups in lookups.map { $0 == .absent ? .hidden : $0 } })
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: ConflictHandler { _ in
                guard isDecided.withLock({ $0 }) else { throw Undecided() }
                return .useLocal
            }, remote: limited)
        try await a.start()
        try await a.insert(["_id": "k", "x": 0])
        try await a.settle()
        try world.foreign("k") { $0["x"] = 5 }
        try await a.set("k", ["x": 2])
        try await a.sync()
        #expect(try await a.items.pausedIDs == ["k"])
        try world.foreignDelete("k")
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 2])
        isDecided.withLock { $0 = true }
        _ = world.transcript()
        #expect(try await a.items.resumeSync(of: "k"))
        try await a.settle()
        #expect(
            world.transcript() == [
                "A conflict base x=0 local x=2 remote -", "A resolution insert k pending",
                "A committed insert k settled",
            ])
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("an answer under the id of another number type keeps the remote's type")
    func otherNumberType() async throws {
        let world = try SyncWorld()
        let a = try await world.device(
            "A", handler: ConflictHandler { _ in .use(["_id": .int64(1), "x": 9]) })
        try world.foreign(1) { $0["x"] = 5 }
        try await a.insert(["_id": 1.0, "x": 1])
        try await a.settle()
        #expect(try await a.local(1) == ["_id": 1, "x": 9])
        #expect(try world.remoteDocument(1) == ["_id": 1, "x": 9])
        try await a.engine.forceScan(SyncWorld.namespace)
        _ = world.transcript()
        try await a.settle()
        #expect(world.transcript() == [])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("equal documents under one id of two number types: the local one becomes the remote's")
    func equalButForTheID() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .localWins)
        try world.foreign(1) { $0["x"] = 5 }
        try await a.insert(["_id": .int64(1), "x": 5])
        try await a.settle()
        #expect(try await a.local(1) == ["_id": 1, "x": 5])
        #expect(try world.remoteDocument(1) == ["_id": 1, "x": 5])
    }

    @Test("failures that are known to pass are not counted against one that is unknown")
    func failuresThatPass() async throws {
        let world = try SyncWorld()
        let faults = Locked<[RemoteError.Class]>(
            Array(repeating: .retryable, count: 5) + [.unauthenticated, .unknown, .unknown])
        let remote = TwistedRemote(
            base: world.remote,
            writeFault: { _ in
                faults.withLock { faults in
                    faults.isEmpty ? nil : RemoteError(faults.removeFirst(), "not now")
                }
            })
        var limits = SyncLimits()
        limits.failuresMax = 3
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": "k"])
        for _ in 0..<9 { try await engine.syncNow() }
        #expect(try await items.pausedIDs == [])
        #expect(try world.remoteDocument("k") == ["_id": "k"])
        faults.withLock { $0 = [.unknown, .retryable, .unknown, .unknown] }
        try await items.updateOne(["_id": "k"], ["$set": ["x": 1]])
        for _ in 0..<4 { try await engine.syncNow() }
        #expect(try await items.status(of: "k").pauseReason?.code == .retriesExhausted)
    }

    @Test("an insert under way when its document is desynced and made anew is no conflict")
    func madeAnewUnderWay() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "k", "x": 1])
        world.remote.after { [items = a.items] call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            try await items.desync(ids: ["k"])
            try await items.insertOne(["_id": "k", "x": 2])
        }
        try await a.settle()
        #expect(!world.transcript().contains { $0.contains("conflict") })
        #expect(try await a.local("k") == ["_id": "k", "x": 2])
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a handler that desyncs another document whose conflict waits makes that one void")
    func handlerDesyncsAnother() async throws {
        let world = try SyncWorld()
        let box = Locked<SyncCollection<BSONDocument>?>(nil)
        let a = try await world.device(
            "A",
            handler: ConflictHandler { conflict in
                let items = box.withLock { items in
                    defer { items = nil }
                    return items
                }
                let other: BSONValue = conflict.documentID == "k1" ? "k2" : "k1"
                try await items?.desync(ids: [other])
                return .useLocal
            })
        try await a.insert(["_id": "k1", "x": 0])
        try await a.insert(["_id": "k2", "x": 0])
        try await a.settle()
        box.withLock { $0 = a.items }
        for id in ["k1", "k2"] as [BSONValue] {
            try world.foreign(id) { $0["x"] = 5 }
            try await a.set(id, ["x": 2])
        }
        try await a.settle()
        let held = try await a.heldIDs
        #expect(held.count == 1)
        for id in ["k1", "k2"] as [BSONValue] {
            #expect(try world.remoteDocument(id)?["x"] == (held == [id] ? 2 : 5))
        }
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("an id that the app asked for stays in step when an insert of it is refused")
    func askedForAndRefused() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.sync(ids: ["asked"])
        try await engine.passed()
        for id in ["asked", "own"] as [BSONValue] {
            try await engine.items.insertOne(["_id": id, "ownerId": "ben"])
        }
        #expect(try await engine.passed().reverted == 2)
        #expect(try await engine.items.syncedIDs == ["asked"])
        #expect(try engine.items.findOne(id: "asked") == nil)
        try world.foreign("asked", ["ownerId": "ben", "x": 1])
        try world.foreign("own", ["ownerId": "ben", "x": 1])
        try await engine.passed()
        #expect(try engine.items.findOne(id: "asked")?["x"] == 1)
        #expect(try engine.items.findOne(id: "own") == nil)
    }

    @Test("an insert under the id of a document that rules hide is refused, and ends")
    func insertOverHidden() async throws {
        let world = try RuledWorld(
            """
            [{"name": "own", "apply_when": {},
              "document_filters": {"read": {"ownerId": "ann"}, "write": {"ownerId": "ann"}},
              "read": true, "write": true}]
            """)
        try world.foreign("x", ["ownerId": "ben"])
        let engine = try await world.engine()
        try await engine.items.insertOne(["_id": "x", "ownerId": "ann"])
        let (report, passes) = try await engine.syncUntilQuiet()
        #expect(report.reverted == 1 && passes < 5)
        #expect(try engine.items.findOne(id: "x") == nil)
        #expect(try world.document("x")?["ownerId"] == "ben")
        #expect(try await engine.items.rejectedWrites.all().count == 1)
        #expect(try await engine.verify() == [])
    }
}
