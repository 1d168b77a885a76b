import Testing

@testable import BSONCore
@testable import BSONStore

/// A store that keeps changes knows which documents were deleted, and for how long it does.
struct TombstoneTests {
    private static let people = Namespace("shop", "people")
    private static let field = StoreTombstone.versionField

    /// A clock that stands where it was put.
    private final class Clock: Sendable {
        let now = Locked(BSONDatetime(milliseconds: 1_000))
    }

    private static func store(
        _ clock: Clock = Clock(), _ location: DocumentStore.Location = .inMemory,
        kept: Duration = .seconds(10), history: DocumentStore.ChangeHistory = .keep(changesMax: 2)
    ) throws -> DocumentStore {
        var options = DocumentStore.Options(changeHistory: history, tombstonesKept: kept)
        options.clock = { clock.now.withLock { $0 } }
        return try DocumentStore(at: location, options: options)
    }

    private static func buried(
        _ store: DocumentStore, _ ids: [BSONValue], in namespace: Namespace = people
    ) throws -> [BSONValue] {
        try store.read { try $0.tombstones(namespace, ids: ids) }
            .compactMap { $0?.documentID }
    }

    private static func fill(_ store: DocumentStore, _ ids: ClosedRange<Int> = 1...9) throws {
        try store.collection(people).insertMany(
            ids.map { ["_id": .int32(Int32($0)), "n": .int32(Int32($0))] })
    }

    private static let all: [BSONValue] = (1...9).map { .int32($0) }

    @Test(
        "a deletion is known with its version and time, beyond the feed, until the document is back"
    )
    func deletion() throws {
        let clock = Clock()
        let store = try Self.store(clock)
        let people = store.collection(Self.people)
        let version: BSONDocument = ["spv": 1, "id": "a"]
        try people.insertOne(["_id": "x", "n": 1])
        try people.insertOne(["_id": "y", Self.field: .document(version)])
        try people.deleteMany([:])
        for number in 3...9 { try people.insertOne(["_id": .int32(Int32(number))]) }
        let found = try store.read {
            try $0.tombstones(Self.people, ids: ["z", "y", "x", 3])
        }
        let time = BSONDatetime(milliseconds: 1_000)
        #expect(found.map { $0?.documentID } == [nil, "y", "x", nil])
        #expect(found.map { $0?.version } == [nil, .document(version), nil, nil])
        #expect(found.map { $0?.deletedAt } == [nil, time, time, nil])
        #expect(found[1].map(\.position) != found[2].map(\.position))
        try people.insertOne(["_id": "x"])
        try store.write { try $0.put(Self.people, ["_id": "y"]) }
        #expect(try Self.buried(store, ["x", "y"]) == [])
    }

    @Test("every road that takes a document away leaves a tombstone")
    func roads() throws {
        let store = try Self.store()
        let people = store.collection(Self.people)
        try Self.fill(store)
        try people.deleteOne(["n": 1])
        try people.deleteMany(["n": ["$in": [2, 3]]])
        _ = try people.findOneAndDelete(["n": 4])
        try people.bulkWrite([.deleteOne(["n": 5])])
        try store.write { try $0.remove(Self.people, id: 6) }
        #expect(try Self.buried(store, Self.all) == [1, 2, 3, 4, 5, 6])
        try people.createIndex(["at": 1], ["expireAfterSeconds": 0])
        try people.updateOne(
            ["_id": 7], ["$set": ["at": .datetime(BSONDatetime(milliseconds: 5))]])
        try store.expire(now: BSONDatetime(milliseconds: 6))
        #expect(try Self.buried(store, [7]) == [7])
        _ = try store.collection(Namespace("shop", "other")).insertOne(["_id": 1])
        _ = try store.write { transaction in
            try transaction.aggregate(
                Namespace("shop", "other"), Pipeline([["$out": "people"]]))
        }
        #expect(try Self.buried(store, Self.all) == [2, 3, 4, 5, 6, 7, 8, 9])
        let capped = Namespace("shop", "capped")
        try store.createCollection(
            capped, ["capped": true, "size": 4_096, "max": 2])
        for number in 1...4 {
            try store.collection(capped).insertOne(["_id": .int32(Int32(number))])
        }
        #expect(try Self.buried(store, Self.all, in: capped) == [1, 2])
    }

    @Test("many inserts at once take the tombstones of their documents away")
    func together() throws {
        let store = try Self.store()
        try Self.fill(store)
        try store.collection(Self.people).deleteMany([:])
        try store.write { transaction in
            try transaction.insertBatch(
                Self.people, (1...8).map { ["_id": .int32($0)] })
        }
        #expect(try Self.buried(store, Self.all) == [9])
    }

    @Test(
        "a rename and other options keep tombstones, a drop takes them, an undone deletion leaves none"
    )
    func catalog() throws {
        let store = try Self.store()
        try Self.fill(store)
        try store.collection(Self.people).deleteMany(["n": ["$lt": 3]])
        #expect(throws: StoreError.self) {
            try store.write { transaction in
                try transaction.remove(Self.people, id: 3)
                throw StoreError(.internalError, "not after all")
            }
        }
        try store.write { transaction in
            #expect(throws: StoreError.self) {
                try transaction.savepoint {
                    try transaction.remove(Self.people, id: 4)
                    throw StoreError(.internalError, "not after all")
                }
            }
        }
        let renamed = Namespace("shop", "folk")
        try store.renameCollection(Self.people, to: renamed)
        _ = try store.write {
            try $0.modifyCollection(renamed, ["validator": ["n": ["$gt": 0]]])
        }
        #expect(try Self.buried(store, Self.all, in: renamed) == [1, 2])
        #expect(try Self.buried(store, Self.all) == [])
        _ = try store.write { try $0.dropCollection(renamed) }
        let rows = try store.read {
            try $0.connection.int64("SELECT count(*) FROM store_tombstones")
        }
        #expect(rows == 0)
    }

    @Test("what is older than it is kept goes in small steps with later writes, also in a file")
    func pruning() throws {
        let directory = try TemporaryDirectory()
        let clock = Clock()
        var store = try Self.store(clock, .file(directory.file()))
        try Self.fill(store, 1...600)
        try store.collection(Self.people).deleteMany([:])
        func count() throws -> Int64? {
            try store.read { try $0.connection.int64("SELECT count(*) FROM store_tombstones") }
        }
        clock.now.withLock { $0 = BSONDatetime(milliseconds: 11_000) }
        try Self.fill(store, 1_001...1_001)
        #expect(try count() == 600)
        store.close()
        store = try Self.store(clock, .file(directory.file()))
        clock.now.withLock { $0 = BSONDatetime(milliseconds: 11_001) }
        for (number, left) in [(1_002, 344), (1_003, 88), (1_004, 0), (1_005, 0)] {
            try Self.fill(store, number...number)
            #expect(try count() == Int64(left))
        }
        #expect(try store.verify().isSound)
    }

    @Test("a store without history writes none")
    func withoutHistory() throws {
        let store = try Self.store(history: .off)
        try Self.fill(store)
        try store.collection(Self.people).deleteMany([:])
        #expect(try Self.buried(store, Self.all) == [])
    }

    @Test("the collections of a backup have UUIDs of their own, those of a copied file have not")
    func identities() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(Clock(), .file(directory.file()))
        try Self.fill(store)
        let copy = directory.file() + "-backup"
        try store.backup(to: copy)
        func uuid(_ store: DocumentStore) throws -> BSONBinary? {
            try store.read { try $0.collectionUUID(Self.people) }
        }
        let own = try #require(try uuid(store))
        let other = try #require(try uuid(try DocumentStore(at: .file(copy))))
        #expect(own.bytes.count == 16 && own.subtype == 4 && other.subtype == 4)
        #expect(own != other)
        store.close()
        #expect(try uuid(try DocumentStore(at: .file(directory.file()))) == own)
        let missing = try DocumentStore(at: .file(copy)).read {
            try $0.collectionUUID(Namespace("shop", "none"))
        }
        #expect(missing == nil)
    }
}
