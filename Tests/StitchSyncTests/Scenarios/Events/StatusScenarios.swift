import BSONStore
import Foundation
import StitchSyncTesting
import Testing

@testable import StitchSync

/// An app can see, wait for, check and give up what sync does.
@Suite(.remotes)
struct StatusScenarios {
    @Test("a document's status follows it")
    func documentStatus() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        #expect(try await a.items.status(of: "k") == .notSynced)
        try await a.insert(["_id": "k", "x": 0])
        #expect(try await a.items.status(of: "k") == .pending)
        try await a.sync()
        #expect(try await a.items.status(of: "k") == .synced)
        try world.foreign("k") { $0["x"] = 5 }
        try await a.set("k", ["x": 1])
        try await a.sync()
        #expect(try await a.items.status(of: "k") == .conflicted)
        struct Refusal: Error {}
        await a.items.configure(conflictHandler: ConflictHandler { _ in throw Refusal() })
        try await a.sync()
        guard case .paused(let reason) = try await a.items.status(of: "k") else {
            Issue.record("the document is not paused")
            return
        }
        #expect(reason.code == .handlerFailed)
        try await a.items.sync(ids: ["other"])
        #expect(try await a.items.status(of: "other") == .stale)
    }

    @Test("giving a change up brings back what the remote confirmed")
    func discard() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        #expect(try await !a.items.discardPendingChange(of: "k"))
        try await a.set("k", ["x": 1])
        world.remote.outcomes { _, outcomes in
            outcomes.map { _ in .failed(RemoteError(.rejected, code: 121, "no")) }
        }
        world.remote.before { call in
            if call.kind == .write { throw RemoteError(.retryable, "cut") }
        }
        try await a.sync()
        world.remote.before(nil)
        #expect(try await a.items.confirmedDocument(id: "k") == ["_id": "k", "x": 0])
        #expect(try await a.items.discardPendingChange(of: "k"))
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 0])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        try await a.insert(["_id": "new"])
        #expect(try await a.items.discardPendingChange(of: "new"))
        #expect(try await a.local("new") == nil)
        #expect(try await a.items.syncedIDs == ["k"])
    }

    @Test(
        "waiting for synchronization ends when both sides hold the same, or in time",
        .timeLimit(.minutes(30)))
    func waiting() async throws {
        let world = try SyncWorld()
        let clock = ManualClock()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote, clock: clock)
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        try world.foreign("theirs") { $0["x"] = 1 }
        try await items.sync(ids: ["theirs"])
        try await items.insertMany((0..<700).map { ["_id": .int32($0)] })
        try await engine.waitForSynchronization()
        #expect(try await items.status() == SyncStatus(synced: 701))
        let progress = try await engine.progress()
        #expect(progress.uploadedDocuments == 700 && progress.pendingUploads == 0)
        #expect(progress.downloadedDocuments >= 1 && progress.downloadedBytes > 0)
        world.remote.before { call in throw RemoteError(.retryable, "down") }
        try await items.insertOne(["_id": "late"])
        try await clock.advance(by: .seconds(5)) {
            let error = await #expect(throws: SyncError.self) {
                try await engine.waitForUpload(timeout: .seconds(5))
            }
            #expect(error?.code == .timedOut)
        }
    }

    @Test(
        "who waits while the engine is offline waits for the network, or in time",
        .timeLimit(.minutes(30)))
    func waitingOffline() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        engine.setOnline(false)
        // Nothing is to be sent.
        try await engine.waitForUpload()
        try await items.insertOne(["_id": 1])
        for wait in [
            { try await engine.waitForUpload(timeout: .milliseconds(1)) },
            { try await items.waitForDownload(timeout: .milliseconds(1)) },
            { _ = try await items.subscribe(timeout: .milliseconds(1)) },
            { try await engine.subscriptions.removeAll(timeout: .milliseconds(1)) },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: SyncError.self) { try await wait() }
            #expect(error?.code == .timedOut)
        }
        async let all: Void = engine.waitForSynchronization()
        async let set: Void = engine.subscriptions.waitForSynchronization()
        engine.setOnline(true)
        _ = try await (all, set)
        #expect(try world.remoteDocument(1) == ["_id": 1])
        engine.setOnline(false)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.waitForDownload() }
            group.cancelAll()
            let result = await group.nextResult()
            #expect(throws: CancellationError.self) { try result?.get() }
        }
    }

    @Test("damage in the sync tables is found and named")
    func verify() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        for id in 1...6 as ClosedRange<Int32> { try await a.insert(["_id": .int32(id), "x": 0]) }
        try await a.engine.syncUntilQuiet()
        try await a.set(6, ["x": 1])
        #expect(try await a.engine.verify().isEmpty)
        // The database is the task's, and the store writes on a thread of its own.
        let namespace = SyncWorld.namespace
        try await a.store.write { transaction in
            transaction.isEngineWrite = true
            try transaction.put(namespace, ["_id": 7])
            try transaction.put(namespace, ["_id": 2, "x": 0, "__stitch_sync_version": 1])
            let connection = transaction.connection
            try connection.executeOnce("UPDATE sync_documents SET pending = 1 WHERE id = 3")
            try connection.executeOnce("UPDATE sync_documents SET pending = 0 WHERE id = 6")
            try connection.executeOnce("UPDATE sync_documents SET key = x'00' WHERE id = 4")
            try connection.executeOnce("UPDATE sync_documents SET version = x'00' WHERE id = 5")
            try connection.executeOnce(
                "INSERT INTO sync_events(collection, event) VALUES (1, x'00')")
        }
        let findings = try await a.engine.verify()
        #expect(
            findings.map { "\($0.kind.rawValue) \($0.documentID.map { "\($0)" } ?? "?")" } == [
                "queuedWithoutChange 3", "keyMismatch 4", "unreadableRecord ?",
                "changeNotQueued 6", "versionInContent 2",
                "documentWithoutRecord 4",
                "documentWithoutRecord 7", "unreadableRecord ?",
            ])
    }

    @Test("users do not see each other's documents; signing out sends first, then deletes")
    func users() async throws {
        let world = try SyncWorld()
        let directory = try ScratchDirectory()
        let users = UserStores(directory: directory.path("users")) { _ in world.remote }
        #expect(try users.userIDs().isEmpty)
        let anna = try users.signIn("anna/../x").collection(SyncWorld.namespace)
        let ben = try users.signIn("ben").collection(SyncWorld.namespace)
        try await anna.insertOne(["_id": "a"])
        try await ben.insertOne(["_id": "b"])
        #expect(try anna.find().count() == 1)
        #expect(try users.userIDs() == ["anna/../x", "ben"])
        #expect(throws: SyncError.self) { try users.signIn("") }
        world.remote.before { _ in throw RemoteError(.retryable, "down") }
        await #expect(throws: SyncError.self) {
            try await users.signOut("anna/../x", waitingForUpload: .milliseconds(1))
        }
        #expect(try users.signIn("anna/../x").collection(SyncWorld.namespace).find().count() == 1)
        world.remote.before(nil)
        try await users.signOut("anna/../x", waitingForUpload: .seconds(60))
        #expect(try world.remoteDocument("a") == ["_id": "a"])
        #expect(try users.userIDs() == ["ben"])
        #expect(try users.signIn("anna/../x").collection(SyncWorld.namespace).find().count() == 0)
        try await users.close("ben")
        #expect(try users.signIn("ben").collection(SyncWorld.namespace).find().count() == 1)
    }

    @Test("find-and-change calls return before or after, and are sent like other writes")
    func findOneAnd() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.items.insertMany([
            ["_id": 1, "n": 1], ["_id": 2, "n": 5], ["_id": 3, "n": 3],
        ])
        let largest = try SortOrder(["n": -1])
        let before = try await a.items.findOneAndUpdate(
            [:], ["$inc": ["n": 1]], options: .init(sort: largest))
        #expect(before == ["_id": 2, "n": 5])
        let after = try await a.items.findOneAndUpdate(
            [:], ["$inc": ["n": 1]], options: .init(sort: largest, returnsAfter: true))
        #expect(after == ["_id": 2, "n": 7])
        let replaced = try await a.items.findOneAndReplace(
            ["n": 3], ["m": 1], options: .init(returnsAfter: true))
        #expect(replaced == ["_id": 3, "m": 1])
        #expect(try await a.items.findOneAndDelete(["n": 1]) == ["_id": 1, "n": 1])
        #expect(try await a.items.findOneAndDelete(["n": 1]) == nil)
        let inserted = try await a.items.findOneAndUpdate(
            ["_id": 9], ["$set": ["n": 9]], options: .init(upsert: true, returnsAfter: true))
        #expect(inserted == ["_id": 9, "n": 9])
        #expect(try Set(a.items.find().distinct("n")) == [7, 9])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.status() == SyncStatus(synced: 3))
        for id in [2, 3, 9] as [BSONValue] {
            #expect(try await a.local(id) == world.remoteDocument(id))
        }
    }

    @Test("the newest edition wins, whichever side it is on", arguments: [(1, 2), (3, 3), (4, 1)])
    func newest(local: Int32, remote: Int32) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .newest(by: "meta.at"))
        try await a.insert(["_id": "k", "meta": ["at": 0], "by": "none"])
        try await a.sync()
        try await a.set("k", ["meta.at": .int32(local), "by": "local"])
        try world.foreign("k") { document in
            document["meta"] = ["at": .int64(Int64(remote))]
            document["by"] = "remote"
        }
        try await a.engine.syncUntilQuiet()
        let winner: BSONValue = local > remote ? "local" : "remote"
        #expect(try await a.local("k")?["by"] == winner)
        #expect(try world.remoteDocument("k")?["by"] == winner)
    }
}
