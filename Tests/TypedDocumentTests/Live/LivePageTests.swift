import BSONStore
import StitchSync
import Testing

/// Without these the calls that the pages show would not compile, or would do something else.
@Suite(.timeLimit(.minutes(5))) struct LivePageTests {
    private struct Item: TypedDocument, Equatable {
        var id: Int
        var ownerID = "ann"
        var price: Int
        var complexity = 1
        var tags: [String] = ["home"]
        var done = false
        var edits = 0

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case ownerID = "owner_id"
            case price, complexity, tags, done, edits
        }

        struct Fields: Sendable {
            let id = Field<Int>("_id")
            let ownerID = Field<String>("owner_id")
            let price = Field<Int>("price")
            let complexity = Field<Int>("complexity")
            let tags = Field<[String]>("tags")
            let done = Field<Bool>("done")
            let edits = Field<Int>("edits")
        }
        static var fields: Fields { Fields() }
    }

    /// A row of a list on the screen.
    private struct Row: Equatable, Sendable {
        let id: Int

        init(_ item: Item) { id = item.id }
        init(_ task: LiveTask) { id = task.id }
    }

    /// Ends the loop of a page, which has no end of its own.
    private static func report(_ failure: DocumentDecodingFailure) {
        withUnsafeCurrentTask { $0?.cancel() }
    }

    @Test func `the store's page finds and changes typed documents`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let id = 2
        let found = store.collection(Namespace("shop", "items"), of: Item.self)
        try await found.insertMany([
            Item(id: 1, price: 4), Item(id: 2, price: 3), Item(id: 3, price: 9),
        ])
        func run() throws -> (FoundDocuments<Item>, BSONDocument) {
            // Docs/STORE.md
            let items = store.collection(Namespace("shop", "items"), of: Item.self)
            let cheap = try items.find(limit: 10) {
                $0.price < 5 && $0.tags.contains("home")
            } sort: {
                $0.price.ascending
            }
            try items.updateOne({ $0.id == id }) {
                $0.done.set(true); $0.edits.increment()
            }
            try items.createIndex {
                $0.ownerID.ascending; $0.price.descending
            }
            let simple = try Item.filter { $0.complexity <= 4 }.bson
            return (cheap, simple)
        }
        let (cheap, simple) = try run()
        #expect(cheap.map(\.id) == [2, 1])
        #expect(simple == ["complexity": ["$lte": .int64(4)]])
        #expect(try found.findOne(id: 2)?.edits == 1)
        #expect(try found.documents.listIndexes().map(\.name).contains("owner_id_1_price_-1"))
    }

    @Test func `the store's page follows a list`() async throws {
        let items = try DocumentStore(at: .inMemory)
            .collection(Namespace("shop", "items"), of: Item.self)
        try await items.insertMany([Item(id: 1, price: 4), Item(id: 2, price: 3)])
        try await items.documents.insertOne(["_id": 3, "done": false])
        let rows = try await withThrowingTaskGroup(of: [Row].self) { group in
            group.addTask {
                var rows: [Row] = []
                func report(_ failure: DocumentDecodingFailure) { Self.report(failure) }
                // Docs/STORE.md
                let open = try items.observe(limit: 50) {
                    !$0.done
                } sort: {
                    $0.price.ascending
                }
                for try await snapshot in open {
                    snapshot.changes.apply(to: &rows) { index in Row(snapshot.documents[index]) }
                    for failure in snapshot.failures { report(failure) }
                }
                return rows
            }
            return try await group.next()
        }
        #expect(rows?.map(\.id) == [2, 1])
    }

    @Test func `sync's page follows a list, and reads without await`() async throws {
        let engine = try SyncEngine(
            store: DocumentStore(at: .inMemory), remote: InProcessRemote(at: .inMemory))
        let todos = engine.collection(LiveTask.namespace, of: LiveTask.self)
        try await todos.insertMany([
            LiveTask(id: 1, complexity: 4), LiveTask(id: 2, complexity: 5, done: true),
        ])
        try await engine.collection(LiveTask.namespace).insertOne(["_id": 3, "complexity": 1])
        let rows = try await withThrowingTaskGroup(of: [Row].self) { group in
            group.addTask {
                var rows: [Row] = []
                func report(_ failure: DocumentDecodingFailure) { Self.report(failure) }
                // Docs/SYNC.md
                let simple = try todos.observe(limit: 50) {
                    $0.complexity <= 4
                } sort: {
                    $0.name.ascending
                }
                for try await snapshot in simple {
                    snapshot.changes.apply(to: &rows) { index in Row(snapshot.documents[index]) }
                    for failure in snapshot.failures { report(failure) }
                }
                return rows
            }
            return try await group.next()
        }
        #expect(rows?.map(\.id) == [1])
        // Docs/SYNC.md
        func openCount() throws -> Int { try todos.count { !$0.done } }
        #expect(try openCount() == 2)
    }
}
