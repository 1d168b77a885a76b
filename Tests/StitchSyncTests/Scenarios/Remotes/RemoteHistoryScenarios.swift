import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// Scenarios of one process, about what a remote in it keeps and what documents may be.
struct RemoteHistoryScenarios {
    private static func store(_ documents: [BSONDocument]) throws -> DocumentStore {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000)))
        for document in documents {
            try store.write { try $0.put(SyncWorld.namespace, document) }
        }
        return store
    }

    @Test("a remote whose history is another one is compared whole", arguments: [0, 2, 20])
    func anotherHistory(further: Int) async throws {
        let device = try DocumentStore(at: .inMemory)
        let first = try Self.store([["_id": "a", "x": 1], ["_id": "b", "x": 1]])
        let engine = try SyncEngine(store: device, remote: InProcessRemote(store: first))
        try await engine.collection(SyncWorld.namespace).sync(ids: ["a", "b", "c"])
        try await engine.syncUntilQuiet()
        let changes = try first.changePosition
        // As many changes, or more: the place in the old history is one in this, too.
        let others = (0..<Int(changes) - 2 + further).map { number -> BSONDocument in
            ["_id": .int32(Int32(number))]
        }
        let second = try Self.store([["_id": "a", "x": 9], ["_id": "c", "x": 9]] + others)
        // A file that was put back by copying keeps its identity.
        let uuid = try #require(try first.read { try $0.collectionUUID(SyncWorld.namespace) })
        try await second.write { transaction in
            let update = try transaction.connection.prepare("UPDATE store_options SET uuid = ?")
            update.bind(1, uuid.bytes)
            try update.run()
        }
        let later = try SyncEngine(store: device, remote: InProcessRemote(store: second))
        let items = later.collection(SyncWorld.namespace)
        try await later.syncUntilQuiet()
        #expect(try items.findOne(id: "a") == ["_id": "a", "x": 9])
        // Nothing says that somebody deleted it: it stays, and is not sent.
        #expect(try items.findOne(id: "b") == ["_id": "b", "x": 1])
        #expect(try await items.unexplainedIDs == ["b"])
        #expect(try items.findOne(id: "c") == ["_id": "c", "x": 9])
        // What comes after is followed in the new history.
        try await second.write { try $0.put(SyncWorld.namespace, ["_id": "a", "x": 10]) }
        let report = try await later.syncNow()
        #expect(report.looked <= 2)
        #expect(try items.findOne(id: "a") == ["_id": "a", "x": 10])
    }

    @Test("a change of a document that fills all the room is given up")
    func largestDocument() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try world.foreign("big") { $0["b"] = SyncWorld.bytes(16 * 1024 * 1024 - 8 * 1024) }
        let big = try #require(try world.remoteDocument("big"))
        try await a.items.sync(ids: ["big"])
        try await a.settle()
        #expect(try await a.local("big") == big)
        try await a.items.updateOne(["_id": "big"], ["$unset": ["b": ""]])
        #expect(try await a.items.discardPendingChange(of: "big"))
        #expect(try await a.local("big") == big)
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        let error = await #expect(throws: SyncError.self) {
            try await a.items.updateOne(["_id": "big"], ["$set": ["c": 1]])
        }
        #expect(error?.code == .documentTooLarge)
    }

    @Test("documents under ids of all types come by a query page by page, change, and go")
    func allIDs() async throws {
        let ids: [BSONValue] = [
            .minKey, .null, .decimal128(.nan), .double(-.infinity), .int32(-1), .double(-0.0),
            .int64(.max), .string(""), .string("é"), .document([:]),
            .document(["a": 1, "b": 2]), .document(["b": 2, "a": 1]), .document(["a": 2.5]),
            .binary(BSONBinary([1])), .objectID(BSONObjectID()), .bool(false), .bool(true),
            .datetime(BSONDatetime(milliseconds: -1)),
            .timestamp(BSONTimestamp(seconds: 1, increment: 1)), .maxKey,
        ]
        let remote = try Self.store(ids.map { BSONDocument([("_id", $0), ("x", .int32(0))]) })
        var limits = SyncLimits()
        limits.batchDocuments = 1
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: InProcessRemote(store: remote),
            limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        let query = try SubscriptionQuery(items.find(["x": ["$gte": 0]]))
        try await engine.subscriptions.update { $0.insertOrAssign(query, named: "all") }
        try await engine.syncUntilQuiet()
        #expect(try items.find().count() == ids.count)
        for id in ids { try await items.updateOne(["_id": id], ["$set": ["x": 1]]) }
        try await engine.syncUntilQuiet()
        let held = try items.find().fetch()
        for document in held {
            let there = try remote.read { try $0.get(SyncWorld.namespace, id: document.documentID) }
            #expect(there?.withoutVersion == document)
            #expect(document["x"] == 1)
        }
        #expect(try await engine.verify() == [])
        for id in ids.prefix(10) { try await items.deleteOne(["_id": id]) }
        try await engine.syncUntilQuiet()
        #expect(try remote.collection(SyncWorld.namespace).find().count() == ids.count - 10)
        #expect(try await items.status() == SyncStatus(synced: ids.count - 10))
    }

    @Test("a document with a key that stands twice is changed beside it, and both sides agree")
    func keyTwice() async throws {
        let twice = BSONDocument([("_id", "k"), ("a", 1), ("a", 2), ("b", 1)])
        let remote = try Self.store([twice])
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: InProcessRemote(store: remote))
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        try await items.sync(ids: ["k"])
        try await engine.syncUntilQuiet()
        #expect(try items.findOne(id: "k") == twice)
        try await items.updateOne(["_id": "k"], ["$set": ["b": 2]])
        try await engine.syncUntilQuiet()
        let there = try remote.read { try $0.get(SyncWorld.namespace, id: "k") }?.withoutVersion
        #expect(try items.findOne(id: "k") == there)
        #expect(there == BSONDocument([("_id", "k"), ("a", 1), ("a", 2), ("b", 2)]))
        #expect(try await items.status() == SyncStatus(synced: 1))
    }

    @Test("a store that is opened by a link is synced by one engine at a time")
    func leaseThroughLink() async throws {
        let directory = try ScratchDirectory()
        let (path, link) = (directory.path("a.db"), directory.path("link.db"))
        let remote = InProcessRemote(store: try Self.store([]))
        let first = try SyncEngine(store: try DocumentStore(at: .file(path)), remote: remote)
        try await first.syncNow()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let second = try SyncEngine(store: try DocumentStore(at: .file(link)), remote: remote)
        let error = await #expect(throws: SyncError.self) { try await second.syncNow() }
        #expect(error?.code == .storeInUse)
    }

    @Test("an engine that writes beside the one that syncs keeps events for that one's listeners")
    func eventsForTheOther() async throws {
        let directory = try ScratchDirectory()
        let path = directory.path("a.db")
        let remote = InProcessRemote(store: try Self.store([]))
        let told = Locked<[String]>([])
        let syncing = try SyncEngine(store: try DocumentStore(at: .file(path)), remote: remote)
        await syncing.collection(SyncWorld.namespace).configure(changeEventListener: { event in
            told.withLock { $0.append("\(event.reason) \(event.operationType)") }
        })
        try await syncing.syncNow()
        try await syncing.collection(SyncWorld.namespace).insertOne(["_id": "k"])
        let writing = try SyncEngine(store: try DocumentStore(at: .file(path)), remote: remote)
        let items = writing.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        try await items.updateOne(["_id": "k"], ["$set": ["x": 1]])
        try await syncing.syncNow()
        await syncing.flushEvents()
        #expect(told.withLock { $0 } == ["local insert", "local update", "committed insert"])
    }
}
