import BSONStore
import Testing

/// Without these an app's values would not come back, or an older app would drop a newer one's fields.
@Suite struct TypedCollectionTests {
    private struct Todo: Codable, Sendable, Equatable {
        var id: Int
        var task: String
        var done = false
        var note: String?

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case task, done, note
        }
    }

    @Test func `values come back as they were stored`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
        let milk = Todo(id: 1, task: "milk")
        #expect(try await todos.insertOne(milk) == .int64(1))
        #expect(
            try await todos.insertMany([Todo(id: 2, task: "tea", note: "green")]) == [.int64(2)])
        #expect(try todos.findOne(id: 1) == milk)
        #expect(try todos.find(["done": false]).fetch().map(\.id) == [1, 2])
        #expect(try todos.find(["note": "green"]).first()?.task == "tea")
        #expect(try todos.find().count() == 2)
    }

    @Test func `fields that the type does not know survive a replace`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
        try await todos.documents.insertOne([
            "_id": 1, "task": "milk", "colour": "red", "done": false, "note": "x",
        ])
        var todo = try #require(try todos.findOne(id: 1))
        todo.done = true
        todo.note = nil
        #expect(try await todos.replaceOne(["_id": 1], todo).modifiedCount == 1)
        let stored = try todos.documents.findOne(id: 1)
        #expect(stored == ["_id": 1, "task": "milk", "colour": "red", "done": true])
        let again = try await todos.replaceOne(["_id": 1], todo)
        #expect(again.matchedCount == 1 && again.modifiedCount == 0)
    }

    @Test func `a replace inserts when it may and nothing is there`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
        #expect(try await todos.replaceOne(["_id": 1], Todo(id: 1, task: "a")).matchedCount == 0)
        let made = try await todos.replaceOne(["_id": 1], Todo(id: 1, task: "a"), upsert: true)
        #expect(made.upsertedID == .int64(1))
        let error = await #expect(throws: StoreError.self) {
            try await todos.replaceOne(["_id": 1], Todo(id: 2, task: "a"))
        }
        #expect(error?.code == .immutableField)
    }

    @Test func `a document of another form is an error, not a value`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
        try await todos.documents.insertOne(["_id": 1, "task": 5])
        #expect(throws: DocumentDecodingFailure.self) { try todos.findOne(id: 1) }
    }
}
