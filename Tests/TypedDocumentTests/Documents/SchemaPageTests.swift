import BSONStore
import Foundation
import Testing

/// Without these the code of `Docs/SCHEMA.md` would not compile any more.
@Suite struct SchemaPageTests {
    private static let namespace = Namespace("app", "todos")

    #if Macros
        @Test func `the type with the macro names the page's fields`() throws {
            let todo = Todo.fields
            #expect(try todo.id.path() == "_id")
            #expect(try todo.ownerID.path() == "owner_id")
            #expect(try todo.address.city.path() == "address.city")
        }
    #endif

    /// The type that the page writes by hand.
    enum ByHand {
        struct Todo: TypedDocument {
            var id: BSONObjectID
            var task: String
            var due: Date?

            enum CodingKeys: String, CodingKey { case id = "_id", task, due }

            struct Fields: Sendable {
                let id = Field<BSONObjectID>("_id")
                let task = Field<String>("task")
                let due = Field<Date?>("due")
            }
            static var fields: Fields { Fields() }
        }
    }

    /// The page's element of arrays.
    enum Declared {
        struct Item: Codable, ArrayElement {
            static let elementKey = "sku"
            var sku: String
            var quantity: Int
        }
    }

    @Test func `an element is found by the key that its type declares`() throws {
        struct Order: Codable { var items: [Declared.Item] }
        let stored: BSONDocument = ["items": [["sku": "a", "quantity": 1, "note": "x"]]]
        var order = try BSONDecoder().decode(Order.self, from: stored)
        order.items.insert(Declared.Item(sku: "b", quantity: 2), at: 0)
        let written = try BSONEncoder().encode(order, onto: stored)["items"]?.arrayValue
        #expect(written?.values.last == ["sku": "a", "quantity": 1, "note": "x"])
    }

    @Test func `a form's edit keeps what was written since it was read`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Self.namespace, of: ByHand.Todo.self)
        let todo = ByHand.Todo(id: BSONObjectID(), task: "Buy milk")
        try await todos.insertOne(todo)
        var edited = todo
        edited.task = "Buy oats"
        let due = Date(timeIntervalSince1970: 86_400)
        try todos.modify(id: .objectID(todo.id)) { $0.due = due }
        try await todos.replaceOne(["_id": .objectID(todo.id)], edited, from: todo)
        let stored = try #require(try todos.findOne(id: .objectID(todo.id)))
        #expect(stored.task == "Buy oats" && stored.due == due)
    }

    @Test func `a text becomes a number in another field`() throws {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Self.namespace, of: ByHand.Todo.self)
        try todos.documents.insertMany([
            ["_id": 1, "length": "25"], ["_id": 2, "length": "long"],
            ["_id": 3, "length": "9", "minutes": 8],
        ])
        // Edition 2: "minutes" (a number) replaces "length" (a text), which edition 1 still reads.
        for document in try todos.documents.find(["minutes": ["$exists": false]]).fetch() {
            guard let text = document["length"]?.stringValue, let minutes = Int(text),
                let id = document["_id"]
            else { continue }
            try todos.documents.updateOne(
                ["_id": id], ["$set": ["minutes": .int(minutes)]])
        }
        let minutes = try todos.documents.find().fetch().map { $0["minutes"]?.int64Value }
        #expect(minutes == [25, nil, 8])
    }

    @Test func `a document that does not decode is named`() throws {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Self.namespace, of: ByHand.Todo.self)
        let id = BSONObjectID()
        try todos.insertOne(ByHand.Todo(id: id, task: "Buy milk"))
        try todos.documents.insertOne(["_id": 7, "task": "Buy milk"])
        var shown: [DocumentDecodingFailure] = []
        func show(_ failure: DocumentDecodingFailure) { shown.append(failure) }
        func page() throws {
            typealias Todo = ByHand.Todo
            let found = try todos.find().fetch()
            for failure in found.failures {
                show(failure)
            }
            let all: [Todo] = try todos.find().fetch().strict  // throws the first failure
            _ = all
        }
        #expect(throws: DocumentDecodingFailure.self) { try page() }
        #expect(shown.map(\.documentID) == [7])
    }
}
