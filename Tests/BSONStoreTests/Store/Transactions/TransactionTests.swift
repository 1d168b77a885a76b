import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a failed operation could leave half of its changes, or hide another's.
@Suite struct TransactionTests {
    private static let todos = Namespace("app", "todos")

    @Test(arguments: [true, false])
    func `a document comes back as it was put`(inMemory: Bool) throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: inMemory ? .inMemory : .file(directory.file()))
        try store.write { try $0.insert(Self.todos, ["_id": 1, "task": "milk"]) }
        let found = try store.read { try $0.get(Self.todos, id: .double(1.0)) }
        #expect(found == ["_id": 1, "task": "milk"])
        #expect(try store.read { try $0.count(Self.todos) } == 1)
    }

    @Test(arguments: [true, false])
    func `what runs inside of a transaction can read without having it`(inMemory: Bool) throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: inMemory ? .inMemory : .file(directory.file()))
        try store.write { try $0.insert(Self.todos, ["_id": 1]) }
        let inside = try store.read { _ in try store.readReentrantly { try $0.count(Self.todos) } }
        #expect(inside == 1)
        #expect(try store.readReentrantly { try $0.count(Self.todos) } == 1)
    }

    @Test func `a body that throws leaves nothing behind`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.write { transaction in
                try transaction.insert(Self.todos, ["_id": 1])
                throw Stop()
            }
        }
        #expect(try store.read { try $0.collections() } == [])
        let other = Namespace("app", "others")
        try store.write { try $0.insert(other, ["_id": 2]) }
        #expect(try store.read { try $0.count(Self.todos) } == 0)
        #expect(try store.read { try $0.count(other) } == 1)
    }

    @Test func `a savepoint that throws is undone alone`() throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 9)))
        struct Stop: Error {}
        try store.write { transaction in
            try transaction.insert(Self.todos, ["_id": 1])
            #expect(throws: Stop.self) {
                try transaction.savepoint {
                    try transaction.insert(Self.todos, ["_id": 2])
                    throw Stop()
                }
            }
            try transaction.insert(Self.todos, ["_id": 3])
        }
        let ids = try store.changes(after: 0).changes.map(\.documentID)
        #expect(ids == [1, 3])
    }

    @Test func `a duplicate id is refused with MongoDB's text`() throws {
        let store = try DocumentStore(at: .inMemory)
        try store.write { try $0.insert(Self.todos, ["_id": 1]) }
        let error = #expect(throws: StoreError.self) {
            try store.write { try $0.insert(Self.todos, ["_id": .double(1)]) }
        }
        #expect(error?.code == .duplicateKey)
        #expect(
            error?.message
                == "E11000 duplicate key error collection: app.todos index: _id_ dup key: { _id: 1.0 }"
        )
        #expect(error?.keyPattern == ["_id": 1])
    }

    @Test func `an async write commits`() async throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        try await store.write { try $0.insert(Self.todos, ["_id": 1]) }
        let position = try store.read { try $0.count(Self.todos) }
        #expect(position == 1)
    }
}
