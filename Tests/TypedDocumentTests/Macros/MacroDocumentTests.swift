#if Macros
    import BSONStore
    import Foundation
    import Testing

    /// Without these `@Document` would name, read or write other fields than its page says.
    @Suite struct MacroDocumentTests {
        enum Status: String, Codable { case open, done }

        @Document
        struct Address: Equatable {
            var city: String
            var zip: String?
        }

        @Document
        struct Todo: Equatable {
            var id: Int
            @FieldName("owner_id") var ownerID: String
            let made: Int
            var task: String
            var done = false
            var tags: [String] = []
            var status: Status = .open
            var due: Date?
            var level: Int? = 5
            var address: Address?
            var a, b: Int
            var `default`: Int = 3
            var watched: Int = 0 { didSet { changes += watched } }
            let kind: String = "todo"
            var changes = 0
            var title: String { task + "!" }
            static let shared = 1
        }

        @Document
        struct Empty: Equatable {}

        @Document
        struct Box<Value: Codable & Sendable & Equatable>: Equatable {
            var value: Value
        }

        /// A type that says itself that it is identifiable.
        @Document
        struct Tagged: Identifiable, Equatable {
            var id: Int
        }

        /// A type whose `_id` is not to be seen.
        @Document
        public struct Hidden: Equatable {
            var id: Int
        }

        @Test func `a list view can tell the documents apart`() {
            func ids<Row: Identifiable>(_ rows: [Row]) -> [Row.ID] { rows.map(\.id) }
            #expect(ids([Shop.Item(id: 7, size: .small)]) == [7])
            #expect(ids([Tagged(id: 8)]) == [8])
            #expect(!(Hidden(id: 9) is any Identifiable))
            #expect(!(Address(city: "Oslo") is any Identifiable))
        }

        /// A type that is found by its short name only within this one.
        enum Shop {
            enum Size: String, Codable { case small, large }

            @Document
            struct Item: Equatable {
                enum State: String, Codable { case new, used }

                var id: Int
                var size: Size
                var state: State?
                var smallest: Size = .small
            }
        }

        private static let namespace = Namespace("app", "todos")

        @Test func `fields have the names of properties, of attributes, or _id`() throws {
            let todo = Todo.fields
            #expect(try todo.id.path() == "_id")
            #expect(try todo.ownerID.path() == "owner_id")
            #expect(try todo.address.zip.path() == "address.zip")
            #expect(try todo.default.path() == "default")
            #expect(try Box<Int>.fields.value.path() == "value")
            let filter = Todo.filter { $0.ownerID == "ann" && !$0.done && $0.level > 2 }
            #expect(
                try filter.bson.extendedJSON(.relaxed)
                    == #"{"owner_id":"ann","done":{"$ne":true},"level":{"$gt":2}}"#)
        }

        @Test func `types beside the struct and in it are found by their short names`() throws {
            let item = Shop.Item(id: 1, size: .large, state: .used)
            let document: BSONDocument = ["_id": 1, "size": "large", "state": "used"]
            #expect(try BSONDecoder().decode(Shop.Item.self, from: document) == item)
            let filter = Shop.Item.filter { $0.size == .large && $0.state == .used }
            #expect(
                try filter.bson.extendedJSON(.relaxed) == #"{"size":"large","state":"used"}"#)
        }

        @Test func `a missing field has its default, and null counts as missing`() throws {
            let document: BSONDocument = [
                "_id": 1, "owner_id": "ann", "made": 2, "task": "t", "a": 1, "b": 2, "done": nil,
            ]
            let todo = try BSONDecoder().decode(Todo.self, from: document)
            // The memberwise initializer stays.
            #expect(todo == Todo(id: 1, ownerID: "ann", made: 2, task: "t", a: 1, b: 2))
            #expect(todo.level == 5 && todo.status == .open && todo.tags.isEmpty)
            #expect(throws: DecodingError.self) {
                try BSONDecoder().decode(Todo.self, from: ["_id": 1])
            }
        }

        @Test func `a value comes back as it was stored, with a nil that is not the default`()
            throws
        {
            let store = try DocumentStore(at: .inMemory)
            let todos = store.collection(Self.namespace, of: Todo.self)
            var todo = Todo(id: 1, ownerID: "ann", made: 2, task: "t", a: 1, b: 2)
            todo.level = nil
            todo.due = Date(timeIntervalSince1970: 60)
            todo.address = Address(city: "Oslo", zip: nil)
            try todos.insertOne(todo)
            #expect(try todos.findOne(id: 1) == todo)
            #expect(try todos.documents.findOne(id: 1)?["kind"] == "todo")
            #expect(try BSONEncoder().encode(Empty()) == [:])
            #expect(try BSONDecoder().decode(Empty.self, from: ["x": 1]) == Empty())
        }

        @Test func `unknown fields survive a replace`() throws {
            let store = try DocumentStore(at: .inMemory)
            let todos = store.collection(Self.namespace, of: Todo.self)
            try todos.documents.insertOne([
                "_id": 1, "owner_id": "ann", "made": 2, "task": "t", "a": 1, "b": 2,
                "colour": "red",
                "address": ["city": "Oslo", "floor": 3],
            ])
            var todo = try #require(try todos.find { $0.id == 1 }.first())
            todo.address?.city = "Bergen"
            try todos.replaceOne(["_id": 1], todo)
            let stored = try todos.documents.findOne(id: 1)
            #expect(stored?["colour"] == "red")
            #expect(stored?["address"] == ["city": "Bergen", "floor": 3])
        }
    }
#endif
