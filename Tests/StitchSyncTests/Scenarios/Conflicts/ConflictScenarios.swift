import BSONStore
import Testing

@testable import StitchSync

/// The ancestor's conflict scenarios, with the outcome that reliability asks for.
@Suite(.remotes)
struct ConflictScenarios {
    /// Two devices that hold `k` with x = 0, in step.
    private func pair(
        _ handler: ConflictHandler<BSONDocument>
    ) async throws -> (world: SyncWorld, a: Device, b: Device) {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: handler)
        let b = try await world.device("B", handler: handler)
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        _ = world.transcript()
        return (world, a, b)
    }

    @Test("remote wins", arguments: [true, false])
    func winners(remoteWins: Bool) async throws {
        let (world, a, b) = try await pair(remoteWins ? .remoteWins : .localWins)
        try await b.set("k", ["x": 3])
        try await b.sync()
        try await a.set("k", ["x": 2])
        try await a.sync()
        try await a.sync()
        let winner: BSONDocument = ["_id": "k", "x": remoteWins ? 3 : 2]
        #expect(try await a.local("k") == winner)
        #expect(try world.remoteDocument("k") == winner)
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a remote delete against a local update is answered with a document and inserted anew")
    func remoteDelete() async throws {
        let (world, a, _) = try await pair(.localWins)
        try world.foreignDelete("k")
        try await a.set("k", ["x": 1])
        try await a.sync()
        #expect(try world.remoteDocument("k") == nil)
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(
            world.transcript() == [
                "A local update k pending", "A conflict base x=0 local x=1 remote -",
                "A resolution insert k pending", "A committed insert k settled",
            ])
    }

    @Test("a remote delete and insert under the same id is a conflict with the new document")
    func reinserted() async throws {
        let (world, a, _) = try await pair(.mergeFields())
        try world.foreignDelete("k")
        try world.foreign("k") { $0["y"] = 9 }
        try await a.set("k", ["x": 1])
        try await a.sync()
        try await a.sync()
        #expect(
            world.transcript().contains("A conflict base x=0 local x=1 remote y=9"))
        #expect(try world.remoteDocument("k") == (try await a.local("k")))
    }

    @Test("an answer may delete on both sides")
    func resolvedByDelete() async throws {
        let (world, a, b) = try await pair(ConflictHandler { _ in .delete })
        try await b.set("k", ["x": 3])
        try await b.sync()
        try await a.set("k", ["x": 2])
        try await a.sync()
        #expect(try await a.local("k") == nil)
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 3])
        try await a.sync()
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.items.syncedIDs == [])
        try await b.sync()
        #expect(try await b.local("k") == nil)
    }

    @Test("a local delete against a remote update asks, and remote wins brings it back")
    func localDelete() async throws {
        let (world, a, b) = try await pair(.remoteWins)
        try await b.set("k", ["x": 3])
        try await b.sync()
        try await a.delete("k")
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 3])
        #expect(
            world.transcript().suffix(2) == [
                "A conflict base x=0 local - remote x=3", "A resolution replace k settled",
            ])
    }

    @Test("a handler that throws pauses its document; an edit lets it take part again")
    func throwing() async throws {
        struct Refused: Error {}
        let refuses = Locked(true)
        let (world, a, b) = try await pair(
            ConflictHandler { _ in
                if refuses.withLock({ $0 }) { throw Refused() }
                return .useLocal
            })
        try await b.set("k", ["x": 3])
        try await b.sync()
        try await a.set("k", ["x": 2])
        try await a.sync()
        #expect(try await a.items.pausedIDs == ["k"])
        #expect(try await a.items.status(of: "k").pauseReason?.code == .handlerFailed)
        try await a.sync()
        refuses.withLock { $0 = false }
        try await a.set("k", ["x": 4])
        #expect(try await a.items.pausedIDs == [])
        try await a.sync()
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 4])
        #expect(
            world.transcript().filter { $0.hasPrefix("A error") } == ["A error handlerFailed k"])
    }

    @Test("an answer with another id is an error that names both")
    func otherID() async throws {
        let (_, a, b) = try await pair(ConflictHandler { _ in .use(["_id": "other"]) })
        try await b.set("k", ["x": 3])
        try await b.sync()
        try await a.set("k", ["x": 2])
        try await a.sync()
        let reason = try await a.items.status(of: "k").pauseReason
        #expect(reason?.code == .handlerChangedID)
        #expect(reason?.message.contains("other") == true)
        #expect(reason?.message.contains("k") == true)
        #expect(try await a.local("k") == ["_id": "k", "x": 2])
    }

    @Test("a write while the handler thinks is not lost: the conflict is decided anew")
    func writeMeanwhile() async throws {
        let world = try SyncWorld()
        let box = Locked<Device?>(nil)
        let asked = Locked(0)
        let handler = ConflictHandler<BSONDocument> { conflict in
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count == 1, let device = box.withLock({ $0 }) {
                try await device.items.updateOne(["_id": "k"], ["$set": ["y": 7]])
            }
            return .useLocal
        }
        let a = try await world.device("A", handler: handler)
        box.withLock { $0 = a }
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try world.foreign("k") { $0["x"] = 5 }
        try await a.set("k", ["x": 2])
        try await a.sync()
        try await a.sync()
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2, "y": 7])
        #expect(asked.withLock { $0 } == 2)
        box.withLock { $0 = nil }
    }

    @Test("equal changes on both sides are no conflict, whatever the order of fields")
    func sameOutcome() async throws {
        let (world, a, b) = try await pair(ConflictHandler { _ in throw CancellationError() })
        try await b.set("k", ["p": 1])
        try await b.set("k", ["q": 2])
        try await b.sync()
        try await a.set("k", ["q": 2])
        try await a.set("k", ["p": 1])
        try await a.sync()
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    @Test("a typed handler keeps the fields that its type does not know")
    func typedHandler() async throws {
        struct Item: Codable, Sendable, Equatable {
            var id: String
            var x: Int32

            enum CodingKeys: String, CodingKey {
                case id = "_id"
                case x
            }
        }
        let world = try SyncWorld()
        let store = try DocumentStore(at: .inMemory)
        let engine = try SyncEngine(store: store, remote: world.remote)
        let items = engine.collection(SyncWorld.namespace, of: Item.self)
        await items.configure(
            conflictHandler: ConflictHandler { conflict in
                guard var merged = conflict.remote else { return .useLocal }
                merged.x += conflict.local?.x ?? 0
                return .use(merged)
            })
        try await items.insertOne(Item(id: "k", x: 1))
        try await engine.syncNow()
        try world.foreign("k") { document in
            document["x"] = 10
            document["unknown"] = ["kept": true]
        }
        try await items.updateOne(["_id": "k"], ["$set": ["x": 5]])
        try await engine.syncUntilQuiet()
        let expected: BSONDocument = ["_id": "k", "x": 15, "unknown": ["kept": true]]
        #expect(try world.remoteDocument("k")?.contentEquals(expected) == true)
        #expect(try items.findOne(id: "k") == Item(id: "k", x: 15))
    }

    @Test("a typed collection merges fields, its type's and others, and asks only about overlaps")
    func typedMerge() async throws {
        struct Item: Codable, Sendable, Equatable {
            var id: String
            var x: Int32

            enum CodingKeys: String, CodingKey {
                case id = "_id"
                case x
            }
        }
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace, of: Item.self)
        let asked = Locked<[Int32?]>([])
        await items.configure(
            conflictHandler: .mergeFields(
                overlaps: ConflictHandler { conflict in
                    asked.withLock { $0.append(conflict.remote?.x) }
                    return .useLocal
                }))
        try await items.insertOne(Item(id: "k", x: 1))
        try await items.insertOne(Item(id: "l", x: 1))
        try await engine.syncNow()
        try world.foreign("k") { $0["unknown"] = 7 }
        try world.foreign("l") { $0["x"] = 3 }
        try await items.updateMany([:], ["$set": ["x": 2]])
        try await engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k")?["unknown"] == 7)
        for id in ["k", "l"] as [BSONValue] { #expect(try world.remoteDocument(id)?["x"] == 2) }
        #expect(asked.withLock { $0 } == [3])
        await items.configure(conflictHandler: .newest(by: "at"))
        try world.foreign("k") { document in
            document["x"] = 9
            document["at"] = 2
        }
        try await items.updateOne(["_id": "k"], ["$set": ["x": 8, "at": 1]])
        try await engine.syncUntilQuiet()
        #expect(try items.findOne(id: "k") == Item(id: "k", x: 9))
    }
}
