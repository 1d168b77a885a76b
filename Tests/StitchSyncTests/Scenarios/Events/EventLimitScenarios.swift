import BSONStore
import Testing

@testable import StitchSync

/// Events that no listener takes do not fill the disk, and nothing that they tell is lost.
struct EventLimitScenarios {
    private static func limits(_ change: (inout SyncLimits) -> Void) -> SyncLimits {
        var limits = SyncLimits()
        change(&limits)
        return limits
    }

    @Test("of events that nobody takes, the oldest of a document are merged into one")
    func merging() async throws {
        let world = try SyncWorld()
        let limits = Self.limits { $0.eventsKept = 200 }
        let store = try DocumentStore(at: .inMemory)
        let first = Device(
            name: "A", world: world, store: store, handler: .remoteWins, limits: limits)
        try await first.start()
        try await first.insert(["_id": "old", "n": 0])
        try await first.sync()
        await first.items.configure(conflictHandler: .remoteWins)
        await first.engine.close()
        // The next version of the app configures no listener, and does not even name the collection.
        let engine = try SyncEngine(store: store, remote: world.remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": "new", "n": 0])
        try await items.insertOne(["_id": "gone", "n": 0])
        try await items.deleteOne(["_id": "gone"])
        for number in 1...1_000 as ClosedRange<Int32> {
            let id: BSONValue = number % 2 == 0 ? "old" : "new"
            try await items.updateOne(["_id": id], ["$set": ["n": .int32(number)]])
        }
        let count = try store.read {
            try $0.connection.int64("SELECT count(*) FROM sync_events") ?? 0
        }
        #expect(count <= 200 + 64 + 3)
        // Who listens again can make of the events what the documents are.
        let seen = Locked<[ChangeEvent<BSONDocument>]>([])
        await items.configure(changeEventListener: { event in seen.withLock { $0.append(event) } })
        await engine.flushEvents()
        let events = seen.withLock { $0 }
        #expect(events.count == Int(count))
        #expect(events.map(\.sequence) == events.map(\.sequence).sorted())
        func types(_ id: BSONValue) -> [OperationType] {
            events.filter { $0.documentID == id }.map(\.operationType)
        }
        #expect(types("gone") == [])
        #expect(types("new").first == .insert && types("old").first == .replace)
        #expect(Set(types("new").dropFirst()) == [.update])
        #expect(events.last { $0.documentID == "old" }?.fullDocument?["n"] == 1_000)
        #expect(events.last { $0.documentID == "new" }?.fullDocument?["n"] == 999)
        #expect(try await engine.verify() == [])
    }

    @Test("the delete of a document whose insert the listener knows is not merged away")
    func knownInsert() async throws {
        let world = try SyncWorld()
        let limits = Self.limits { $0.eventsKept = 200 }
        let store = try DocumentStore(at: .inMemory)
        let first = Device(
            name: "A", world: world, store: store, handler: .remoteWins, limits: limits)
        try await first.start()
        try await first.insert(["_id": "known"])
        await first.engine.flushEvents()
        await first.engine.close()
        // The next version of the app configures no listener; the upload's confirmation is an insert.
        let engine = try SyncEngine(store: store, remote: world.remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        try await engine.syncNow()
        try await items.deleteOne(["_id": "known"])
        try await engine.syncNow()
        try await items.insertOne(["_id": "other"])
        for number in 1...1_000 as ClosedRange<Int32> {
            try await items.updateOne(["_id": "other"], ["$set": ["n": .int32(number)]])
        }
        let seen = Locked<[ChangeEvent<BSONDocument>]>([])
        await items.configure(changeEventListener: { event in seen.withLock { $0.append(event) } })
        await engine.flushEvents()
        let events = seen.withLock { $0 }
        #expect(events.count < 300)
        #expect(events.filter { $0.documentID == "known" }.map(\.operationType) == [.delete])
    }

    @Test("documents that are inserted and removed again leave no events")
    func passing() async throws {
        let world = try SyncWorld()
        let limits = Self.limits { $0.eventsKept = 200 }
        let folder = try ScratchDirectory()
        let store = try DocumentStore(at: .file(folder.path("device.stitch")))
        defer { store.close() }
        let first = Device(
            name: "A", world: world, store: store, handler: .remoteWins, limits: limits)
        try await first.start()
        try await first.insert(["_id": "old"])
        try await first.sync()
        await first.engine.close()
        // The next version of the app configures no listener.
        let engine = try SyncEngine(store: store, remote: world.remote, limits: limits)
        // Its first pass makes it the engine that syncs the file and knows the listeners.
        try await engine.syncNow()
        let items = engine.collection(SyncWorld.namespace)
        for number in 0..<1_000 as Range<Int32> {
            try await items.insertOne(["_id": .int32(number)])
            try await items.deleteOne(["_id": .int32(number)])
        }
        let count = try store.read {
            try $0.connection.int64("SELECT count(*) FROM sync_events") ?? 0
        }
        #expect(count > 0 && count <= 200 + 64 + 2)
        await engine.close()
    }

    @Test("events of large documents are merged by their bytes")
    func bytes() async throws {
        let world = try SyncWorld()
        let limits = Self.limits { $0.eventBytesKept = 100_000 }
        let store = try DocumentStore(at: .inMemory)
        let first = Device(
            name: "A", world: world, store: store, handler: .remoteWins, limits: limits)
        try await first.start()
        await first.engine.close()
        let engine = try SyncEngine(store: store, remote: world.remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": 1, "n": 0])
        for number in 0..<300 as Range<Int32> {
            try await items.replaceOne(
                ["_id": 1], ["_id": 1, "n": .int32(number), "bytes": SyncWorld.bytes(5_000)])
        }
        let stored = try store.read {
            try $0.connection.int64("SELECT total(length(event)) FROM sync_events") ?? 0
        }
        #expect(stored < 100_000 + 70 * 6_000)
    }
}
