import Testing

@testable import BSONStore

/// Without these a write that is refused could undo its neighbours, or leave a half of itself.
@Suite struct BulkWriteTests {
    private func collection() throws -> DocumentCollection {
        try DocumentStore(at: .inMemory).collection(Namespace("app", "things"))
    }

    private static let writes: [BulkWrite] = [
        .insertOne(["_id": 1, "n": 1]), .insertOne(["_id": 2, "n": 2]),
        .insertOne(["_id": 1, "n": 3]), .updateOne(["_id": 1], ["$inc": ["n": 10]]),
        .updateMany([:], [["$set": ["m": ["$add": ["$n", 1]]]]]),
        .replaceOne(["_id": 3], ["n": 3], options: .init(upsert: true)),
        .updateOne(["_id": 2], ["$foo": 1]), .deleteOne(["_id": 2]),
    ]

    @Test func `in order, the first write that is refused is the last`() throws {
        let things = try collection()
        let result = try things.bulkWrite(Self.writes)
        #expect(result.insertedCount == 2)
        #expect(result.insertedIDs == [0: 1, 1: 2])
        #expect(result.errors.map(\.index) == [2])
        #expect(result.errors.first?.error.code == .duplicateKey)
        #expect(try things.find() == [["_id": 1, "n": 1], ["_id": 2, "n": 2]])
    }

    @Test func `out of order, all other writes are done`() throws {
        let things = try collection()
        let result = try things.bulkWrite(Self.writes, ordered: false)
        #expect(result.errors.map(\.index) == [2, 6])
        #expect(result.errors.last?.error.code == .failedToParse)
        #expect(result.matchedCount == 3)
        #expect(result.modifiedCount == 3)
        #expect(result.upsertedIDs == [5: 3])
        #expect(result.deletedCount == 1)
        #expect(try things.find() == [["_id": 1, "n": 11, "m": 12], ["_id": 3, "n": 3]])
    }

    @Test func `a write that fails half way leaves nothing of itself`() throws {
        let things = try collection()
        let result = try things.bulkWrite(
            [
                .insertOne(["_id": 1, "n": 1]), .insertOne(["_id": 2, "n": "x"]),
                .updateMany([:], ["$inc": ["n": 1]]), .deleteMany(["_id": 2]),
            ], ordered: false)
        #expect(result.errors.map(\.index) == [2])
        #expect(result.modifiedCount == 0)
        #expect(try things.find() == [["_id": 1, "n": 1]])
    }

    @Test func `an update needs operators`() throws {
        let result = try collection().bulkWrite([.updateOne([:], ["a": 1])])
        #expect(
            result.errors.first?.error.message
                == "the update operation document must contain atomic operators")
    }
}
