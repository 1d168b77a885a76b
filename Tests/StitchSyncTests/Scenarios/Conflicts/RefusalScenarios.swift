import BSONStore
import Testing

@testable import StitchSync

/// The ancestor's scenarios of refused and overtaken writes: 15, 25, 41, 88, 91, 95-106, 222, 224.
@Suite(.remotes)
struct RefusalScenarios {
    /// A device whose writes the remote refuses while it is told to.
    private struct Refused: Sendable {
        let world: SyncWorld
        let engine: SyncEngine
        let items: SyncCollection<BSONDocument>
        let refuses = Locked(false)
        let told = Locked<[String]>([])

        init() async throws {
            world = try SyncWorld()
            let refuses = refuses
            let remote = TwistedRemote(
                base: world.remote,
                writeFault: { _ in
                    refuses.withLock { $0 } ? RemoteError(.rejected, code: 121, "invalid") : nil
                })
            engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
            items = engine.collection(SyncWorld.namespace)
            let told = told
            await items.configure(
                conflictHandler: .remoteWins,
                changeEventListener: { event in
                    told.withLock { $0.append("\(event.reason) \(event.operationType)") }
                },
                errorListener: { error, id in
                    told.withLock { $0.append("error \(error.code) \(id ?? .null)") }
                })
        }

        func transcript() async -> [String] {
            await engine.flushEvents()
            return told.withLock { told in
                defer { told = [] }
                return told
            }
        }
    }

    private enum Verb: String, CaseIterable { case insert, update, replace, delete }

    private func write(_ verb: Verb, _ items: SyncCollection<BSONDocument>) async throws {
        switch verb {
        case .insert: try await items.insertOne(["_id": "k", "n": 1])
        case .update: try await items.updateOne(["_id": "k"], ["$set": ["n": 1]])
        case .replace: try await items.replaceOne(["_id": "k"], ["n": 1])
        case .delete: try await items.deleteOne(["_id": "k"])
        }
    }

    @Test(
        "a refused write is told once, stays, and lets no remote change in until it is resumed",
        arguments: Verb.allCases)
    private func refused(verb: Verb) async throws {
        let device = try await Refused()
        if verb != .insert {
            try await device.items.insertOne(["_id": "k", "n": 0])
            try await device.engine.syncNow()
        }
        try await write(verb, device.items)
        _ = await device.transcript()
        device.refuses.withLock { $0 = true }
        let report = try await device.engine.syncNow()
        #expect(report.paused == 1 && report.uploaded == 0)
        #expect(await device.transcript() == ["error rejected \(BSONValue.string("k"))"])
        try device.world.foreignDelete("k")
        device.refuses.withLock { $0 = false }
        #expect(try await device.engine.syncNow().isQuiet)
        #expect(await device.transcript() == [])
        #expect(try await device.items.pausedIDs == ["k"])
        #expect(try await device.items.status().pending == 1)
        #expect((try device.items.findOne(id: "k") != nil) == (verb != .delete))
        #expect(try await device.items.resumeSync(of: "k"))
        #expect(try await device.items.pausedIDs.isEmpty)
        try await device.engine.syncUntilQuiet()
        // The remote's delete wins, except over an insert that it never knew of.
        let remains = verb == .insert
        #expect((try device.items.findOne(id: "k") != nil) == remains)
        #expect((try device.world.remoteDocument("k") != nil) == remains)
        #expect(try await device.engine.verify().isEmpty)
    }

    @Test("a refused insert that is edited takes part again and is not deleted for being unknown")
    func refusedThenEdited() async throws {
        let device = try await Refused()
        try await write(.insert, device.items)
        device.refuses.withLock { $0 = true }
        try await device.engine.syncNow()
        device.refuses.withLock { $0 = false }
        try await device.items.updateOne(["_id": "k"], ["$set": ["n": 2]])
        try await device.engine.syncUntilQuiet()
        #expect(try device.items.findOne(id: "k") == ["_id": "k", "n": 2])
        #expect(try device.world.remoteDocument("k") == ["_id": "k", "n": 2])
    }

    @Test("a paused document ignores remote changes; resumed, it takes the latest")
    func resumeTakesLatest() async throws {
        let world = try SyncWorld()
        struct Sulk: Error {}
        let a = try await world.device("A", handler: ConflictHandler { _ in throw Sulk() })
        try await a.insert(["_id": "k", "n": 0])
        try await a.sync()
        try await a.set("k", ["n": 1])
        try world.foreign("k") { $0["n"] = 2 }
        try await a.sync()
        #expect(try await a.items.status(of: "k").pauseReason?.code == .handlerFailed)
        try world.foreign("k") { $0["n"] = 3 }
        #expect(try await a.engine.syncNow().isQuiet)
        #expect(try await a.local("k") == ["_id": "k", "n": 1])
        await a.items.configure(conflictHandler: .remoteWins)
        #expect(try await !a.items.resumeSync(of: "unknown"))
        #expect(try await a.items.resumeSync(of: "k"))
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("k") == ["_id": "k", "n": 3])
        try world.foreignDelete("k")
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("k") == nil)
        #expect(try await a.items.syncedIDs.isEmpty)
    }

    @Test(
        "what two sides insert under one id is a conflict, unless it is the same",
        arguments: [1, 2])
    func insertedTwice(remote: Int) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: remote == 1 ? nil : .remoteWins)
        try await a.insert(["_id": "k", "n": 1])
        try world.foreign("k") { $0["n"] = .int32(Int32(remote)) }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("k") == ["_id": "k", "n": .int32(Int32(remote))])
        #expect(try await a.local("k") == world.remoteDocument("k"))
        let conflicts = world.transcript().filter { $0.contains("conflict") }
        #expect(conflicts == (remote == 1 ? [] : ["A conflict base - local n=1 remote n=2"]))
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a document that came without a version is deleted on both sides without a conflict")
    func deleteOfClaimed() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try world.foreign("k") { $0["n"] = 1 }
        try await a.items.sync(ids: ["k"])
        try await a.sync()
        try await a.delete("k")
        try await a.sync()
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.items.syncedIDs.isEmpty)
    }

    @Test("overtaken at the remote, a write is decided by the handler", arguments: [true, false])
    func overtaken(remoteWins: Bool) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: remoteWins ? .remoteWins : .localWins)
        try await a.insert(["_id": "k", "n": 0])
        try await a.sync()
        try await a.set("k", ["n": 1])
        _ = world.transcript()
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before(nil)
            try world.foreignDelete("k")
        }
        try await a.sync()
        #expect(try world.remoteDocument("k") == nil)
        try await a.engine.syncUntilQuiet()
        await a.engine.flushEvents()
        let end: BSONDocument? = remoteWins ? nil : ["_id": "k", "n": 1]
        #expect(try await a.local("k") == end)
        #expect(try world.remoteDocument("k") == end)
        #expect(
            world.transcript()
                == ["A conflict base n=0 local n=1 remote -"]
                + (remoteWins
                    ? ["A resolution delete k settled"]
                    : ["A resolution insert k pending", "A committed insert k settled"]))
    }

    @Test("a local delete against a remote update: the handler's word counts on both sides")
    func deleteAgainstUpdate() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .localWins)
        try await a.insert(["_id": "k", "n": 0])
        try await a.sync()
        try world.foreign("k") { $0["n"] = 5 }
        try await a.delete("k")
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 5])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.items.syncedIDs.isEmpty)
        #expect(
            world.transcript().filter { $0.contains("conflict") }
                == ["A conflict base n=0 local - remote n=5"])
    }

    @Test(
        "after a conflict the next edition continues the remote's lineage, whoever won",
        arguments: [true, false])
    func lineageGoesOn(remoteWins: Bool) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: remoteWins ? .remoteWins : .localWins)
        let b = try await world.device("B")
        try await a.insert(["_id": "k", "n": 0])
        try await a.sync()
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        try await b.set("k", ["n": 1])
        try await b.sync()
        try await a.set("k", ["n": 2])
        try await a.engine.syncUntilQuiet()
        let won = try world.remoteVersion("k")?.version
        try await a.set("k", ["n": 3])
        try await a.engine.syncUntilQuiet()
        let next = try world.remoteVersion("k")?.version
        #expect(won?.counter == (remoteWins ? 1 : 2))
        #expect(next?.counter == won.map { $0.counter + 1 })
        #expect(next?.lineage == won?.lineage)
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 3])
    }

    @Test("a unique value that moves on from document to document is sent in the order it can be")
    func uniqueValuesMove() async throws {
        let world = try SyncWorld()
        try world.remoteDocuments.makeUnique("x")
        let a = try await world.device("A")
        for id in 0..<4 as Range<Int32> {
            try await a.insert(["_id": .int32(id), "x": .int32(id)])
        }
        try await a.engine.syncUntilQuiet()
        // Each takes what the next one had, and the last what a deleted one had.
        try await a.delete(3)
        for id in [2, 1, 0] as [Int32] { try await a.set(.int32(id), ["x": .int32(id + 1)]) }
        let report = try await a.engine.syncNow()
        #expect(report.paused == 0 && report.uploaded == 4)
        for id in 0..<3 as Range<Int32> {
            #expect(
                try world.remoteDocument(.int32(id)) == ["_id": .int32(id), "x": .int32(id + 1)])
        }
        #expect(try await a.items.status() == SyncStatus(synced: 3))
        // What nobody gives up is refused, after one more try beside what is taken.
        try await a.set(0, ["x": 2])
        try await a.set(2, ["x": 9])
        try await a.insert(["_id": 5, "x": 2])
        try await a.engine.syncNow()
        #expect(try await a.items.pausedIDs == [0, 5])
        #expect(try world.remoteDocument(2) == ["_id": 2, "x": 9])
    }

    @Test("a list that is renumbered from its head goes up in two requests")
    func uniqueValuesShift() async throws {
        let world = try SyncWorld()
        try world.remoteDocuments.makeUnique("x")
        let a = try await world.device("A")
        let count: Int32 = 100
        try await a.items.insertMany(
            (0..<count).map { ["_id": .int32($0), "x": .int32($0)] })
        try await a.engine.syncUntilQuiet()
        for id in (0..<count).reversed() {
            try await a.set(.int32(id), ["x": .int32(id + 1)])
        }
        let writes = Locked(0)
        world.remote.before { call in
            if call.kind == .write { writes.withLock { $0 += 1 } }
        }
        let report = try await a.engine.syncNow()
        #expect(report.paused == 0 && report.uploaded == Int(count))
        #expect(writes.withLock { $0 } == 2)
        for id in [0, count / 2, count - 1] {
            #expect(
                try world.remoteDocument(.int32(id)) == ["_id": .int32(id), "x": .int32(id + 1)])
        }
    }

    @Test("an own write that comes back as a change is no conflict with the edit after it")
    func ownEcho() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "n": 0])
        try await a.sync()
        world.remote.after { call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            // The history shows the write before its answer is taken in, and the app goes on.
            try await a.engine.collection(SyncWorld.namespace)
                .updateOne(["_id": "k"], ["$set": ["n": 2]])
        }
        try await a.set("k", ["n": 1])
        try await a.sync()
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 2])
        #expect(try world.remoteVersion("k")?.version?.counter == 2)
        #expect(!world.transcript().contains { $0.contains("conflict") || $0.contains("error") })
    }
}
