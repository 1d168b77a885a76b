import BSONStore
import Testing

@testable import StitchSync

/// What the app chose for refused writes is what happens, and no question is lost or asked for ever:
/// 144 of the acceptance list.
@Suite(.remotes)
struct RejectionPolicyScenarios {
    private typealias Ask = RejectionPolicy<BSONDocument>.Ask

    @Test("paused: the local edition stays, others go on, the next local write tries again")
    func paused() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine(policy: .pause)
        try await engine.items.insertOne(["_id": "bad", "ownerId": "zoe"])
        try await engine.items.insertOne(["_id": "good", "ownerId": "ann"])
        await engine.flushEvents()
        _ = world.transcript()
        let report = try await engine.passed()
        #expect(report.paused == 1 && report.uploaded == 1 && report.errors == [.rejected])
        #expect(
            Set(world.transcript()) == ["committed insert good settled", "error rejected bad"])
        #expect(try await engine.items.pausedIDs == ["bad"])
        #expect(
            try await engine.items.status(of: "bad").pauseReason?.message.contains("owner-") == true
        )
        #expect(try await engine.items.rejectedWrites.all().isEmpty)
        try await engine.items.updateOne(["_id": "bad"], ["$set": ["ownerId": "ann"]])
        try await engine.syncUntilQuiet()
        #expect(try world.document("bad") == ["_id": "bad", "ownerId": "ann"])
        #expect(try await engine.items.status() == SyncStatus(synced: 2))
    }

    @Test("a pause that nobody heard of is told after a restart, once")
    func pauseTold() async throws {
        let world = try RuledWorld()
        let store = try DocumentStore(at: .inMemory)
        let silent = try SyncEngine(store: store, remote: world.remote)
        await silent.items.configure(rejectionPolicy: .pause)
        try await silent.items.insertOne(["_id": "bad", "ownerId": "zoe"])
        try await silent.syncNow()
        await silent.flushEvents()
        for expected in [["error rejected bad"], []] {
            let next = try await world.engine(store, policy: .pause)
            await next.flushEvents()
            #expect(world.transcript() == expected)
        }
        // What was told ends with that: the document's pause says the rest.
        let kept = try store.read { try $0.connection.int64("SELECT count(*) FROM sync_rejected") }
        #expect(kept == 0)
    }

    @Test("what an index of the app's keeps from being brought back is paused, and nothing is lost")
    func notRestorable() async throws {
        let world = try RuledWorld()
        try world.foreign("a", ["ownerId": "zoe", "email": "x"])
        let engine = try await world.engine(policy: .revert)
        try await engine.items.sync(ids: ["a"])
        try await engine.syncUntilQuiet()
        try engine.store.collection(RuledWorld.items).createIndex(["email": 1], ["unique": true])
        try await engine.items.updateOne(["_id": "a"], ["$set": ["email": "y"]])
        try await engine.items.insertOne(["_id": "b", "ownerId": "ann", "email": "x"])
        let report = try await engine.passed()
        #expect(report.paused == 1 && report.reverted == 0 && report.uploaded == 1)
        #expect(try await engine.items.pausedIDs == ["a"])
        #expect(try engine.items.findOne(id: "a")?["email"] == "y")
        try await engine.items.updateOne(["_id": "b"], ["$set": ["email": "z"]])
        try await engine.items.discardPendingChange(of: "a")
        try await engine.syncUntilQuiet()
        #expect(try engine.items.findOne(id: "a")?["email"] == "x")
        #expect(try await engine.items.status() == SyncStatus(synced: 2))
    }

    @Test("content that is refused is taken back where the app wants all of it taken back")
    func allReverted() async throws {
        let world = try RuledWorld()
        let twisted = TwistedRemote(
            base: world.remote,
            writeFault: { $0.documentID == "bad" ? RemoteError(.rejected, code: 121, "no") : nil })
        let engine = try await world.engine(policy: .revert, remote: twisted)
        try await engine.items.insertOne(["_id": "bad", "ownerId": "ann"])
        #expect(try await engine.passed().reverted == 1)
        let rejected: RejectedWrite = try #require(
            try await engine.items.rejectedWrites.all().first)
        #expect(rejected.code == 121 && rejected.reason == "no")
        #expect(rejected.compensatingWrite.cause == .invalid)
        #expect(try engine.items.find().count() == 0)
        let standard = try await world.engine(remote: twisted)
        try await standard.items.insertOne(["_id": "bad", "ownerId": "ann"])
        let report = try await standard.passed()
        #expect(report.paused == 1 && report.reverted == 0)
    }

    @Test("asked: the app's answer is carried out")
    func asked() async throws {
        let world = try RuledWorld()
        struct NoAnswer: Error {}
        let ask: Ask = { rejected in
            world.note("asked \(RuledWorld.text(rejected.documentID)) \(rejected.change)")
            switch rejected.documentID {
            case "revert": return .revert
            case "keep": return .keepPaused
            case "edit": return .edit(["ownerId": "ann", "n": 2])
            case "same": return .edit(rejected.document ?? [:])
            case "other": return .edit(["_id": "else"])
            default: throw NoAnswer()
            }
        }
        let engine = try await world.engine(policy: .ask(ask))
        let ids = ["revert", "keep", "edit", "same", "other", "throw"]
        try await engine.items.insertMany(ids.map { ["_id": .string($0), "ownerId": "zoe"] })
        await engine.flushEvents()
        _ = world.transcript()
        let report = try await engine.passed()
        #expect(report.paused == 6 && report.answered == 6)
        let told = world.transcript()
        let questions = told.filter { $0.hasPrefix("asked") }
        #expect(questions == ids.map { "asked \($0) insert" })
        #expect(told.contains("error compensatingWrite revert"))
        for id in ["keep", "same", "other", "throw"] {
            #expect(told.contains("error rejected \(id)"), "\(told)")
        }
        #expect(told.filter { $0.hasPrefix("error handler") }.count == 2)
        #expect(try await Set(engine.items.pausedIDs) == ["keep", "same", "other", "throw"])
        #expect(try await engine.items.rejectedWrites.all().map(\.documentID) == ["revert"])
        try await engine.syncUntilQuiet()
        await engine.flushEvents()
        #expect(try world.document("edit") == ["_id": "edit", "ownerId": "ann", "n": 2])
        #expect(!world.transcript().contains { $0.contains("asked") })
        #expect(
            try await engine.items.status()
                == SyncStatus(
                    synced: 5, pending: 4, paused: 4, rejected: 1))
    }

    @Test("what the app writes while it is asked makes the question void")
    func askedLate() async throws {
        let world = try RuledWorld()
        let box = Locked<SyncEngine?>(nil)
        let ask: Ask = { _ in
            let items = try #require(box.withLock { $0 }).items
            try await items.updateOne(["_id": "k"], ["$set": ["ownerId": "ann"]])
            return .revert
        }
        let engine = try await world.engine(policy: .ask(ask))
        box.withLock { $0 = engine }
        try await engine.items.insertOne(["_id": "k", "ownerId": "zoe"])
        try await engine.syncUntilQuiet()
        #expect(try world.document("k") == ["_id": "k", "ownerId": "ann"])
        #expect(try await engine.items.status() == SyncStatus(synced: 1))
        box.withLock { $0 = nil }
    }

    /// A second process that writes at that moment.
    @Test("an error that was told of while the store was busy is told of once")
    func toldWhileBusy() async throws {
        let world = try RuledWorld()
        let directory = try ScratchDirectory()
        let location = DocumentStore.Location.file(directory.path("local.db"))
        let store = try DocumentStore(at: location, options: .init(busyTimeoutMS: 1))
        let other = try DocumentStore(at: location)
        let engine = try await world.engine(store)
        let writer = Locked<OpenTransaction<WriteTransaction>?>(nil)
        let told = Locked(0)
        engine.addErrorListener { _ in
            told.withLock { $0 += 1 }
            do {
                let open = try OpenTransaction.writing(other, waitingAtMost: 10_000)
                writer.withLock { $0 = open }
            } catch {
                Issue.record(error)
            }
        }
        func untold() throws -> [Namespace] {
            try store.read {
                try RejectedWriteTable(connection: $0.connection).collectionsWithUnreported()
            }
        }
        try await engine.items.insertOne(["_id": "k", "ownerId": "zoe"])
        try await engine.syncNow()
        await engine.flushEvents()
        #expect(told.withLock { $0 } == 1)
        #expect(try untold() == [RuledWorld.items])
        writer.withLock { $0.take() }?.abort()
        await engine.flushEvents()
        #expect(try untold().isEmpty)
        #expect(told.withLock { $0 } == 1)
    }

    @Test("an upload's failure is reported even if the store fails right after it")
    func failureReported() async throws {
        let world = try RuledWorld()
        struct Full: Error {}
        let isFull = Locked(false)
        var limits = SyncLimits()
        limits.batchDocuments = 1
        let engine = try await world.engine(
            policy: .ask { _ in
                isFull.withLock { $0 = true }
                return .revert
            },
            probe: EngineProbe(beforeCommit: { if isFull.withLock({ $0 }) { throw Full() } }),
            limits: limits)
        try await engine.items.insertOne(["_id": "bad", "ownerId": "zoe"])
        try await engine.items.insertOne(["_id": "good", "ownerId": "ann"])
        world.remote.before { call in
            guard call.kind == .write, call.documentIDs == ["good"] else { return }
            throw RemoteError(.retryable, "down")
        }
        await #expect(throws: Full.self) { try await engine.syncNow() }
        isFull.withLock { $0 = false }
        await engine.flushEvents()
        #expect(world.transcript().contains { $0.hasPrefix("error remoteUnavailable") })
    }

    @Test(
        "an app that dies while it is asked is asked again, and one that edits in vain not for ever"
    )
    func askedAgain() async throws {
        let world = try RuledWorld()
        let store = try DocumentStore(at: .inMemory)
        let count = Locked(0)
        struct Dying: Error {}
        let dies = Locked(false)
        let dying = try await world.engine(
            store,
            policy: .ask { _ in
                dies.withLock { $0 = true }
                return .revert
            },
            probe: EngineProbe(beforeCommit: { if dies.withLock({ $0 }) { throw Dying() } }))
        try await dying.items.insertOne(["_id": "k", "ownerId": "zoe"])
        await #expect(throws: Dying.self) { try await dying.syncNow() }
        // Before the app has configured the collection nobody decides for it.
        let early = try SyncEngine(store: store, remote: world.remote)
        try await early.syncNow()
        #expect(try await early.items.pausedIDs == ["k"])
        let engine = try await world.engine(
            store,
            policy: .ask { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return .edit(["ownerId": "zoe", "n": .int32(Int32(number))])
            })
        try await engine.syncUntilQuiet(passesMax: 100)
        #expect(count.withLock { $0 } == Int(SyncLimits().failuresMax) + 0)
        #expect(try await engine.items.pausedIDs == ["k"])
        #expect(try await engine.items.rejectedWrites.all().isEmpty)
    }
}
