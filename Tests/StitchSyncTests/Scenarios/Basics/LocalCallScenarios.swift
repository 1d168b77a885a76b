import BSONStore
import Testing

@testable import StitchSync

/// The ancestor's local calls on synced documents: 42-51, 138-163, 225, 236.
@Suite(.remotes)
struct LocalCallScenarios {
    private func device() async throws -> (world: SyncWorld, a: Device) {
        let world = try SyncWorld()
        return (world, try await world.device("A", handler: nil))
    }

    @Test("counts follow inserts, limits, ids and deletes")
    func counts() async throws {
        let (_, a) = try await device()
        #expect(try a.items.find().count() == 0)
        try await a.items.insertMany([["_id": 1, "n": 1], ["_id": 2, "n": 1]])
        #expect(try a.items.find().count() == 2)
        #expect(try a.items.find(["_id": 1]).count() == 1)
        #expect(try a.items.find().limit(1).count() == 1)
        #expect(try a.items.find(["n": 1]).limit(5).count() == 2)
        #expect(try a.items.find().limit(1).fetch().count == 1)
        #expect(try a.items.find().first() == ["_id": 1, "n": 1])
        #expect(try a.items.find(["n": 2]).first() == nil)
        #expect(try await a.items.deleteMany(["n": 1]) == 2)
        #expect(try await a.items.deleteMany([:]) == 0)
        #expect(try a.items.find().count() == 0)
        #expect(try await a.engine.verify().isEmpty)
    }

    private struct Note: Codable, Sendable {
        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case text
        }

        var id: Int
        var text: String
    }

    @Test("a document that is none of the type is reported beside the others")
    func undecodable() async throws {
        let (_, a) = try await device()
        try await a.items.insertMany([["_id": 6, "text": "a"], ["_id": 7, "text": 5]])
        let notes = a.engine.collection(SyncWorld.namespace, of: Note.self)
        #expect(try notes.findOne(id: 6)?.text == "a")
        let found = try notes.find().fetch()
        #expect(found.map(\.id) == [6])
        #expect(found.failures.map(\.documentID) == [7])
        #expect(found.failures.first?.field == "text")
        let error = #expect(throws: DocumentDecodingFailure.self) { try notes.findOne(id: 7) }
        #expect(error?.documentID == 7)
        #expect(error?.description.contains("document 7 as Note") == true)
    }

    @Test("an id that is taken is refused with E11000, and nothing else of the call stays")
    func duplicates() async throws {
        let (_, a) = try await device()
        #expect(try await a.items.insertOne(["_id": 1, "n": 1]) == 1)
        let error = await #expect(throws: StoreError.self) {
            try await a.items.insertMany([["_id": 2], ["_id": 1]])
        }
        #expect(error?.code.rawValue == 11000)
        #expect(error?.message.contains("E11000 duplicate key error") == true)
        #expect(try await a.items.syncedIDs == [1])
        let made = try await a.items.insertOne(["n": 1])
        #expect(try a.items.findOne(id: made)?["n"] == 1)
    }

    @Test("an update of nothing changes nothing; an upsert makes a document that is sent")
    func upserts() async throws {
        let (world, a) = try await device()
        let none = try await a.items.updateOne(["_id": "k"], ["$set": ["n": 1]])
        #expect((none.matchedCount, none.modifiedCount) == (0, 0))
        #expect(none.upsertedID == nil)
        #expect(try await a.items.syncedIDs.isEmpty)
        let made = try await a.items.updateOne(
            ["_id": "k"], ["n": 1, "__stitch_sync_version": 7], upsert: true)
        #expect((made.matchedCount, made.modifiedCount) == (0, 0))
        #expect(made.upsertedID == "k")
        #expect(try await a.local("k") == ["_id": "k", "n": 1])
        let changed = try await a.items.updateOne(["_id": "k"], ["$set": ["m": 2]], upsert: true)
        #expect((changed.matchedCount, changed.modifiedCount) == (1, 1))
        #expect(changed.upsertedID == nil)
        let many = try await a.items.updateMany(["n": 9], ["$set": ["m": 3]], upsert: true)
        #expect(many.matchedCount == 0)
        #expect(many.upsertedID != nil)
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "n": 1, "m": 2])
        #expect(try await a.items.status() == SyncStatus(synced: 2))
    }

    @Test("an update of many that changes the filtered field queues and tells of each that changed")
    func updateMany() async throws {
        let (world, a) = try await device()
        try await a.items.insertMany([
            ["_id": "x", "n": 1], ["_id": "y", "n": 1], ["_id": "z", "n": 2],
        ])
        try await a.sync()
        _ = world.transcript()
        let result = try await a.items.updateMany(["n": 1], ["$set": ["n": 3]], upsert: true)
        #expect((result.matchedCount, result.modifiedCount) == (2, 2))
        #expect(result.upsertedID == nil)
        let again = try await a.items.updateMany([:], ["$set": ["n": 3]])
        #expect((again.matchedCount, again.modifiedCount) == (3, 1))
        await a.engine.flushEvents()
        #expect(
            world.transcript() == [
                "A local update x pending", "A local update y pending", "A local update z pending",
            ])
        #expect(try await a.items.status().pending == 3)
        try await a.sync()
        for id in ["x", "y", "z"] {
            #expect(try world.remoteDocument(.string(id)) == ["_id": .string(id), "n": 3])
        }
    }

    @Test("deletes count what is there: none, one that was never sent, one that was")
    func deletes() async throws {
        let (world, a) = try await device()
        #expect(try await a.items.deleteOne(["_id": "k"]) == 0)
        try await a.insert(["_id": "k"])
        #expect(try await a.items.deleteOne([:]) == 1)
        #expect(try await a.items.syncedIDs.isEmpty)
        try await a.insert(["_id": "k"])
        try await a.sync()
        #expect(try await a.items.deleteOne([:]) == 1)
        #expect(try await a.items.deleteOne([:]) == 0)
        #expect(try await a.items.status() == SyncStatus(synced: 1, pending: 1))
        try await a.sync()
        #expect(try world.remoteDocument("k") == nil)
    }

    @Test("whatever removes a document here is told, with its reason")
    func everyRemovalIsTold() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .remoteWins)
        for id in ["local", "remote", "answer", "desync"] {
            try await a.insert(["_id": .string(id), "n": 0])
        }
        try await a.sync()
        _ = world.transcript()
        try await a.delete("local")
        try world.foreignDelete("remote")
        try await a.set("answer", ["n": 1])
        try world.foreignDelete("answer")
        try await a.items.desync(ids: ["desync"])
        try await a.sync()
        #expect(try a.items.find().count() == 0)
        let deletes = world.transcript().filter { $0.contains(" delete ") }
        #expect(
            Set(deletes) == [
                "A local delete local pending", "A committed delete local settled",
                "A remote delete remote settled", "A resolution delete answer settled",
                "A desync delete desync settled",
            ])
        #expect(deletes.count == 5)
    }

    @Test("reads sort, skip, leave fields out and aggregate over what is here")
    func reads() async throws {
        let (_, a) = try await device()
        try await a.items.insertMany((1...3).map { ["_id": .int32($0), "n": .int32(-$0), "m": 1] })
        let second = a.items.find().sort(["n": 1]).skip(1).limit(1).project(["m": 0])
        #expect(try second.fetch() == [["_id": 2, "n": -2]])
        let found = try a.items.aggregate([
            ["$match": ["_id": ["$in": [1, 3]]]], ["$project": ["_id": 0, "n": 1]],
        ])
        #expect(found == [["n": -1], ["n": -3]])
    }

    @Test("syncing ids twice, or none, is harmless; desync forgets them all")
    func ids() async throws {
        let (_, a) = try await device()
        try await a.items.sync(ids: [BSONValue]())
        try await a.items.sync(ids: ["k", "l", "k"])
        try await a.items.sync(ids: ["k", "l"])
        #expect(try await a.items.syncedIDs == ["k", "l"])
        try await a.sync()
        try await a.items.desync(ids: ["k", "l", "unknown"])
        #expect(try await a.items.syncedIDs.isEmpty)
    }

    @Test("a pass that is cancelled while it asks the remote leaves nothing half done")
    func cancelled() async throws {
        let (world, a) = try await device()
        try await a.insert(["_id": "k", "n": 1])
        let (asked, cancelled) = (Signal(), Signal())
        world.remote.after { call in
            guard call.kind == .write else { return }
            asked.notify()
            await cancelled.wait(after: 0)
        }
        await withThrowingTaskGroup(of: SyncPassReport.self) { group in
            group.addTask { try await a.engine.syncNow() }
            await asked.wait(after: 0)
            group.cancelAll()
            cancelled.notify()
            _ = await group.nextResult()
        }
        world.remote.after(nil)
        #expect(try await a.engine.verify().isEmpty)
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(try world.remoteVersion("k")?.version?.counter == 0)
    }
}
