import BSONStore
import StitchSync
import Testing

/// What an engine keeps in step is written through the engine only: sync would not see the rest.
struct PastEngineScenarios {
    private static let items = Namespace("shop", "items")
    private static let text =
        "shop.items is kept in step by a sync engine; write through "
        + "engine.collection(Namespace(\"shop\", \"items\")), or desync its documents first"

    private struct Shop {
        let store: DocumentStore
        let engine: SyncEngine
        var items: SyncCollection<BSONDocument> { engine.collection(PastEngineScenarios.items) }
        var stored: DocumentCollection<BSONDocument> { store.collection(PastEngineScenarios.items) }

        /// A device in step with one document.
        init(_ location: DocumentStore.Location = .inMemory) async throws {
            store = try DocumentStore(at: location)
            engine = try SyncEngine(store: store, remote: try InProcessRemote(at: .inMemory))
            try await items.insertOne(["_id": 1, "n": 1])
            try await engine.syncUntilQuiet()
        }
    }

    private func expectRefused(_ write: () async throws -> Void) async throws {
        let error = await #expect(throws: StoreError.self) { try await write() }
        #expect(error?.code == .illegalOperation)
        #expect(error?.message == Self.text)
    }

    @Test("every write past the engine is refused, and says the right call")
    func refused() async throws {
        let shop = try await Shop()
        let stored = shop.stored
        try await expectRefused { _ = try await stored.insertOne(["_id": 2]) }
        try await expectRefused { _ = try await stored.insertMany([["_id": 2], ["_id": 3]]) }
        try await expectRefused { _ = try await stored.updateMany([:], ["$set": ["n": 2]]) }
        try await expectRefused { _ = try await stored.deleteMany([:]) }
        let other = Namespace("shop", "other")
        try await shop.store.write { try $0.insert(other, ["_id": 9]) }
        for stage: BSONDocument in [["$out": "items"], ["$merge": ["into": "items"]]] {
            try await expectRefused {
                _ = try shop.store.collection(other).aggregate([stage])
            }
        }
        try await expectRefused {
            _ = try await shop.store.write { try $0.dropCollection(Self.items) }
        }
        try await expectRefused { _ = try await shop.store.write { try $0.dropDatabase("shop") } }
        try await expectRefused {
            try await shop.store.write { transaction in
                try transaction.renameCollection(Self.items, to: Namespace("shop", "moved"))
            }
        }
        try await expectRefused {
            try await shop.store.write { transaction in
                try transaction.renameCollection(other, to: Self.items, dropTarget: true)
            }
        }
        #expect(try stored.find().fetch() == [["_id": 1, "n": 1]])
        // Other collections, and indexes, are the app's.
        try await shop.store.write { _ = try $0.dropCollection(other) }
        _ = try stored.createIndex(["n": 1], [:])
    }

    @Test("another process that opens the file, and a server on it, are refused as well")
    func otherWriters() async throws {
        let folder = try ScratchDirectory()
        let shop = try await Shop(.file(folder.path("a.db")))
        let other = try DocumentStore(
            at: .file(folder.path("a.db")),
            options: .init(changeHistory: .keep(changesMax: 1_000)))
        defer { other.close() }
        try await expectRefused {
            try await other.collection(Self.items).insertOne(["_id": 2])
        }
        shop.store.close()
        try await expectRefused {
            try await other.collection(Self.items).insertOne(["_id": 2])
        }
        // What a server writes into the file of a device is past the engine, too.
        let server = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: InProcessRemote(store: other))
        try await server.collection(Self.items).insertOne(["_id": 2])
        try await server.syncNow()
        #expect(try other.collection(Self.items).find().count() == 1)
    }

    @Test("before sync begins, and once everything left it, a collection is written freely")
    func free() async throws {
        let store = try DocumentStore(at: .inMemory)
        let stored = store.collection(Self.items)
        try await stored.insertOne(["_id": 1])
        let engine = try SyncEngine(store: store, remote: try InProcessRemote(at: .inMemory))
        let items = engine.collection(Self.items)
        try await stored.insertOne(["_id": 2])
        await items.configure(conflictHandler: .localWins)
        try await items.sync(ids: [1])
        try await expectRefused { _ = try await stored.insertOne(["_id": 3]) }
        try await engine.syncUntilQuiet()
        try await expectRefused { _ = try await stored.insertOne(["_id": 3]) }
        try await items.desync(ids: [1])
        try await stored.insertOne(["_id": 3])
        #expect(try stored.find().count() >= 1)
    }

    @Test("once all subscriptions ended and nothing is left, a collection is written freely")
    func unsubscribed() async throws {
        let shop = try await Shop()
        let (engine, items, stored) = (shop.engine, shop.items, shop.stored)
        try await items.desync(ids: [1])
        try await items.subscribe(to: ["n": 1], named: "ones")
        #expect(try stored.find().count() == 1)
        try await expectRefused { _ = try await stored.insertOne(["_id": 2]) }
        try await engine.subscriptions.update { $0.removeAll() }
        try await expectRefused { _ = try await stored.insertOne(["_id": 2]) }
        try await engine.subscriptions.waitForSynchronization()
        #expect(try stored.find().count() == 0)
        try await stored.insertOne(["_id": 2])
        // A subscription binds it anew.
        try await items.subscribe(to: ["n": 1], named: "ones")
        try await expectRefused { _ = try await stored.insertOne(["_id": 3]) }
    }

    @Test("a document kept by its id binds a collection until it is desynced")
    func unsubscribedBeforeDesync() async throws {
        let shop = try await Shop()
        let (engine, items, stored) = (shop.engine, shop.items, shop.stored)
        try await items.subscribe(to: ["n": 1], named: "ones")
        try await engine.subscriptions.update { $0.removeAll() }
        try await engine.subscriptions.waitForSynchronization()
        try await items.sync(ids: [1])
        try await engine.syncUntilQuiet()
        try await expectRefused { _ = try await stored.insertOne(["_id": 2]) }
        try await items.desync(ids: [1])
        try await stored.insertOne(["_id": 2])
        #expect(try stored.find().count() == 1)
    }

    @Test("a transaction of the engine lends its right to no other of the same commit")
    func grouped() async throws {
        let shop = try await Shop()
        let (items, stored) = (shop.items, shop.stored)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in 10..<60 as Range<Int32> {
                group.addTask {
                    try await items.insertOne(["_id": .int32(id)])
                    return true
                }
                group.addTask {
                    do {
                        try await stored.insertOne(["_id": .int32(id + 1_000)])
                        return false
                    } catch let error as StoreError where error.code == .illegalOperation {
                        return true
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(try stored.find().count() == 51)
    }

    @Test("documents whose time is over, and the oldest of a capped collection, stay in step")
    func bySelf() async throws {
        let shop = try await Shop()
        _ = try shop.stored.createIndex(["at": 1], ["expireAfterSeconds": 1])
        try await shop.items.insertOne(["_id": 2, "at": .datetime(BSONDatetime(milliseconds: 0))])
        #expect(try shop.store.expire(now: BSONDatetime(milliseconds: 1_000_000)) == 0)
        #expect(try shop.stored.find().count() == 2)
        let logs = Namespace("shop", "logs")
        try await shop.store.write { transaction in
            try transaction.createCollection(
                logs, CollectionOptions(["capped": true, "size": 4096, "max": 2]))
        }
        let synced = shop.engine.collection(logs)
        for id in 1...4 as ClosedRange<Int32> { try await synced.insertOne(["_id": .int32(id)]) }
        #expect(try shop.store.collection(logs).find().count() == 4)
        #expect(try await shop.engine.verify() == [])
    }
}
