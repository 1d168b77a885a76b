import BSONStore
import Testing

@testable import StitchSync

/// The ancestor's basic flow and lifecycle, number by number: 1, 3, 4, 9-12, 14, 26, 28.
@Suite(.remotes)
struct FlowScenarios {
    @Test("both sides count up offline; the merge is local after one pass, remote after two")
    func countersMerge() async throws {
        let world = try SyncWorld()
        let merge = ThreeWayMerge(counters: ["n"])
        let a = try await world.device("A", handler: .mergeFields(merge))
        let b = try await world.device("B")
        try await a.insert(["_id": "k", "n": 1])
        try await a.sync()
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        a.engine.setOnline(false)
        try await b.items.updateOne(["_id": "k"], ["$inc": ["n": 2]])
        try await b.sync()
        try await a.items.updateOne(["_id": "k"], ["$inc": ["n": 1]])
        await #expect(throws: SyncError.self) { try await a.engine.syncNow() }
        #expect(try await a.local("k") == ["_id": "k", "n": 2])
        a.engine.setOnline(true)
        _ = world.transcript()
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "n": 4])
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 3])
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 4])
        #expect(world.transcript().contains("A conflict base n=1 local n=2 remote n=3"))
    }

    @Test("both sides count by the same: two changes, and a lost answer makes no third")
    func countersMergeAlike() async throws {
        let world = try SyncWorld()
        let merge = ThreeWayMerge(counters: ["n", "in.n"])
        let a = try await world.device("A", handler: .mergeFields(merge))
        let b = try await world.device("B", handler: .mergeFields(merge))
        try await a.insert(["_id": "k", "n": 1, "in": ["n": 1]])
        try await a.sync()
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        try await a.items.updateOne(["_id": "k"], ["$inc": ["n": 1, "in.n": 1]])
        try await b.items.updateOne(["_id": "k"], ["$inc": ["n": 1, "in.n": 1]])
        world.remote.after { call throws(RemoteError) in
            if call.kind == .write { throw RemoteError(.retryable, "lost") }
        }
        try await b.sync()
        world.remote.after(nil)
        for device in [b, a, a, b, b, a] { try await device.sync() }
        let sum: BSONDocument = ["_id": "k", "n": 3, "in": ["n": 3]]
        #expect(try world.remoteDocument("k") == sum)
        #expect(try await a.local("k") == sum)
        #expect(try await b.local("k") == sum)
        #expect(world.transcript().filter { $0.contains("conflict") }.count == 1)
    }

    @Test("an insert and an update before any pass go up as one insert")
    func insertThenUpdate() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "n": 1])
        try await a.set("k", ["n": 2, "m": 3])
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.sync().uploaded == 1)
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 2, "m": 3])
        #expect(try world.remoteVersion("k")?.version?.counter == 0)
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a document that Stitch wrote is read, updated under a name, and deleted")
    func documentOfStitch() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let lineage = "5ba9fd0e-5b1c-4f26-8d3e-7f2f34a1c001"
        try world.foreign("k") { document in
            document["n"] = 1
            document[DocumentVersion.fieldName] = [
                "spv": 1, "id": .string(lineage), "v": .int64(4),
            ]
        }
        try await a.items.sync(ids: ["k"])
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "n": 1])
        #expect(try world.remoteVersion("k")?.version?.operation == nil)
        try await a.set("k", ["n": 2])
        try await a.sync()
        let version = try #require(try world.remoteVersion("k")?.version)
        #expect(version.lineage == lineage && version.counter == 5)
        #expect(version.operation.flatMap(OperationID.init) != nil)
        a.engine.setOnline(false)
        try await a.delete("k")
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 2])
        a.engine.setOnline(true)
        try await a.sync()
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.items.syncedIDs.isEmpty)
        #expect(!world.transcript().contains { $0.contains("conflict") || $0.contains("error") })
    }

    @Test("a document is inserted, sent, and twice updated between two passes")
    func updatesAfterInsert() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "n": 1])
        try await a.sync()
        try await a.set("k", ["n": 2])
        try await a.set("k", ["n": 3])
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 1])
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 3])
        #expect(
            world.transcript() == [
                "A local insert k pending", "A committed insert k settled",
                "A local update k pending", "A local update k pending",
                "A committed update k settled",
            ])
    }

    @Test("deleted, inserted anew and updated between two passes, a document takes one write")
    func deleteInsertUpdate() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "n": 1, "old": true])
        try await a.sync()
        try await a.delete("k")
        try await a.insert(["_id": "k", "n": 2])
        try await a.set("k", ["m": 3])
        let report = try await a.sync()
        #expect(report.uploaded == 1)
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 2, "m": 3])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("reads see documents between sync and desync, and none before or after")
    func readsFollowSync() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let ids: [BSONValue] = ["k0", "k1", "k2"]
        for id in ids { try world.foreign(id) { $0["n"] = 1 } }
        func seen() async throws -> [Int] {
            let found = try a.items.find().fetch().count
            let counted = try a.items.find(["n": 1]).count()
            let sums = try a.items.aggregate([["$match": ["n": 1]]]).count
            return [found, counted, sums]
        }
        #expect(try await seen() == [0, 0, 0])
        try await a.items.sync(ids: ids)
        #expect(try await seen() == [0, 0, 0])
        try await a.engine.syncUntilQuiet()
        #expect(try await seen() == [3, 3, 3])
        try await a.items.desync(ids: ids)
        #expect(try await seen() == [0, 0, 0])
        try await a.sync()
        #expect(try world.remoteDocuments.count([:]) == 3)
    }

    @Test("many inserts, updates and deletes go up in one pass each, with one request to write")
    func manyAtOnce() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let writes = Locked(0)
        world.remote.before { call in if call.kind == .write { writes.withLock { $0 += 1 } } }
        func remote(_ filter: BSONDocument) throws -> Int {
            try world.remoteDocuments.count(filter)
        }
        try await a.items.insertMany((0..<3).map { ["_id": .int32($0), "n": 1] })
        #expect(try remote([:]) == 0)
        try await a.sync()
        #expect(try remote(["n": 1]) == 3)
        try await a.items.updateMany([:], ["$set": ["n": 2]])
        #expect(try remote(["n": 1]) == 3)
        try await a.sync()
        #expect(try remote(["n": 2]) == 3)
        try await a.items.deleteMany([:])
        #expect(try remote(["n": 2]) == 3)
        try await a.sync()
        #expect(try remote([:]) == 0)
        #expect(try a.items.find().count() == 0)
        #expect(writes.withLock { $0 } == 3)
    }

    @Test("a thousand single inserts take two batches, not a request each")
    func requestsStayFew() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        for number in 0..<1000 { try await a.items.insertOne(["_id": .int32(Int32(number))]) }
        let report = try await a.sync()
        #expect(report.uploaded == 1000)
        #expect(report.requests <= 6)
        let next = try await a.sync()
        #expect(next.requests == 2 && next.looked == 0)
    }

    @Test("only the paths that changed are sent, and the committed event names just these")
    func pathsOnly() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let committed = Locked<[UpdateDescription?]>([])
        let registration = a.items.addChangeEventListener { event in
            guard event.reason == .committed, event.operationType == .update else { return }
            committed.withLock { $0.append(event.updateDescription) }
        }
        defer { registration.remove() }
        let sent = Locked<[RemoteWrite.Action]>([])
        try await a.insert(["_id": "k", "fixed": 1, "a": ["x": 1, "y": 2], "b": 1])
        try await a.sync()
        world.remote.before { call in
            sent.withLock { $0 += call.writes.map(\.action) }
        }
        try await a.items.updateOne(
            ["_id": "k"], ["$set": ["a.x": 5, "d": ["z": 1]], "$unset": ["b": ""]])
        try await a.sync()
        let expected: BSONDocument = ["a.x": 5, "d": ["z": 1]]
        let actions = sent.withLock { $0 }
        guard case .update(set: let set, unset: let unset)? = actions.first, actions.count == 1
        else {
            Issue.record("one update was to be sent, not \(actions)")
            return
        }
        #expect(set.keys.filter { $0 != DocumentVersion.fieldName } == expected.keys)
        #expect(unset == ["b"])
        let descriptions = committed.withLock { $0 }
        #expect(descriptions.map { $0?.updatedFields } == [expected])
        #expect(descriptions.map { $0?.removedFields } == [["b"]])
    }

    @Test("a conflict that is older than the configuration waits for it")
    func configuredLate() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": "k", "n": 1])
        try world.foreign("k") { $0["n"] = 2 }
        var errors = try await engine.syncNow().errors
        errors += try await engine.syncNow().errors
        #expect(errors.contains(.notConfigured))
        #expect(try items.findOne(id: "k") == ["_id": "k", "n": 1])
        let asked = Locked(0)
        let reasons = Locked<[ChangeReason]>([])
        await items.configure(
            conflictHandler: ConflictHandler { _ in
                asked.withLock { $0 += 1 }
                return .useRemote
            },
            changeEventListener: { event in reasons.withLock { $0.append(event.reason) } })
        try await engine.syncUntilQuiet()
        await engine.flushEvents()
        #expect(asked.withLock { $0 } == 1)
        #expect(reasons.withLock { $0 } == [.resolution])
        #expect(try items.findOne(id: "k") == ["_id": "k", "n": 2])
    }

    @Test("a device that is turned off before and after each step ends as one that was not")
    func powerCycles() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .localWins)
        try world.foreign("k") { $0["n"] = 1 }
        try await a.items.sync(ids: ["k"])
        try await a.start()
        try await a.sync()
        try await a.start()
        #expect(try await a.local("k") == ["_id": "k", "n": 1])
        try world.foreign("k") {
            $0["n"] = 3
            $0[DocumentVersion.fieldName] = nil
        }
        try await a.start()
        try await a.set("k", ["n": 2])
        try await a.start()
        try await a.engine.syncUntilQuiet()
        try await a.start()
        #expect(try await a.items.syncedIDs == ["k"])
        #expect(try await a.local("k") == ["_id": "k", "n": 2])
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 2])
    }
}
