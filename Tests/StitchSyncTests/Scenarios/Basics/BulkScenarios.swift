import BSONStore
import Testing

@testable import StitchSync

/// Pipelines and several writes at once, on synced documents.
@Suite(.remotes)
struct BulkScenarios {
    @Test("writes that are sent together travel together, and the refused one stays away")
    func bulkWrite() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": 1, "x": 0])
        try await a.insert(["_id": 2, "x": 0])
        try await a.sync()
        let result = try await a.items.bulkWrite(
            [
                .insertOne(["_id": 3, "x": 3]),
                .insertOne(["_id": 1, "x": 9]),
                .updateMany([:], ["$inc": ["x": 10]]),
                .deleteOne(["_id": 2]),
                .replaceOne(["_id": 4], ["y": 4], options: .init(upsert: true)),
            ], ordered: false)
        #expect(result.insertedCount == 1 && result.modifiedCount == 3 && result.deletedCount == 1)
        #expect(result.errors.map(\.index) == [1])
        #expect(result.errors.first?.error.code == .duplicateKey)
        #expect(result.upsertedIDs == [4: 4])
        try await a.sync()
        #expect(try world.remoteDocument(1) == ["_id": 1, "x": 10])
        #expect(try world.remoteDocument(2) == nil)
        #expect(try world.remoteDocument(3) == ["_id": 3, "x": 13])
        #expect(try world.remoteDocument(4) == ["_id": 4, "y": 4])
        #expect(try await a.items.status() == SyncStatus(synced: 3))
    }

    @Test("a write that names the simple collation leaves the document of another case alone")
    func simpleCollation() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try a.store.createCollection(
            a.items.namespace, ["collation": ["locale": "en", "strength": 2]])
        try await a.insert(["_id": "foo", "x": 0])
        let simple = BulkWrite.Options(collation: .simple)
        let result = try await a.items.bulkWrite([
            .deleteOne(["_id": "FOO"], options: simple),
            .updateMany(["_id": "FOO"], ["$inc": ["x": 1]], options: simple),
        ])
        #expect(result.deletedCount == 0 && result.matchedCount == 0)
        #expect(try await a.items.bulkWrite([.deleteOne(["_id": "FOO"])]).deletedCount == 1)
    }

    @Test("an ordered bulk write ends at the first write that is refused")
    func orderedBulkWrite() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let result = try await a.items.bulkWrite([
            .insertOne(["_id": 1]), .insertOne(["_id": 1]), .insertOne(["_id": 2]),
        ])
        #expect(result.insertedIDs == [0: 1] && result.errors.map(\.index) == [1])
        try await a.sync()
        #expect(try world.remoteDocument(1) == ["_id": 1])
        #expect(try world.remoteDocument(2) == nil)
    }

    @Test("a pipeline reads the local documents, and one that would write past sync is refused")
    func aggregate() async throws {
        struct Total: Codable, Equatable {
            enum CodingKeys: String, CodingKey {
                case kind = "_id"
                case n
            }
            let kind: String
            let n: Int
        }
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        for (id, kind) in [(1, "a"), (2, "b"), (3, "a")] {
            try await a.insert(["_id": .int32(Int32(id)), "kind": .string(kind)])
        }
        let totals = try a.items.aggregate(
            [["$group": ["_id": "$kind", "n": ["$sum": 1]]], ["$sort": ["_id": 1]]],
            as: Total.self)
        #expect(totals == [Total(kind: "a", n: 2), Total(kind: "b", n: 1)])
        #expect(throws: StoreError.self) {
            try a.items.aggregate([["$out": "items"]])
        }
        #expect(try a.items.find().count() == 3)
    }

    @Test("an update by a pipeline is sent like any other")
    func pipelineUpdate() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": 1, "x": 2, "y": 3])
        try await a.sync()
        try await a.items.find(["_id": 1]).limit(1).update(
            pipeline: [["$set": ["z": ["$add": ["$x", "$y"]]]]])
        try await a.items.find().update(pipeline: [["$unset": "y"]])
        try await a.sync()
        #expect(try world.remoteDocument(1) == ["_id": 1, "x": 2, "z": 5])
    }
}
