import BSONStore
import Testing

/// Without these one document of another edition of the app would hide all others.
@Suite struct TypedFailureTests {
    private struct Todo: Codable, Sendable, Equatable {
        struct Step: Codable, Sendable, Equatable { var minutes: Int }

        var id: Int
        var task: String
        var tags: [String]
        var steps: [Step]?

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case task, tags, steps
        }
    }

    private static func todos() throws -> DocumentCollection<Todo> {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
        try todos.documents.insertMany([
            ["_id": 1, "task": "milk", "tags": []],
            ["_id": 2, "task": "tea"],
            ["_id": 3, "task": 5, "tags": []],
            ["_id": 4, "task": "x", "tags": [], "steps": [["minutes": 1], ["minutes": "2"]]],
            ["_id": 5, "task": nil, "tags": []],
            ["_id": 6, "task": "x", "tags": [], "steps": [["minutes": 1.5]]],
            ["_id": 7, "task": "jam", "tags": ["a"]],
        ])
        return todos
    }

    @Test func `the documents that decode are found, and the others are reported`() throws {
        let found = try Self.todos().find().fetch()
        #expect(found.map(\.id) == [1, 7])
        #expect(found.count == 2 && found[1].task == "jam" && found.documents.count == 2)
        #expect(found.failures.map(\.documentID) == [2, 3, 4, 5, 6])
        #expect(
            found.failures.map(\.field) == [
                "tags", "task", "steps.1.minutes", "task", "steps.0.minutes",
            ])
        #expect(
            found.failures.map(\.description) == [
                "cannot decode document 2 as Todo: field \"tags\" is missing (give it a default or "
                    + "make it optional)",
                "cannot decode document 3 as Todo: field \"task\" is not String. Here is a value "
                    + "of type int32.",
                "cannot decode document 4 as Todo: field \"steps.1.minutes\" is not Int. Here is a "
                    + "value of type string.",
                "cannot decode document 5 as Todo: field \"task\" is null, not String (give it a "
                    + "default or make it optional)",
                "cannot decode document 6 as Todo: field \"steps.0.minutes\" has an invalid value. "
                    + "Int cannot hold 1.5 without loss.",
            ])
        #expect(
            !(found == [Todo(id: 1, task: "milk", tags: []), Todo(id: 7, task: "jam", tags: ["a"])])
        )
    }

    @Test func `the strict result throws the first failure`() throws {
        let todos = try Self.todos()
        let error = #expect(throws: DocumentDecodingFailure.self) {
            try todos.find().fetch().strict
        }
        #expect(error?.documentID == 2 && error?.field == "tags")
        #expect(error?.underlying is DecodingError)
        let fine = try todos.find(["_id": ["$in": [1, 7]]]).fetch()
        #expect(try fine.strict.map(\.id) == [1, 7])
        #expect(
            fine == [Todo(id: 1, task: "milk", tags: []), Todo(id: 7, task: "jam", tags: ["a"])])
    }

    @Test func `one document that is asked for is an error if it does not decode`() throws {
        let todos = try Self.todos()
        #expect(throws: DocumentDecodingFailure.self) { try todos.findOne(id: 2) }
        #expect(throws: DocumentDecodingFailure.self) { try todos.find(["task": 5]).first() }
    }

    @Test func `an error of the type's own code names no field`() throws {
        struct Picky: Codable, Sendable {
            struct Refusal: Error {}
            init(from decoder: any Decoder) throws { throw Refusal() }
            func encode(to encoder: any Encoder) throws {}
        }
        let store = try Self.todos().documents.store
        let found = try store.collection(Namespace("app", "todos"), of: Picky.self).find().fetch()
        #expect(found.isEmpty && found.failures.count == 7)
        #expect(found.failures.first?.field == nil)
        #expect(
            found.failures.first?.description == "cannot decode document 1 as Picky: Refusal()")
    }
}
