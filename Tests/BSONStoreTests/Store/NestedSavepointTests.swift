import Testing

@testable import BSONStore

/// A write that is undone in a savepoint would otherwise leave its change in the feed, or lose the
/// change of the write before it.
struct NestedSavepointTests {
    private static let people = Namespace("shop", "people")
    private static let other = Namespace("shop", "other")

    /// One kind of write.
    struct Write: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let perform: @Sendable (WriteTransaction) throws -> Void

        init(
            _ testDescription: String,
            _ perform: @escaping @Sendable (WriteTransaction) throws -> Void
        ) {
            self.testDescription = testDescription
            self.perform = perform
        }
    }

    private struct Undo: Error {}

    /// What a write leaves in a store.
    private struct State: Equatable {
        let position: Int64
        let definitionID: Int64
        let tombstones: [StoreTombstone?]
        let documents: [BSONDocument]
        let collections: [Namespace]
        let indexes: [String]
    }

    private static func state(_ transaction: ReadTransaction) throws -> State {
        State(
            position: try transaction.changePosition,
            definitionID: try transaction.definitionID,
            tombstones: try transaction.tombstones(people, ids: [1, 2, 3, 4]),
            documents: try transaction.find(people),
            collections: try transaction.collections(),
            indexes: try transaction.indexes(people).map(\.name))
    }

    private static let writes: [Write] = [
        Write("insert") { try $0.insert(people, ["_id": 9]) },
        Write("insert into a new collection") { try $0.insert(other, ["_id": 9]) },
        Write("insert of a batch") { transaction in
            try transaction.insertBatch(people, (20...30).map { ["_id": .int32($0)] })
        },
        Write("insert over a tombstone") { try $0.insert(people, ["_id": 4]) },
        Write("put") { try $0.put(people, ["_id": 1, "n": 7]) },
        Write("remove") { try $0.remove(people, id: 2) },
        Write("update") { transaction in
            try transaction.updateMany(
                people, filter: .all, update: try Update(["$inc": ["n": 1]]))
        },
        Write("delete of many") { try $0.deleteMany(people, filter: .all) },
        Write("index") { transaction in
            try transaction.createIndex(people, try IndexDefinition(["key": ["n": 1]]))
        },
        Write("drop of an index") { try $0.dropIndex(people, name: "m_1") },
        Write("modification") { transaction in
            try transaction.modifyCollection(people, ["validator": ["n": ["$gt": 0]]])
        },
        Write("rename") { try $0.renameCollection(people, to: other) },
        Write("drop") { try $0.dropCollection(people) },
    ]

    private static func store() throws -> DocumentStore {
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: 100))
        let store = try DocumentStore(at: .inMemory, options: options)
        let people = store.collection(people)
        try people.insertMany((1...4).map { ["_id": .int32($0), "n": .int32($0)] })
        try people.createIndex(["m": 1])
        try people.deleteOne(["_id": 4])
        return store
    }

    @Test(
        "a savepoint that throws undoes its write whole, and the writes around it stay",
        arguments: writes)
    func undoneAlone(_ write: Write) throws {
        let (store, expected) = (try Self.store(), try Self.store())
        try expected.write { transaction in
            try transaction.put(Self.people, ["_id": 3, "before": true])
            try transaction.put(Self.people, ["_id": 3, "after": true])
        }
        try store.write { transaction in
            try transaction.put(Self.people, ["_id": 3, "before": true])
            let before = try Self.state(transaction)
            #expect(throws: Undo.self) {
                try transaction.savepoint {
                    try write.perform(transaction)
                    #expect(try Self.state(transaction) != before)
                    throw Undo()
                }
            }
            #expect(try Self.state(transaction) == before)
            try transaction.put(Self.people, ["_id": 3, "after": true])
        }
        let (state, wanted) = (try store.read(Self.state), try expected.read(Self.state))
        #expect(state.position == wanted.position)
        #expect(state.definitionID == wanted.definitionID)
        #expect(state.documents == wanted.documents)
        #expect(
            try store.changes(after: 0).changes.map(\.after)
                == expected.changes(after: 0).changes.map(\.after))
        #expect(try store.verify().faults == [])
    }

    @Test("an outer savepoint undoes the writes of an inner one that was kept", arguments: writes)
    func undoneWithOuter(_ write: Write) throws {
        let store = try Self.store()
        try store.write { transaction in
            let before = try Self.state(transaction)
            #expect(throws: Undo.self) {
                try transaction.savepoint {
                    try transaction.put(Self.people, ["_id": 1, "outer": true])
                    try transaction.savepoint { try write.perform(transaction) }
                    throw Undo()
                }
            }
            #expect(try Self.state(transaction) == before)
            try write.perform(transaction)
        }
        let alone = try Self.store()
        try alone.write(write.perform)
        let (state, wanted) = (try store.read(Self.state), try alone.read(Self.state))
        #expect(state.position == wanted.position)
        #expect(state.definitionID == wanted.definitionID)
        #expect(state.documents == wanted.documents)
        #expect(state.tombstones.map { $0?.position } == wanted.tombstones.map { $0?.position })
    }
}
