#if Macros
    import BSONStore
    import Foundation
    import StitchSync
    import Testing

    extension Todo {
        static let conflictHandler = ConflictHandler<Todo>.mergeFields(
            ThreeWayMerge(arrays: ["tags"])
        ) { todo, conflict in
            todo.votes = max(conflict.local?.votes ?? 0, conflict.remote?.votes ?? 0)
        }
    }

    /// Without these the recipes of `Docs/COOKBOOK.md` would not compile or find something else.
    @Suite struct CookbookPageTests {
        private let engine: SyncEngine
        private let todos: SyncCollection<Todo>
        private let users: SyncCollection<User>
        private let products: SyncCollection<Product>
        private let albums: SyncCollection<Album>
        private let bills: SyncCollection<Bill>
        private let now = Date()

        init() throws {
            engine = try SyncEngine(
                store: DocumentStore(at: .inMemory), remote: InProcessRemote(at: .inMemory))
            todos = engine.collection(Namespace("app", "todos"), of: Todo.self)
            users = engine.collection(Namespace("app", "users"), of: User.self)
            products = engine.collection(Namespace("app", "products"), of: Product.self)
            albums = engine.collection(Namespace("app", "albums"), of: Album.self)
            bills = engine.collection(Namespace("app", "bills"), of: Bill.self)
        }

        /// Stores an open to-do of each moment, a done one of the first, and one without a date.
        private func insertDates() async throws {
            for (task, due) in [("late", now - 60), ("soon", now + 60), ("later", now + 90_000)] {
                try await todos.insertOne(Todo(task: task, due: due))
            }
            try await todos.insertOne(Todo(task: "done", done: true, due: now - 60))
            try await todos.insertOne(Todo(task: "some day"))
        }

        @Test func `dates`() async throws {
            try await insertDates()
            let overdue = try todos.find { $0.due < now && !$0.done }.fetch()
            let same = try todos.find([
                "due": ["$lt": .date(now)], "done": false,
            ]).fetch()
            let soon = try todos.find { $0.due.in(now..<now.addingTimeInterval(86_400)) }.fetch()
            #expect(overdue.map(\.task) == ["late"])
            #expect(same.map(\.task) == ["late"])
            #expect(soon.map(\.task) == ["soon"])
        }

        @Test func `ids`() async throws {
            let userID = UUID()
            try await users.insertOne(User(id: userID, name: "Ann"))
            try await products.insertOne(Product(id: "milk", price: 1))
            let stored = try await todos.insertOne(Todo(task: "Buy milk"))
            let todo = try todos.findOne(id: stored)
            let user = try users.findOne(id: .uuid(userID))
            let product = try products.findOne(id: "milk")
            let link = "todo/" + (stored.objectIDValue?.hex ?? "")
            let opened = try todos.findOne(
                id: .objectID(BSONObjectID("65f0c0ffee00c0ffee00c0de")))
            #expect(todo?.task == "Buy milk" && user?.name == "Ann" && product?.price == 1)
            #expect(link.count == 29 && opened == nil)
        }

        @Test func `optional fields`() async throws {
            try await insertDates()
            let id = try #require(try todos.find(["task": "late"]).first()).id
            let undated = try todos.find { $0.due == nil }.fetch()
            let dated = try todos.find(["due": ["$ne": nil]]).fetch()
            try await todos.updateOne({ $0.id == id }) { $0.due.set(nil) }
            #expect(undated.map(\.task) == ["some day"])
            #expect(dated.map(\.task) == ["late", "soon", "later", "done"])
            #expect(try todos.find(["due": ["$exists": false]]).count() == 2)
        }

        @Test func `enums`() async throws {
            try await todos.insertMany([
                Todo(task: "a", priority: .high), Todo(task: "b", done: true, priority: .high),
                Todo(task: "c"),
            ])
            let urgent = try todos.find { $0.priority.in([.high]) && !$0.done }.fetch()
            let same = try todos.find([
                "priority": ["$in": [.enum(Todo.Priority.high)]], "done": false,
            ]).fetch()
            try await todos.find { $0.priority == .high }.update { $0.done.set(true) }
            #expect(urgent.map(\.task) == ["a"] && same.map(\.task) == ["a"])
            #expect(try todos.find { !$0.done }.fetch().map(\.task) == ["c"])
        }

        @Test func `money`() async throws {
            let price = try #require(Decimal(string: "0.10"))
            let step = try #require(Decimal(string: "0.2"))
            let limit = try #require(Decimal(string: "0.11"))
            try await products.insertMany([
                Product(id: "milk", price: price), Product(id: "tea", price: 4),
            ])
            let cheap = try products.find { $0.price < limit }.fetch()
            let same = try products.find(["price": ["$lt": .decimal(limit)]]).fetch()
            try await products.updateOne({ $0.id == "milk" }) { $0.price.increment(by: step) }
            let totals = try products.aggregate([
                ["$group": ["_id": nil, "total": ["$sum": "$price"]]]
            ])
            let total = totals.first?["total"]?.decimalValue
            #expect(cheap.map(\.id) == ["milk"] && same.map(\.id) == ["milk"])
            #expect(total == Decimal(string: "4.3"))
        }

        @Test func `a total of each month`() async throws {
            let march = Date(timeIntervalSince1970: 1_772_319_600)  // in Oslo 1 March 2026, 00:00
            try await bills.insertMany([
                Bill(amount: 1, paid: march - 1), Bill(amount: 2, paid: march),
                Bill(amount: 3, paid: march + 60),
            ])
            struct Month: Decodable, Sendable {
                var month: String
                var total: Decimal
            }
            let month: BSONDocument = [
                "$dateToString": ["format": "%Y-%m", "date": "$paid", "timezone": "Europe/Oslo"]
            ]
            let months = try bills.aggregate(
                [
                    ["$group": ["_id": .document(month), "total": ["$sum": "$amount"]]],
                    ["$project": ["_id": 0, "month": "$_id", "total": 1]],
                    ["$sort": ["month": 1]],
                ], as: Month.self)
            #expect(months.map(\.month) == ["2026-02", "2026-03"])
            #expect(months.map(\.total) == [1, 5])
        }

        @Test func `one document is changed in one step`() async throws {
            let todo = Todo(task: "a", tags: ["today", "home"])
            let id = todo.id
            try await todos.insertOne(todo)
            let changed = try await todos.modify(id: .objectID(id)) { todo in
                todo.tags.removeAll { $0 == "today" }
                todo.tags.append("done")
                todo.done = true
            }
            #expect(changed?.tags == ["home", "done"] && changed?.done == true)
            #expect(try todos.find { $0.id == id }.first() == changed)
        }

        @Test func `the first subscriptions are made before there is an engine`() async throws {
            let store = try DocumentStore(at: .inMemory)
            let remote = try InProcessRemote(at: .inMemory)
            let first = InitialSubscriptions { changes in
                let query = try SubscriptionQuery(
                    Namespace("app", "todos"), Todo.filter { !$0.done }.bson)
                changes.insertOrAssign(query, named: "open todos")
            }
            let engine = try SyncEngine(store: store, remote: remote, initialSubscriptions: first)
            try await engine.syncUntilQuiet()
            let active = try engine.subscriptions.active.subscriptions
            #expect(active.map(\.name) == ["open todos"])
            #expect(active.first?.query.filter == ["done": ["$ne": true]])
        }

        @Test func `binary data and nested structs`() async throws {
            let todo = Todo(task: "a", address: Address(city: "Oslo"))
            let (id, photo, address) = (todo.id, Data([1, 2, 3]), Address(city: "Rome"))
            try await todos.insertMany([todo, Todo(task: "b")])
            try await todos.updateOne({ $0.id == id }) { $0.photo.set(photo) }
            let withPhoto = try todos.find { $0.photo != nil }.fetch()
            #expect(withPhoto.map(\.photo) == [photo])
            func nested() async throws {
                let inOslo = try todos.find { $0.address.city == "Oslo" }.fetch()
                let same = try todos.find(["address.city": "Oslo"]).fetch()
                try await todos.updateOne({ $0.id == id }) { $0.address.city.set("Bergen") }
                try await todos.updateOne(
                    ["_id": .objectID(id)], ["$set": ["address": BSONValue(encoding: address)]])
                #expect(inOslo.map(\.id) == [id] && same.map(\.id) == [id])
            }
            try await nested()
            #expect(try todos.find { $0.id == id }.first()?.address == address)
        }

        @Test func `arrays and counters`() async throws {
            let todo = Todo(task: "a", tags: ["home"])
            let id = todo.id
            try await todos.insertMany([todo, Todo(task: "b", tags: ["work"])])
            let home = try todos.find { $0.tags.contains("home") }.fetch()
            let same = try todos.find(["tags": "home"]).fetch()
            try await todos.updateOne({ $0.id == id }) { $0.tags.addToSet("work") }
            #expect(home == [todo] && same == [todo])
            try await todos.updateOne({ $0.id == id }) { $0.votes.increment() }
            await todos.configure(conflictHandler: .mergeFields(ThreeWayMerge(counters: ["votes"])))
            let found = try todos.find { $0.id == id }.first()
            #expect(found?.tags == ["home", "work"] && found?.votes == 1)
        }

        @Test func `referenced documents`() async throws {
            let (ann, bob) = (User(id: UUID(), name: "Ann"), User(id: UUID(), name: "Bob"))
            try await users.insertMany([ann, bob])
            try await todos.insertMany([
                Todo(task: "a", ownerID: bob.id), Todo(task: "b", done: true, ownerID: ann.id),
                Todo(task: "c"),
            ])
            let open = try todos.find { !$0.done }.fetch()
            let ownerIDs = open.compactMap(\.ownerID)
            let owners = try users.find { $0.id.in(ownerIDs) }.fetch()
            #expect(owners.map(\.name) == ["Bob"])
        }

        @Test func `an album has a cover, and none afterwards`() async throws {
            let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]
            var shown: [[UInt8]] = []
            func show(_ bytes: [UInt8]) { shown.append(bytes) }
            let cover = try await albums.store(jpeg, contentType: "image/jpeg", name: "cover.jpg")
            try await albums.insertOne(Album(id: "norway", cover: cover))
            try await albums.attach(jpeg, to: "norway", \.cover, contentType: "image/jpeg")
            let withCover = try albums.find { $0.cover != nil }.fetch()
            if let cover = withCover.first?.cover {
                let bytes = try await albums.file(cover, of: "norway").bytes()
                show(bytes)
            }
            try await albums.updateOne({ $0.id == "norway" }) { $0.cover.unset() }
            #expect(shown == [jpeg])
            #expect(try albums.find { $0.cover != nil }.fetch().isEmpty)
        }

        @Test func `removed tags stay removed, and the most votes count`() async throws {
            var base = Todo(task: "Buy milk")
            base.tags = ["today"]
            var (mine, theirs, merged) = (base, base, base)
            (mine.tags, mine.votes) = (["today", "home"], 3)
            (theirs.tags, theirs.votes) = ([], 5)
            (merged.tags, merged.votes) = (["home"], 5)
            let conflict = Conflict(
                documentID: .objectID(base.id), base: base, local: mine, remote: theirs)
            #expect(try await Todo.conflictHandler.resolve(conflict) == .use(merged))
        }

        @Test func `a listener is called`() async {
            let todo = Todo(task: "Buy milk")
            let (tasks, log) = AsyncStream.makeStream(of: String?.self)
            let listener: @Sendable (ChangeEvent<Todo>) async -> Void = { event in
                log.yield(event.fullDocument?.task)
            }
            let event = ChangeEvent(
                operationType: .insert, reason: .remote, documentID: .objectID(todo.id),
                fullDocument: todo)
            await listener(event)
            log.finish()
            #expect(await tasks.reduce(into: []) { $0.append($1) } == ["Buy milk"])
        }
    }
#endif
