import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these a clustered collection would be read in the order of insertion.
///
/// Source: MongoDB manual, "Clustered Collections".
struct ClusteredTests {
    private static let things = Namespace("shop", "things")

    private func filled() throws -> (DocumentStore, DocumentCollection<BSONDocument>) {
        let store = try DocumentStore(at: .inMemory)
        try store.createCollection(
            Self.things, ["clusteredIndex": ["key": ["_id": 1], "unique": true]])
        let things = store.collection(Self.things)
        try things.insertMany([
            ["_id": 3, "k": 1], ["_id": 1, "k": 1], ["_id": 4, "k": 2], ["_id": 2, "k": 1],
        ])
        return (store, things)
    }

    private func ids(_ documents: [BSONDocument]) -> [BSONValue] {
        documents.compactMap { $0["_id"] }
    }

    @Test func `documents come in the order of their ids without a sort`() throws {
        let (store, things) = try filled()
        defer { store.close() }
        #expect(ids(try things.find().fetch()) == [1, 2, 3, 4])
        #expect(ids(try things.find(["k": 1]).fetch()) == [1, 2, 3])
        #expect(ids(try things.find(["k": 1]).limit(2).fetch()) == [1, 2])
        #expect(ids(try things.find([:]).skip(1).limit(2).fetch()) == [2, 3])
        #expect(ids(try things.find().sort(["$natural": -1]).fetch()) == [4, 3, 2, 1])
        #expect(
            ids(try things.find(["_id": ["$gte": 2]]).sort(["$natural": -1]).fetch()) == [4, 3, 2])
        #expect(ids(try things.find().hint(.reverseNatural).fetch()) == [4, 3, 2, 1])
        #expect(ids(try things.aggregate([["$limit": 3]])) == [1, 2, 3])
        #expect(ids(try things.aggregate([["$match": ["k": 1]], ["$limit": 1]])) == [1])
        #expect(try things.find(["k": 1]).count() == 3)
    }

    @Test func `the order stays after writes, which take the least id first`() throws {
        let (store, things) = try filled()
        defer { store.close() }
        _ = try things.updateOne(["k": 1], ["$set": ["first": true, "long": "a longer document"]])
        #expect(ids(try things.find(["first": true]).fetch()) == [1])
        _ = try things.deleteOne(["k": 1])
        try things.insertMany([["_id": 0, "k": 9]])
        #expect(ids(try things.find().fetch()) == [0, 2, 3, 4])
    }

    @Test func `a cursor of the server does not go on by rows`() throws {
        let (store, _) = try filled()
        defer { store.close() }
        let goesOn = try store.read { transaction in
            try transaction.isInInsertionOrder(
                try transaction.planned(Self.things, .all, .all))
        }
        #expect(!goesOn)
    }
}
