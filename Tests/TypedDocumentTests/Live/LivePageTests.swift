#if Macros
    import BSONStore
    import Foundation
    import StitchSync
    import Testing

    /// Without these the calls that the pages show would not compile, or would do something else.
    @Suite(.timeLimit(.minutes(30))) struct LivePageTests {
        private static let day = Date(timeIntervalSince1970: 1_700_000_000)

        /// A row of a list on the screen.
        private struct Row: Equatable, Sendable {
            let task: String

            init(_ todo: Todo) { task = todo.task }
        }

        /// Ends the loop of a page, which has no end of its own.
        private static func end() { withUnsafeCurrentTask { $0?.cancel() } }

        private static func store() async throws -> DocumentStore {
            let store = try DocumentStore(at: .inMemory)
            try await store.collection(Namespace("app", "todos"), of: Todo.self).insertMany([
                Todo(task: "later", tags: ["home"], due: day + 60),
                Todo(task: "soon", tags: ["home"], due: day),
                Todo(task: "done", done: true, tags: ["home"]),
            ])
            return store
        }

        @Test func `the store's page finds and changes typed documents`() async throws {
            let store = try await Self.store()
            let known = store.collection(Namespace("app", "todos"), of: Todo.self)
            let id = try #require(try known.find(["task": "later"]).first()).id
            func run() throws -> (FoundDocuments<Todo>, BSONDocument) {
                // Docs/STORE.md
                let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
                let home = try todos.find {
                    !$0.done && $0.tags.contains("home")
                }.sort(\.due).limit(10).fetch()
                try todos.updateOne({ $0.id == id }) {
                    $0.done.set(true); $0.votes.increment()
                }
                try todos.createIndex {
                    $0.ownerID.ascending; $0.due.descending
                }
                let popular = try Todo.filter { $0.votes > 4 }.bson
                return (home, popular)
            }
            let (home, popular) = try run()
            #expect(home.map(\.task) == ["soon", "later"])
            #expect(popular == ["votes": ["$gt": .int64(4)]])
            #expect(try known.find(["task": "later"]).first()?.votes == 1)
            #expect(try known.documents.listIndexes().map(\.name).contains("owner_id_1_due_-1"))
        }

        @Test func `the store's page shows what is open, again after each change`() async throws {
            let store = try await Self.store()
            let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
            let shown = Locked<[[String]]>([])
            func show(_ documents: [Todo]) async throws {
                shown.withLock { $0.append(documents.map(\.task)) }
                guard documents.count == 2 else { return Self.end() }
                try await todos.updateOne({ $0.task == "soon" }) { $0.done.set(true) }
            }
            try await withThrowingTaskGroup { group in
                group.addTask {
                    // Docs/STORE.md
                    for try await snapshot in try todos.find({ !$0.done }).observe() {
                        try await show(snapshot.documents)
                    }
                }
                try await group.waitForAll()
            }
            #expect(shown.withLock(\.self) == [["later", "soon"], ["later"]])
        }

        @Test func `the store's page follows a list`() async throws {
            let todos = try await Self.store()
                .collection(Namespace("app", "todos"), of: Todo.self)
            try await todos.documents.insertOne(["_id": 3, "done": false])
            let rows = try await withThrowingTaskGroup(of: [Row].self) { group in
                group.addTask {
                    var rows: [Row] = []
                    func report(_ failure: DocumentDecodingFailure) { Self.end() }
                    // Docs/STORE.md
                    let open = try todos.find {
                        !$0.done
                    }.sort(\.due).limit(50).observe()
                    for try await snapshot in open {
                        snapshot.changes.apply(to: &rows) { index in Row(snapshot.documents[index])
                        }
                        for failure in snapshot.failures { report(failure) }
                    }
                    return rows
                }
                return try await group.next()
            }
            #expect(rows?.map(\.task) == ["soon", "later"])
        }

        @Test @MainActor func `an observed query follows the list`() async throws {
            let store = try await Self.store()
            let todos = store.collection(Namespace("app", "todos"), of: Todo.self)
            // Docs/STORE.md
            let open = ObservedQuery(try todos.find { !$0.done }.observe())
            async let _: Void = open.run()
            while !open.isLoaded { await Task.yield() }
            #expect(open.documents.map(\.task) == ["later", "soon"])
        }

        @Test func `sync's page subscribes, shows what arrived, and reads without await`()
            async throws
        {
            let remote = try InProcessRemote(at: .inMemory)
            let theirs = remote.store.collection(Namespace("app", "todos"), of: Todo.self)
            let (mine, id) = (UUID(), BSONObjectID())
            try await theirs.insertMany([
                Todo(id: id, task: "mine", ownerID: mine), Todo(task: "theirs", ownerID: UUID()),
                Todo(task: "open", ownerID: mine),
            ])
            try await theirs.documents.insertOne(["_id": 3, "owner_id": .uuid(mine), "done": false])
            let engine = try SyncEngine(store: DocumentStore(at: .inMemory), remote: remote)
            let user = mine
            let (shown, failed) = (Locked<[[String]]>([]), Locked<[BSONValue]>([]))
            func show(_ failure: DocumentDecodingFailure) {
                failed.withLock { $0.append(failure.documentID) }
            }
            let followed = Namespace("app", "todos")
            // Docs/SYNC.md
            let todos = engine.collection(Namespace("app", "todos"), of: Todo.self)
            try await todos.subscribe(named: "mine") { $0.ownerID == user }
            try await todos.updateOne({ $0.id == id }) { $0.done.set(true) }
            let open = try todos.find { !$0.done }.fetch()
            for failure in open.failures { show(failure) }
            #expect(open.map(\.task) == ["open"])
            #expect(failed.withLock(\.self) == [3])
            try await withThrowingTaskGroup { group in
                group.addTask {
                    let todos = engine.collection(followed, of: Todo.self)
                    func show(_ documents: [Todo]) {
                        shown.withLock { $0.append(documents.map(\.task)) }
                        Self.end()
                    }
                    // Docs/SYNC.md
                    for try await snapshot
                        in try todos.find({ $0.ownerID == user && !$0.done }).observe()
                    {
                        show(snapshot.documents)
                    }
                }
                try await group.waitForAll()
            }
            #expect(shown.withLock(\.self) == [["open"]])
            // Docs/SYNC.md
            func openCount() throws -> Int { try todos.find { !$0.done }.count() }
            #expect(try openCount() == 2)
        }
    }
#endif
