import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// Networks fail, devices die and come back; nothing that a call acknowledged may depend on luck.
@Suite(.remotes)
struct LifecycleScenarios {
    @Test("offline, changes queue; online again, they travel")
    func offline() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        a.engine.setOnline(false)
        try await a.insert(["_id": "k", "x": 0])
        await #expect(throws: SyncError.self) { try await a.sync() }
        #expect(try await a.items.status().pending == 1)
        a.engine.setOnline(true)
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 0])
    }

    @Test("a pass that the app ends by going offline tells the listener of no error")
    func offlineDuringPass() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "k", "x": 0])
        let engine = a.engine
        world.remote.after { _ in engine.setOnline(false) }
        let report = try await a.sync()
        world.remote.after(nil)
        #expect(report.errors == [.offline] && !report.reachedRemote)
        #expect(world.transcript() == ["A local insert k pending"])
        engine.setOnline(true)
        try await a.sync()
        #expect(world.transcript() == ["A committed insert k settled"])
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 0])
    }

    @Test("a store on disk goes on where it was, with pending changes and pauses")
    func restartFromDisk() async throws {
        let directory = try ScratchDirectory()
        let path = directory.path("a.db")
        let world = try SyncWorld()
        for life in 0..<3 {
            let store = try DocumentStore(at: .file(path))
            let a = Device(name: "A", world: world, store: store, handler: .remoteWins)
            try await a.start()
            switch life {
            case 0:
                try await a.insert(["_id": "k", "x": 0])
                world.remote.after { call in
                    if call.kind == .write { throw RemoteError(.retryable, "lost") }
                }
                try await a.sync()
                world.remote.after(nil)
            case 1:
                try await a.set("k", ["x": 1])
                world.remote.outcomes { _, outcomes in
                    outcomes.map { _ in .failed(RemoteError(.rejected, code: 13, "no")) }
                }
                try await a.sync()
                world.remote.outcomes(nil)
                #expect(try await a.items.pausedIDs == ["k"])
            default:
                #expect(try await a.items.pausedIDs == ["k"])
                #expect(try await a.items.status().pending == 1)
                #expect(try await a.local("k") == ["_id": "k", "x": 1])
            }
            store.close()
        }
        #expect(
            world.transcript() == [
                "A local insert k pending", "A error remoteUnavailable ",
                "A local update k pending", "A committed insert k pending",
                "A error rejected k",
            ])
    }

    @Test("a write while its document is under way is neither lost nor overwritten")
    func writeDuringUpload() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        world.remote.after { call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            try await a.items.updateOne(["_id": "k"], ["$set": ["x": 1]])
        }
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.status().pending == 1)
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a delete while the insert is under way ends without the document on both sides")
    func deleteDuringInsert() async throws {
        for losesAnswer in [false, true] {
            let world = try SyncWorld()
            let a = try await world.device("A", handler: nil)
            try await a.insert(["_id": "k"])
            world.remote.after { call in
                guard call.kind == .write else { return }
                world.remote.after(nil)
                try await a.items.deleteOne(["_id": "k"])
                if losesAnswer { throw RemoteError(.retryable, "lost") }
            }
            try await a.sync()
            try await a.sync()
            try await a.sync()
            #expect(try world.remoteDocument("k") == nil)
            #expect(try await a.items.syncedIDs == [])
        }
    }

    @Test("insert and delete before a pass never reach the remote, with an event each")
    func neverSent() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "k"])
        try await a.delete("k")
        try await a.sync()
        #expect(try world.remoteChanged(times: 0))
        #expect(
            world.transcript() == ["A local insert k pending", "A local delete k settled"])
    }

    @Test("a request that fails leaves the others committed, with their events")
    func oneRequestFails() async throws {
        let world = try SyncWorld()
        var limits = SyncLimits()
        limits.batchDocuments = 1
        let store = try DocumentStore(at: .inMemory)
        let engine = try SyncEngine(store: store, remote: world.remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertMany([["_id": 1], ["_id": 2], ["_id": 3]])
        world.remote.lose(.write, number: 2)
        let report = try await engine.syncNow()
        #expect(report.uploaded == 2 && report.errors == [.remoteUnavailable])
        #expect(try await items.status() == SyncStatus(synced: 3, pending: 1, toLook: 1))
        try await engine.syncNow()
        #expect(try await items.status() == SyncStatus(synced: 3))
        #expect(try world.remoteChanged(times: 3))
    }

    @Test("an update to the same value sends nothing and tells nothing")
    func noOperation() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        _ = world.transcript()
        try await a.set("k", ["x": 0])
        try await a.set("k", ["x": 1])
        try await a.set("k", ["x": 0])
        try await a.sync()
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(try world.remoteVersion("k")?.version?.counter == 0)
        #expect(
            world.transcript() == [
                "A local update k pending", "A local update k settled",
            ])
    }

    @Test("a pass with nothing to do asks for the identity and for changes, and looks at nothing")
    func quietPass() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.items.insertMany((0..<100).map { ["_id": .int32($0)] })
        try await a.sync()
        try await a.sync()
        let report = try await a.sync()
        #expect(report.requests == 2 && report.looked == 0 && report.isQuiet)
    }

    @Test("a document that is missing appears later")
    func appearsLater() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.items.sync(ids: ["k"])
        try await a.sync()
        try await a.sync()
        #expect(try await a.items.syncedIDs == ["k"])
        try world.foreign("k") { $0["x"] = 1 }
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 1])
    }

    @Test("desync removes the local copy with an event and leaves the remote alone")
    func desync() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "k"])
        try await a.sync()
        try await a.items.desync(ids: ["k"])
        try await a.sync()
        #expect(try await a.local("k") == nil)
        #expect(try world.remoteDocument("k") == ["_id": "k"])
        #expect(world.transcript().last == "A desync delete k settled")
    }

    @Test("lost history is made good by comparing versions, and fetches only what differs")
    func lostHistory() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.items.insertMany((0..<50).map { ["_id": .int32($0)] })
        try await a.sync()
        try await a.sync()
        try world.foreign(7) { $0["x"] = 1 }
        try world.foreignDelete(8)
        let lost = Locked(true)
        world.remote.before { call in
            let strikes = lost.withLock { lost in
                defer { if call.kind == .changes { lost = false } }
                return lost && call.kind == .changes
            }
            if strikes { throw RemoteError(.historyLost, code: 286, "gone") }
        }
        let report = try await a.sync()
        #expect(report.looked == 2 && report.taken == 1 && report.removed == 1)
        #expect(try await a.local(7) == ["_id": 7, "x": 1])
        #expect(try await a.local(8) == nil)
    }

    @Test("when the history is lost, edits survive, deletes are seen, and what is new arrives")
    func fullLooks() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.items.insertMany([["_id": "kept", "x": 0], ["_id": "gone"]])
        try await a.items.sync(ids: ["missing"])
        try await a.engine.syncUntilQuiet()
        try await a.set("kept", ["x": 1])
        try world.foreignDelete("gone")
        try world.foreign("missing") { $0["x"] = 2 }
        try world.foreign("later") { $0["x"] = 3 }
        try await a.items.sync(ids: ["later"])
        for _ in 0..<2 {
            world.loseHistory()
            try await a.sync()
            world.remote.before(nil)
            try await a.engine.syncUntilQuiet()
        }
        #expect(
            try a.items.find().sort(["x": 1]).fetch() == [
                ["_id": "kept", "x": 1], ["_id": "missing", "x": 2], ["_id": "later", "x": 3],
            ])
        #expect(try world.remoteDocument("kept") == ["_id": "kept", "x": 1])
        #expect(try await a.items.status() == SyncStatus(synced: 3))
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    @Test("while it runs, an engine carries changes both ways by itself", .timeLimit(.minutes(30)))
    func runs() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let b = try await world.device("B")
        let (arrived, arrive) = AsyncStream.makeStream(of: BSONDocument?.self)
        await b.items.configure(
            conflictHandler: .remoteWins,
            changeEventListener: { event in arrive.yield(event.fullDocument) })
        try await b.items.sync(ids: ["k"])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await a.engine.run() }
            group.addTask { try await b.engine.run() }
            try await a.items.insertOne(["_id": "k", "x": 0])
            var documents = arrived.makeAsyncIterator()
            #expect(await documents.next() == ["_id": "k", "x": 0])
            try await a.items.updateOne(["_id": "k"], ["$set": ["x": 1]])
            #expect(await documents.next() == ["_id": "k", "x": 1])
            group.cancelAll()
        }
    }
}
