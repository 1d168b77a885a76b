import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these, documents that are added with one statement could differ from those added one by
/// one: in another order, without index keys, untold, or half of them after an error.
@Suite struct InsertTogetherTests {
    private static let things = Namespace("app", "things")

    private static func documents(_ count: Int) -> [BSONDocument] {
        (0..<count).map { number in
            let text = String(repeating: "x", count: 13 * number)
            return [
                "_id": .int32(Int32(50 - number)), "n": .int32(Int32(number)), "s": .string(text),
            ]
        }
    }

    private static func store() throws -> DocumentStore {
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: 100))
        return try DocumentStore(at: .inMemory, options: options)
    }

    @Test(arguments: [0, 1, 2, 3, 7, 8, 9, 10, 19, 32])
    func `they are as if they were added one by one`(_ count: Int) throws {
        let documents = Self.documents(count)
        let (together, single) = (try Self.store(), try Self.store())
        try together.write { try $0.insertBatch(Self.things, documents) }
        try single.write { transaction in
            for document in documents { try transaction.insert(Self.things, document) }
        }
        #expect(try together.collection(Self.things).find().fetch() == documents)
        let told = try together.changes(after: 0).changes
        #expect(told.map(\.after) == (try single.changes(after: 0).changes.map(\.after)))
        #expect(told.map(\.kind) == (try single.changes(after: 0).changes.map(\.kind)))
        #expect(try together.verify().faults.isEmpty)
    }

    @Test func `an id comes first and is made where it is missing`() throws {
        let store = try Self.store()
        let documents: [BSONDocument] = (0..<9).map { ["n": .int32($0)] } + [["n": 9, "_id": 1]]
        try store.write { try $0.insertBatch(Self.things, documents) }
        let found = try store.collection(Self.things).find().fetch()
        #expect(found.count == 10 && found.allSatisfy { Array($0).first?.key == "_id" })
    }

    @Test(arguments: [0, 3, 7, 8, 9, 10])
    func `an id that is there undoes the transaction`(_ place: Int) throws {
        let store = try Self.store()
        try store.collection(Self.things).insertOne(["_id": 100])
        let position = try store.changePosition
        var documents = Self.documents(11)
        documents[place] = ["_id": 100.0]
        let error = #expect(throws: StoreError.self) {
            try store.write { try $0.insertBatch(Self.things, documents) }
        }
        #expect(error?.code == .duplicateKey)
        #expect(try store.collection(Self.things).find().fetch() == [["_id": 100]])
        #expect(try store.changePosition == position)
    }

    @Test func `what no collection can hold is refused`() throws {
        let store = try Self.store()
        var documents = Self.documents(10)
        documents[4] = ["_id": .array([1])]
        #expect(throws: StoreError.self) {
            try store.write { try $0.insertBatch(Self.things, documents) }
        }
        #expect(try store.collection(Self.things).find().count() == 0)
    }

    @Test func `indexes hold their keys, and unique ones refuse`() throws {
        let store = try Self.store()
        let things = store.collection(Self.things)
        try things.createIndex(["n": 1], ["unique": true])
        try store.write { try $0.insertBatch(Self.things, Self.documents(19)) }
        #expect(try things.find(["n": 12]).fetch().count == 1)
        #expect(try store.verify().faults.isEmpty)
        let more: [BSONDocument] = (0..<9).map { ["_id": .int32(100 + $0), "n": .int32(11 + $0)] }
        #expect(throws: StoreError.self) {
            try store.write { try $0.insertBatch(Self.things, more) }
        }
        #expect(try things.find().count() == 19)
    }

    @Test func `a capped collection keeps to its bounds`() throws {
        let store = try Self.store()
        try store.createCollection(Self.things, ["capped": true, "size": 4096, "max": 5])
        try store.write { try $0.insertBatch(Self.things, Self.documents(19)) }
        #expect(try store.collection(Self.things).find().fetch() == Self.documents(19).suffix(5))
    }
}
