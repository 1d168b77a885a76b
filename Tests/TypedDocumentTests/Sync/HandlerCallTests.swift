import BSONStore
import StitchSync
import Testing

// The public interface only, as an app's tests have it.

/// Without these an app could test its handlers and listeners only with an engine and a remote.
@Suite struct HandlerCallTests {
    struct Todo: Codable, Hashable {
        var id: Int
        var task: String
        var votes = 0
        var done = false

        enum CodingKeys: String, CodingKey { case id = "_id", task, votes, done }
    }

    private static let base = Todo(id: 1, task: "Buy milk", votes: 1)

    /// A conflict in which both sides voted, and each side changed another field.
    private static func conflict() -> Conflict<Todo> {
        var (mine, theirs) = (base, base)
        (mine.votes, mine.task) = (2, "Buy two milks")
        (theirs.votes, theirs.done) = (4, true)
        return Conflict(documentID: 1, base: base, local: mine, remote: theirs)
    }

    @Test func `the app's closure gets the conflict and its answer is returned`() async throws {
        let handler = ConflictHandler<Todo> { conflict in
            guard var todo = conflict.local, let theirs = conflict.remote else {
                return conflict.base == nil ? .delete : .useRemote
            }
            todo.done = todo.done || theirs.done
            return .use(todo)
        }
        let merged = Todo(id: 1, task: "Buy two milks", votes: 2, done: true)
        #expect(try await handler.resolve(Self.conflict()) == .use(merged))
        let deleted = Conflict(documentID: 1, base: Self.base, local: nil, remote: Self.base)
        #expect(try await handler.resolve(deleted) == .useRemote)
        let unknown = Conflict<Todo>(documentID: 1, base: nil, local: nil, remote: nil)
        #expect(try await handler.resolve(unknown) == .delete)
    }

    @Test func `a closure's error reaches the test`() async {
        struct Unsure: Error {}
        let handler = ConflictHandler<Todo> { _ in throw Unsure() }
        await #expect(throws: Unsure.self) { try await handler.resolve(Self.conflict()) }
    }

    @Test func `built-in handlers answer as in the engine`() async throws {
        let conflict = Self.conflict()
        #expect(try await ConflictHandler.remoteWins.resolve(conflict) == .useRemote)
        #expect(try await ConflictHandler.localWins.resolve(conflict) == .useLocal)
        let byVotes = ConflictHandler<Todo>.newest { $0.votes }
        #expect(try await byVotes.resolve(conflict) == .useRemote)
        let byTask = ConflictHandler<Todo>.newest(by: "task")
        #expect(try await byTask.resolve(conflict) == .useLocal)
        let merging = ConflictHandler<Todo>.mergeFields(ThreeWayMerge(counters: ["votes"]))
        let merged = Todo(id: 1, task: "Buy two milks", votes: 5, done: true)
        #expect(try await merging.resolve(conflict) == .use(merged))
        // Both sides changed one field, so the handler for overlaps decides about it.
        let overlapping = ConflictHandler<Todo>.mergeFields(overlaps: .localWins)
        let local = Todo(id: 1, task: "Buy two milks", votes: 2, done: true)
        #expect(try await overlapping.resolve(conflict) == .use(local))
    }

    @Test func `a merge lets the app decide single fields`() async throws {
        let highest = ConflictHandler<Todo>.mergeFields { todo, conflict in
            todo.votes = max(conflict.local?.votes ?? 0, conflict.remote?.votes ?? 0)
        }
        let merged = Todo(id: 1, task: "Buy two milks", votes: 4, done: true)
        #expect(try await highest.resolve(Self.conflict()) == .use(merged))
        // A delete has nothing to merge: the edit stays, unless the app decides otherwise.
        let (gone, edited) = (Todo?.none, Todo(id: 1, task: "a"))
        let deletedThere = Conflict(documentID: 1, base: Self.base, local: edited, remote: gone)
        let deletedHere = Conflict(documentID: 1, base: Self.base, local: gone, remote: edited)
        #expect(try await highest.resolve(deletedThere) == .useLocal)
        #expect(try await highest.resolve(deletedHere) == .useRemote)
        let strict = ConflictHandler<Todo>.mergeFields(deleted: .remoteWins) { _, _ in }
        #expect(try await strict.resolve(deletedThere) == .useRemote)
        let raw = ConflictHandler<BSONDocument>.mergeFields { $0["n"] = $1.remote?["n"] ?? 0 }
        let both = Conflict<BSONDocument>(
            documentID: 1, base: ["_id": 1], local: ["_id": 1, "a": 1], remote: ["_id": 1, "n": 2])
        #expect(try await raw.resolve(both) == .use(["_id": 1, "n": 2, "a": 1]))
    }

    @Test func `a handler of raw documents is called in the same way`() async throws {
        let conflict = Conflict<BSONDocument>(
            namespace: Namespace("app", "todos"), documentID: 1, base: ["_id": 1],
            local: ["_id": 1, "a": 1], remote: ["_id": 1, "b": 1], mayHaveLanded: true)
        let merged: BSONDocument = ["_id": 1, "b": 1, "a": 1]
        #expect(try await ConflictHandler.mergeFields().resolve(conflict) == .use(merged))
        let cautious = ConflictHandler<BSONDocument> { conflict in
            conflict.mayHaveLanded && conflict.namespace.collection == "todos"
                ? .useRemote : .useLocal
        }
        #expect(try await cautious.resolve(conflict) == .useRemote)
    }

    @Test func `a listener is called with an event of the test's making`() async {
        let (lines, log) = AsyncStream.makeStream(of: String.self)
        let listener: @Sendable (ChangeEvent<Todo>) async -> Void = { event in
            log.yield("\(event.operationType) \(event.fullDocument?.task ?? "-")")
        }
        let insert = ChangeEvent(
            operationType: .insert, reason: .remote, documentID: 1, fullDocument: Self.base)
        await listener(insert)
        await listener(ChangeEvent(operationType: .delete, reason: .local, documentID: 1))
        log.finish()
        #expect(await lines.reduce(into: []) { $0.append($1) } == ["insert Buy milk", "delete -"])
        #expect(insert.documentKey == ["_id": 1])
        #expect(!insert.hasUncommittedWrites)
    }

    @Test func `a closure about refused writes is called with one`() async throws {
        let ask: RejectionPolicy<Todo>.Ask = { rejected in
            guard var todo = rejected.document, rejected.reason == "too many votes" else {
                return .revert
            }
            todo.votes = 1
            return .edit(todo)
        }
        let write = CompensatingWrite(
            objectName: "todos", primaryKey: 1, reason: "too many votes", cause: .writeDenied)
        let rejected = RejectedWrite(
            change: .update, document: Todo(id: 1, task: "a", votes: 9), compensatingWrite: write)
        guard case .edit(let todo) = try await ask(rejected) else {
            Issue.record("the closure does not edit")
            return
        }
        #expect(todo == Todo(id: 1, task: "a", votes: 1))
        #expect(rejected.documentID == 1 && rejected.code == 231)
    }

    @Test func `an update's result equals the one that a test expects`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let remote = try InProcessRemote(at: .inMemory)
        let engine = try SyncEngine(store: store, remote: remote)
        let todos = engine.collection(Namespace("app", "todos"), of: Todo.self)
        try await todos.insertOne(Self.base)
        let result = try await todos.updateOne(["_id": 1], ["$set": ["done": true]])
        #expect(result == UpdateResult(matchedCount: 1, modifiedCount: 1))
        #expect(result != UpdateResult(matchedCount: 1))
        let upsert = try await todos.updateOne(
            ["_id": 2], ["$set": ["task": "a"]], upsert: true)
        #expect(upsert == UpdateResult(upsertedID: upsert.upsertedID))
        #expect(upsert.upsertedID?.intValue == 2)
        let raw = store.collection(Namespace("app", "others"))
        try await raw.insertOne(["_id": 1])
        #expect(
            try await raw.updateMany(["_id": 1], ["$set": ["a": 1]])
                == UpdateResult(matchedCount: 1, modifiedCount: 1))
    }
}
