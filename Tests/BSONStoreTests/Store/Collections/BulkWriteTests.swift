import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a write that is refused could undo its neighbours, or leave a half of itself.
@Suite struct BulkWriteTests {
    private func collection() throws -> DocumentCollection<BSONDocument> {
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
        #expect(try things.find().fetch() == [["_id": 1, "n": 1], ["_id": 2, "n": 2]])
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
        #expect(try things.find().fetch() == [["_id": 1, "n": 11, "m": 12], ["_id": 3, "n": 3]])
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
        #expect(try things.find().fetch() == [["_id": 1, "n": 1]])
    }

    @Test func `an update needs operators`() throws {
        let result = try collection().bulkWrite([.updateOne([:], ["a": 1])])
        #expect(
            result.errors.first?.error.message
                == "the update operation document must contain atomic operators")
    }

    /// The error of a synchronous call, also in a test that is not.
    private func refusal(_ body: () throws -> Void) -> StoreError? {
        #expect(throws: StoreError.self) { try body() }
    }

    private static let documents: [BSONDocument] = [
        ["_id": 1], ["_id": 2, "u": 5], ["_id": 1, "n": 2], ["_id": 3, "u": 5], ["_id": 4],
    ]

    @Test(arguments: [true, false])
    func `documents that are added together are told apart`(ordered: Bool) async throws {
        let (first, second) = (try collection(), try collection())
        for things in [first, second] {
            try things.createIndex(["u": 1], ["unique": true, "sparse": true])
        }
        let error = refusal { _ = try first.insertMany(Self.documents, ordered: ordered) }
        let later = await #expect(throws: StoreError.self) {
            try await second.insertMany(Self.documents, ordered: ordered)
        }
        for error in [error, later] {
            #expect(error?.code == .duplicateKey && error?.documentID == 1)
            #expect(error?.writes?.errors.map(\.index) == (ordered ? [2] : [2, 3]))
            #expect(
                error?.writes?.insertedIDs == (ordered ? [0: 1, 1: 2] : [0: 1, 1: 2, 4: 4]))
            #expect(error?.writes?.insertedCount == (ordered ? 2 : 3))
        }
        for things in [first, second] {
            #expect(try things.find().fetch().map { $0["_id"] } == (ordered ? [1, 2] : [1, 2, 4]))
            #expect(try things.store.verify().faults == [])
        }
    }

    @Test func `a transaction that a refused document ends adds none`() throws {
        let things = try collection()
        #expect(throws: StoreError.self) {
            try things.store.write { transaction in
                for document in Self.documents {
                    try transaction.insert(things.namespace, document)
                }
            }
        }
        #expect(try things.find().fetch() == [])
    }

    @Test func `documents that were changed before one is refused stay changed`() async throws {
        let things = try collection()
        try await things.insertMany([
            ["_id": 1, "n": 1], ["_id": 2, "n": "x"], ["_id": 3, "n": 3],
        ])
        let error = refusal { _ = try things.updateMany([:], ["$inc": ["n": 1]]) }
        #expect(error?.code == .typeMismatch)
        #expect(error?.writes?.modifiedCount == 1)
        #expect(try things.find().fetch().map { $0["n"] } == [2, "x", 3])
        let later = await #expect(throws: StoreError.self) {
            try await things.updateMany([:], ["$inc": ["n": 1]])
        }
        #expect(later?.writes?.errors.map(\.index) == [0])
        #expect(try things.find().fetch().map { $0["n"] } == [3, "x", 3])
        let whole = refusal {
            let update = try Update(["$inc": ["n": 1]])
            _ = try things.store.write {
                try $0.updateMany(things.namespace, filter: .all, update: update)
            }
        }
        #expect(whole?.code == .typeMismatch && whole?.writes == nil)
        #expect(try things.find().fetch().map { $0["n"] } == [3, "x", 3])
    }
}
