import BSONStore
import Testing

@testable import StitchSync

/// Requests may land long after their sender gave them up, and histories may not say so; what is an
/// app's own must not come back to it as a conflict, and what is uncertain must be told.
@Suite(.remotes)
struct LateScenarios {
    @Test("a request that lands after it was given up for lost is no conflict")
    func landsLate() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try await a.set("k", ["x": 1])
        let late = world.postponeWrite()
        try await a.sync()
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before(nil)
            try await world.land(late)
        }
        try await a.set("k", ["x": 2])
        try await a.sync()
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a request that lands between the look and the reading of the history is no conflict")
    func landsAfterTheLook() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let late = world.postponeWrite()
        try await a.insert(["_id": "k", "x": 0, "y": 0])
        try await a.sync()
        try await a.set("k", ["x": 1])
        world.remote.after { call in
            guard call.kind == .find else { return }
            world.remote.after(nil)
            try await world.land(late)
        }
        try await a.sync()
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1, "y": 0])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test(
        "of several requests that were given up, whichever lands is no conflict",
        arguments: [0, 1, 2], [false, true])
    func landsOneOfSeveral(landing: Int, restarts: Bool) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        var late: [Locked<[RemoteWrite]>] = []
        for x in 1...3 as ClosedRange<Int32> {
            late.append(world.postponeWrite())
            try await a.sync()
            if restarts { try await a.start() }
            try await a.set("k", ["x": .int32(x)])
        }
        try await world.land(late[landing])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 3])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    @Test("a change given up behind a version that nobody understands lets the remote's content in")
    func givenUpBehindForeignVersion() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try world.foreign("k") { document in
            document["x"] = 5
            document[DocumentVersion.fieldName] = "none of ours"
        }
        try await a.set("k", ["x": 1])
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.discardPendingChange(of: "k"))
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 5])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("an insert that waited behind a foreign version is sent once that went away unseen")
    func insertBehindForeignVersion() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 1])
        try world.foreign("k") { $0[DocumentVersion.fieldName] = "none of ours" }
        try await a.sync()
        #expect(try await a.items.status().pending == 1)
        try world.foreignDelete("k")
        world.loseHistory()
        try await a.sync()
        world.remote.before(nil)
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("that a change may have landed is still told after the remote's edition was claimed")
    func uncertainOverClaim() async throws {
        let world = try SyncWorld()
        let flags = Locked<[Bool]>([])
        let a = try await world.device(
            "A",
            handler: ConflictHandler { conflict in
                flags.withLock { $0.append(conflict.mayHaveLanded) }
                return .useLocal
            })
        try await a.insert(["_id": "k", "x": 0])
        world.remote.after { call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            throw RemoteError(.retryable, "lost")
        }
        try await a.sync()
        try await a.set("k", ["x": 1])
        try world.foreign("k") { document in
            document["x"] = 7
            document[DocumentVersion.fieldName] = nil
        }
        world.loseHistory()
        try await a.sync()
        world.remote.before(nil)
        #expect(flags.withLock { $0 } == [true])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k")?["x"] == 1)
    }
}
