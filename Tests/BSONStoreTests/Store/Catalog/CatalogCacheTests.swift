import BSONStore
import Testing

/// Without these a read of an older state could tell others about a collection that is gone, and
/// they would then make an index on it, or read nothing where there is a view.
@Suite struct CatalogCacheTests {
    private static let things = Namespace("app", "things")
    private static let others = Namespace("app", "others")
    private let directory: TemporaryDirectory
    private let store: DocumentStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try DocumentStore(
            at: .file(directory.file()), options: .init(durability: .normal))
        try store.collection(Self.things).insertMany([["_id": 1, "a": 1], ["_id": 2, "a": 2]])
    }

    /// Changes the catalog while a read goes on, which then looks at what it sees.
    private func readBeside(_ change: () throws -> Void) throws {
        try store.read { transaction in
            #expect(try transaction.count(Self.others) == 0)
            try change()
            #expect(try transaction.count(Self.things) == 2)
            #expect(try transaction.indexes(Self.things).count == 1)
        }
    }

    @Test func `a collection that was dropped beside a read gets its index anew`() throws {
        try readBeside { try store.dropCollection(Self.things) }
        let things = store.collection(Self.things)
        try things.createIndex(["a": 1], ["unique": true])
        try things.insertOne(["_id": 1, "a": 7])
        #expect(try things.find(["a": 7]).fetch().count == 1)
        #expect(try things.listIndexes().count == 2)
        #expect(try store.verify().faults.isEmpty)
    }

    @Test func `what was a collection beside a read is seen to be a view`() throws {
        try readBeside {
            try store.renameCollection(Self.things, to: Self.others)
            try store.createCollection(
                Self.things, ["viewOn": "others", "pipeline": [["$match": ["a": 2]]]])
        }
        #expect(try store.collection(Self.things).find().fetch().count == 1)
        #expect(throws: StoreError.self) {
            try store.collection(Self.things).insertOne(["_id": 3])
        }
    }

    @Test func `a validator that came beside a read is asked`() throws {
        try readBeside {
            try store.modifyCollection(Self.things, ["validator": ["a": ["$exists": true]]])
        }
        let error = #expect(throws: StoreError.self) {
            try store.collection(Self.things).insertOne(["_id": 3])
        }
        #expect(error?.code.rawValue == 121)
    }

    @Test func `a collection of an undone transaction is not known after it`() throws {
        struct Undone: Error {}
        #expect(throws: Undone.self) {
            try store.write { transaction in
                try transaction.put(Self.others, ["_id": 1])
                #expect(try transaction.count(Self.others) == 1)
                throw Undone()
            }
        }
        // The number that was given up is another collection's now.
        let second = try DocumentStore(
            at: .file(directory.file()), options: .init(durability: .normal))
        try second.collection(Namespace("app", "third")).insertOne(["_id": "third"])
        #expect(try store.collection(Self.others).find().count() == 0)
        try store.collection(Self.others).insertOne(["_id": 2])
        #expect(try store.collection(Namespace("app", "third")).find().count() == 1)
        #expect(try store.collection(Self.others).find().fetch()[0]["_id"] == 2)
    }
}
