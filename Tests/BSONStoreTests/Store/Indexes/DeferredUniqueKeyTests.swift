import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Documents that exchange the values of a unique index must neither be refused nor leave two
/// documents with one value.
@Suite struct DeferredUniqueKeyTests {
    private static let places = Namespace("app", "places")

    /// A store with a unique index and documents `0…` at the given places.
    private static func store(_ places: [Int32]) throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        _ = try store.collection(Self.places).createIndex(["p": 1], ["unique": true])
        for (id, place) in places.enumerated() {
            try store.collection(Self.places).insertOne([
                "_id": .int32(Int32(id)), "p": .int32(place),
            ])
        }
        return store
    }

    private static func put(
        _ transaction: WriteTransaction, _ id: Int32, _ place: Int32
    ) throws {
        try transaction.put(places, ["_id": .int32(id), "p": .int32(place)])
    }

    @Test func `an exchange is accepted, and the index is whole`() throws {
        let store = try Self.store([1, 2, 3])
        let collisions = try store.write { transaction in
            try transaction.deferringUniqueKeys {
                try Self.put(transaction, 0, 2)
                try Self.put(transaction, 1, 3)
                try Self.put(transaction, 2, 1)
            }.collisions
        }
        #expect(collisions.isEmpty)
        #expect(try store.collection(Self.places).find(["p": 1]).fetch().map { $0["_id"] } == [2])
        #expect(try store.verify().faults.isEmpty)
        #expect(throws: StoreError.self) {
            try store.write { try Self.put($0, 0, 1) }
        }
    }

    @Test func `who takes a kept value is named, and who took the values of that one`() throws {
        let store = try Self.store([1, 2, 3])
        let collisions = try store.write { transaction in
            try transaction.deferringUniqueKeys {
                try Self.put(transaction, 0, 2)
                try Self.put(transaction, 1, 3)
            }.collisions
        }
        #expect(collisions.map(\.documentID) == [0, 1])
        #expect(collisions.allSatisfy { $0.code == .duplicateKey && $0.keyPattern == ["p": 1] })
    }

    @Test func `of two that take one free value the first keeps it`() throws {
        let store = try Self.store([1, 2])
        let collisions = try store.write { transaction in
            try transaction.deferringUniqueKeys {
                try Self.put(transaction, 0, 9)
                try Self.put(transaction, 1, 9)
            }.collisions
        }
        #expect(collisions.map(\.documentID) == [1])
    }

    @Test func `what a savepoint undoes takes no value`() throws {
        struct Undone: Error {}
        let store = try Self.store([1, 2])
        let collisions = try store.write { transaction in
            try transaction.deferringUniqueKeys {
                #expect(throws: Undone.self) {
                    try transaction.savepoint {
                        try Self.put(transaction, 0, 2)
                        throw Undone()
                    }
                }
                try Self.put(transaction, 1, 3)
            }.collisions
        }
        #expect(collisions.isEmpty)
    }

    @Test func `a filter that compares bytes finds one case of an id, however it is used`() throws {
        let store = try DocumentStore(at: .inMemory)
        let words = Namespace("app", "words")
        try store.createCollection(words, ["collation": ["locale": "en", "strength": 2]])
        try store.collection(words).insertOne(["_id": "foo", "n": 1])
        let simple = try Filter(comparingBytes: ["_id": "FOO"])
        let byCommand = try Filter(
            ["_id": "FOO"], variables: nil, collation: .simple,
            now: BSONDatetime(milliseconds: 0))
        for filter in [simple, byCommand] {
            try store.write { transaction in
                #expect(try transaction.find(words, filter: filter).isEmpty)
                #expect(try transaction.count(words, filter: filter) == 0)
                #expect(try transaction.distinct(words, field: "n", filter: filter).isEmpty)
                let update = try Update(["$set": ["n": 2]])
                let updated = try transaction.updateOne(words, filter: filter, update: update)
                #expect(updated.matchedCount == 0)
                #expect(try transaction.deleteOne(words, filter: filter) == nil)
                #expect(try transaction.deleteMany(words, filter: filter) == 0)
            }
        }
        let collated = try Filter(["_id": "FOO"])
        #expect(try store.read { try $0.count(words, filter: collated) } == 1)
    }
}
