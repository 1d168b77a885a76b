import BSONStore
import Foundation
import StitchSync
import Testing

/// Without these a road that stores a typed value would overwrite what the app left alone (rule
/// R15).
@Suite struct TypedRoadTests {
    struct Line: Codable, Hashable {
        var name: String
        var quantity: Int
    }

    struct Todo: Codable, Hashable {
        var id: Int
        var title: String
        var state: String
        var due: Date?
        var price: Decimal
        var tags: Set<String>
        var lines: [Line]

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case title, state, due, price, tags, lines
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(Int.self, forKey: .id)
            title = try fields.decode(String.self, forKey: .title)
            state = try fields.decodeIfPresent(String.self, forKey: .state) ?? "open"
            due = try fields.decodeIfPresent(Date.self, forKey: .due)
            price = try fields.decode(Decimal.self, forKey: .price)
            tags = try fields.decode(Set<String>.self, forKey: .tags)
            lines = try fields.decode([Line].self, forKey: .lines)
        }
    }

    private static let namespace = Namespace("app", "todos")

    /// A document without `state`, in the forms of another program, with fields of a newer app.
    private static func stored(title: String) -> BSONDocument {
        [
            "_id": 1, "title": .string(title), "due": .null, "price": .exactDecimal("10.00"),
            "tags": ["z", "b", "y", "a"], "later": ["deep": [.null, 1.0]],
            "lines": [
                ["name": "a", "quantity": 1.0, "note": "x"],
                ["name": "a", "quantity": 1, "note": "y"],
            ],
        ]
    }

    /// A remote that refuses a second document with a title, and a device that has one document.
    private struct World {
        let remote: InProcessRemote
        let engine: SyncEngine
        let todos: SyncCollection<Todo>

        init(
            handler: ConflictHandler<Todo> = .remoteWins,
            policy: RejectionPolicy<Todo> = .standard
        ) async throws {
            remote = try InProcessRemote(at: .inMemory)
            let there = remote.store.collection(namespace)
            try there.createIndex(["title": 1], ["unique": true])
            try await there.insertMany([
                TypedRoadTests.stored(title: "pen"), ["_id": 2, "title": "taken"],
            ])
            engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
            todos = engine.collection(namespace, of: Todo.self)
            await todos.configure(conflictHandler: handler, rejectionPolicy: policy)
            try await todos.sync(ids: [1])
            try await engine.syncUntilQuiet()
        }

        /// Checks that both sides have the stored document with another title, byte for byte.
        func expect(
            _ title: String, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let wanted = TypedRoadTests.stored(title: title)
            var there = try remote.store.collection(namespace).findOne(id: 1)
            there?["__stitch_sync_version"] = nil
            let here = try engine.collection(namespace).findOne(id: 1)
            #expect(there?.contentEquals(wanted) == true, sourceLocation: sourceLocation)
            #expect(here?.contentEquals(wanted) == true, sourceLocation: sourceLocation)
        }
    }

    @Test func `findOneAndReplace of a store changes only what differs`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Self.namespace, of: Todo.self)
        try await todos.documents.insertOne(Self.stored(title: "pen"))
        var todo = try #require(try todos.findOne(id: 1))
        try await todos.findOneAndReplace(["_id": 1], todo)
        #expect(try todos.documents.findOne(id: 1) == Self.stored(title: "pen"))
        todo.title = "ink"
        try await todos.findOneAndReplace(["_id": 1], todo)
        #expect(try todos.documents.findOne(id: 1) == Self.stored(title: "ink"))
    }

    @Test func `an older value's edit keeps what others wrote since`() async throws {
        let world = try await World()
        let store = try DocumentStore(at: .inMemory)
        let todos = store.collection(Self.namespace, of: Todo.self)
        try await todos.documents.insertOne(Self.stored(title: "pen"))
        let read = try #require(try todos.findOne(id: 1))
        let stored = try #require(try todos.documents.findOne(id: 1))
        // Without the value that the edit began with, `read` would take this title back.
        try await todos.updateOne(["_id": 1], ["$set": ["title": "ink"]])
        try await world.todos.updateOne(["_id": 1], ["$set": ["title": "ink"]])
        var edited = read
        edited.state = "done"
        let before = try await todos.findOneAndReplace(["_id": 1], edited, from: read)
        #expect(before?.title == "ink" && before?.state == "open")
        let after = try await world.todos.findOneAndReplace(
            ["_id": 1], edited, from: read, options: FindOneAndOptions(returnsAfter: true))
        #expect(after?.title == "ink" && after?.state == "done")
        var document = stored
        document["note"] = "raw"
        try await todos.documents.findOneAndReplace(["_id": 1], document, from: stored)
        try await world.engine.collection(Self.namespace).findOneAndReplace(
            ["_id": 1], document, from: stored)
        var wanted = Self.stored(title: "ink")
        wanted["state"] = "done"
        wanted["note"] = "raw"
        #expect(try todos.documents.findOne(id: 1)?.contentEquals(wanted) == true)
        let synced = try world.engine.collection(Self.namespace).findOne(id: 1)
        #expect(synced?.contentEquals(wanted) == true)
    }

    @Test func `a handler's document changes only what differs from the remote edition`()
        async throws
    {
        let world = try await World(
            handler: ConflictHandler { conflict in
                guard var merged = conflict.remote, let local = conflict.local else {
                    return .useRemote
                }
                merged.title = local.title
                return .use(merged)
            })
        try await world.remote.store.collection(Self.namespace).updateOne(
            ["_id": 1], ["$set": ["title": "red"], "$inc": ["__stitch_sync_version.v": 1]])
        try await world.todos.modify(id: 1) { $0.title = "ink" }
        try await world.engine.syncUntilQuiet()
        try world.expect("ink")
    }

    @Test func `a rejection policy's edit changes only what differs`() async throws {
        let world = try await World(
            policy: .ask { rejected in
                guard var todo = rejected.latestDocument else { return .revert }
                todo.title = "free"
                return .edit(todo)
            })
        try await world.todos.modify(id: 1) { $0.title = "taken" }
        try await world.engine.syncUntilQuiet()
        try world.expect("free")
    }

    @Test func `a rejected write that is retried with changes changes only what differs`()
        async throws
    {
        let world = try await World(policy: .revert)
        try await world.todos.modify(id: 1) { $0.title = "taken" }
        try await world.engine.syncUntilQuiet()
        try world.expect("pen")
        let rejected = try #require(try await world.todos.rejectedWrites.all().first)
        var todo = try #require(rejected.document)
        todo.title = "free"
        #expect(try await world.todos.rejectedWrites.retry(rejected.id, as: todo))
        try await world.engine.syncUntilQuiet()
        try world.expect("free")
    }

    @Test func `a rejected write that does not decode is listed, and hides no other`()
        async throws
    {
        let world = try await World(policy: .revert)
        let raw = world.engine.collection(Self.namespace)
        try await raw.updateOne(["_id": 1], ["$set": ["title": "taken", "price": "much"]])
        try await world.engine.syncUntilQuiet()
        try await world.todos.modify(id: 1) { $0.title = "taken" }
        try await world.engine.syncUntilQuiet()
        let all = try await world.todos.rejectedWrites.all()
        #expect(all.map { $0.document == nil } == [true, false])
        #expect(all[0].decodingFailure?.contains("price") == true)
        #expect(all[0].base?.title == "pen" && all[1].decodingFailure == nil)
        #expect(try await world.todos.rejectedWrites.write(id: all[0].id)?.document == nil)
        #expect(try await world.todos.rejectedWrites.discard(all[0].id))
        #expect(try await world.todos.rejectedWrites.all().map(\.id) == [all[1].id])
    }

    @Test func `a policy that cannot be asked says which edition does not decode`() async throws {
        let errors = Locked<[SyncError]>([])
        let world = try await World()
        await world.todos.configure(
            errorListener: { error, _ in errors.withLock { $0.append(error) } },
            rejectionPolicy: .ask { _ in .revert })
        let raw = world.engine.collection(Self.namespace)
        try await raw.updateOne(["_id": 1], ["$set": ["title": "taken", "price": "much"]])
        try await world.engine.syncUntilQuiet()
        await world.engine.flushEvents()
        let error = try #require(errors.withLock { $0 }.first { $0.code == .decodingFailed })
        #expect(error.message.contains("the refused edition") && error.message.contains("price"))
        #expect(error.documentID == 1)
    }

    #if Macros
        @Document
        struct Note: Equatable {
            @Document
            struct Line: Equatable, Hashable {
                var id = 0
                var name: String
            }

            var id: Int
            var title: String
            var state = "open"
            var level: Int? = 5
            var due: Date?
            var price: Decimal
            var tags: Set<String> = []
            @FieldName("rows") var lines: [Line] = []
            var kept: Set<Line> = []
        }

        @Test func `modify of a macro's type changes only what differs`() async throws {
            let stored: BSONDocument = [
                "_id": 1, "title": "pen", "due": .null, "price": .exactDecimal("10.00"),
                "tags": ["z", "b", "y", "a"],
                "rows": [["name": "a", "note": 1], ["name": "b", "note": 2]],
                "kept": [["name": "a", "note": 1], ["name": "b", "note": 2]], "later": .null,
            ]
            let store = try DocumentStore(at: .inMemory)
            let notes = store.collection(Self.namespace, of: Note.self)
            try await notes.documents.insertOne(stored)
            try notes.modify(id: 1) { _ in }
            #expect(try notes.documents.findOne(id: 1) == stored)
            try notes.modify(id: 1) {
                $0.title = "ink"
                $0.lines[1].name = "B"
                $0.kept.insert(Note.Line(name: "c"))
                $0.tags.remove("y")
            }
            var wanted = stored
            wanted["title"] = "ink"
            wanted["rows"] = [["name": "a", "note": 1], ["name": "B", "note": 2]]
            wanted["kept"] = [
                ["name": "a", "note": 1], ["name": "b", "note": 2],
                ["_id": .int64(0), "name": "c"],
            ]
            wanted["tags"] = ["z", "b", "a"]
            #expect(try notes.documents.findOne(id: 1) == wanted)
        }
    #endif
}
