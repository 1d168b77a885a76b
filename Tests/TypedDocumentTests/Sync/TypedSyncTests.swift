import BSONStore
import StitchSync
import Testing

/// Without these the typed calls of a synced collection would sync other documents than they name.
@Suite struct TypedSyncTests {
    struct Item: TypedDocument, Equatable {
        var id: Int
        var ownerID: String
        var name: String
        var complexity: Int
        var isDone = false

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case ownerID = "owner_id"
            case name, complexity, isDone
        }

        struct Fields: Sendable {
            let id = Field<Int>("_id")
            let ownerID = Field<String>("owner_id")
            let name = Field<String>("name")
            let complexity = Field<Int>("complexity")
            let isDone = Field<Bool>("isDone")
        }
        static var fields: Fields { Fields() }
    }

    private static let namespace = Namespace("shop", "items")
    private static let simple = Item(id: 1, ownerID: "ann", name: "pen", complexity: 3)
    private static let hard = Item(id: 2, ownerID: "ann", name: "clock", complexity: 7)

    private static func remote() throws -> InProcessRemote {
        let remote = try InProcessRemote(at: .inMemory)
        try remote.store.collection(namespace, of: Item.self).insertMany([simple, hard])
        return remote
    }

    private static func engine(
        _ remote: InProcessRemote, initial: InitialSubscriptions? = nil
    ) throws -> SyncEngine {
        try SyncEngine(
            store: DocumentStore(at: .inMemory), remote: remote, initialSubscriptions: initial)
    }

    @Test func `a typed subscription brings the documents that fulfil its condition`() async throws
    {
        let engine = try Self.engine(Self.remote())
        let items = engine.collection(Self.namespace, of: Item.self)
        let subscription = try await items.subscribe(named: "simple-items") { $0.complexity <= 4 }
        #expect(subscription.query.filter == ["complexity": ["$lte": .int64(4)]])
        #expect(try items.find().fetch() == [Self.simple])
        // The same name with another condition, whose documents the app sees while they arrive.
        let hard = try await items.subscribe(named: "simple-items", shows: .asTheyArrive) {
            $0.complexity > 4
        }
        #expect(hard.shows == .asTheyArrive)
        #expect(try items.find().fetch() == [Self.hard])
        try await items.subscribe { $0.ownerID == "ann" }
        #expect(try items.find().count() == 2)
        #expect(try await items.unsubscribe { $0.ownerID == "ann" })
        #expect(try await !items.unsubscribe { $0.ownerID == "bob" })
        try await engine.subscriptions.update { [items] changes in
            changes.removeAll()
            try changes.append(name: "one", in: items, shows: .asTheyArrive) { $0.id == 1 }
            try changes.append(in: items, shows: .asTheyArrive) { $0.id == 3 }
        }
        try await engine.subscriptions.waitForSynchronization()
        #expect(try items.find().fetch() == [Self.simple])
        let shows = try engine.subscriptions.active.subscriptions.map(\.shows)
        #expect(shows == [.asTheyArrive, .asTheyArrive])
    }

    @Test func `initial subscriptions take typed conditions`() async throws {
        let namespace = Self.namespace
        let engine = try Self.engine(
            Self.remote(),
            initial: InitialSubscriptions { changes in
                let simple = try SubscriptionQuery(namespace, of: Item.self) { $0.complexity <= 4 }
                try changes.append(simple, named: "simple-items")
            })
        try await engine.subscriptions.waitForSynchronization()
        let items = engine.collection(namespace, of: Item.self)
        #expect(try items.find { _ in .all }.fetch() == [Self.simple])
    }

    @Test func `typed writes are synced`() async throws {
        let remote = try Self.remote()
        let engine = try Self.engine(remote)
        let items = engine.collection(Self.namespace, of: Item.self)
        try await items.subscribe { _ in .all }
        let result = try await items.updateOne({ $0.id == 1 }) {
            $0.isDone.set(true)
            $0.complexity.increment()
        }
        #expect(result.modifiedCount == 1)
        try await items.find { $0.complexity > 3 }.update { $0.name.set("x") }
        try await engine.syncUntilQuiet()
        let there = remote.store.collection(Self.namespace, of: Item.self)
        let expected = Item(id: 1, ownerID: "ann", name: "x", complexity: 4, isDone: true)
        #expect(try there.findOne(id: 1) == expected)
        #expect(try there.findOne(id: 2)?.name == "x")

        #expect(try items.find { $0.isDone }.first() == expected)
        #expect(try items.find { _ in .all }.sort { $0.complexity.descending }.first()?.id == 2)
        let last = try items.find { _ in
            .all
        }.sort(\.id, .descending).limit(1).fetch()
        #expect(last.map(\.id) == [2])
        let after = try await items.findOneAndUpdate({ $0.id == 2 }, returnsAfter: true) {
            $0.complexity.set(1)
        } sort: {
            $0.id.ascending
        }
        #expect(after?.complexity == 1)
        var item = expected
        item.name = "replaced"
        try await items.replaceOne(["_id": 1], item)
        #expect(try await items.findOneAndDelete { $0.id == 2 }?.name == "x")
        #expect(try await items.find { $0.id == 2 }.delete() == 0)
        try await engine.syncUntilQuiet()
        #expect(try there.find().fetch() == [item])
        #expect(try await items.deleteOne { $0.name == "replaced" } == 1)
        try await engine.syncUntilQuiet()
        #expect(try there.find().count() == 0)
    }

    @Test func `an update without changes leaves the document`() async throws {
        let engine = try Self.engine(Self.remote())
        let items = engine.collection(Self.namespace, of: Item.self)
        try await items.subscribe { $0.id == 1 }
        let name: String? = nil
        await #expect(throws: StoreError.self) {
            try await items.updateOne({ $0.id == 1 }) { if let name { $0.name.set(name) } }
        }
        #expect(try items.findOne(id: 1) == Self.simple)
    }

    @Test func `an index and a pipeline take typed conditions`() async throws {
        struct Total: Codable, Equatable {
            var complexity: Int
        }
        let engine = try Self.engine(Self.remote())
        let items = engine.collection(Self.namespace, of: Item.self)
        try await items.subscribe { _ in .all }
        #expect(try await items.createIndex { $0.ownerID.ascending } == "owner_id_1")
        #expect(try await items.createIndex(["name": 1], ["unique": true]) == "name_1")
        let own = try Item.filter { $0.ownerID == "ann" }.bson
        let totals = try items.aggregate(
            [
                ["$match": .document(own)],
                ["$group": ["_id": nil, "complexity": ["$sum": "$complexity"]]],
            ], as: Total.self)
        #expect(totals == [Total(complexity: 10)])
        await #expect(throws: StoreError.self) {
            try await items.insertOne(Item(id: 5, ownerID: "ann", name: "pen", complexity: 1))
        }
    }

    @Test func `a document of another form does not hide the rest`() async throws {
        let remote = try Self.remote()
        try await remote.store.collection(Self.namespace).insertOne(["_id": 3, "name": 5])
        let engine = try Self.engine(remote)
        let items = engine.collection(Self.namespace, of: Item.self)
        try await items.subscribe { _ in .all }
        let found = try items.find().fetch()
        #expect(found.documents == [Self.simple, Self.hard])
        #expect(found.failures.map(\.documentID) == [3])
        #expect(found.failures.first?.field == "owner_id")
        let error = #expect(throws: DocumentDecodingFailure.self) { try items.findOne(id: 3) }
        #expect(error?.documentID == 3)
        // Raw documents need no decoding.
        let raw: [BSONDocument] = try engine.collection(Self.namespace).find().fetch()
        #expect(raw.count == 3)
    }
}
