import BSONStore
import Testing

@testable import StitchServer

/// Without these, a write would wake every device that waits at the server, or none that it concerns.
@Suite struct CommitNotifierTests {
    private static let items = Namespace("app", "items")
    private static let others = Namespace("app", "others")
    private static let scopes: [CommitScope] = [
        .collection(items), .collection(others), .database("app"), .database("web"), .everything,
    ]

    /// A store with a notifier, and who was woken by it.
    private struct World {
        let store: DocumentStore
        let news: CommitNotifier
        private let woken = Locked<Set<Int>>([])

        init(changesMax: Int = 1_000) throws {
            store = try DocumentStore(
                at: .inMemory, options: .init(changeHistory: .keep(changesMax: changesMax)))
            for namespace in [items, others] { try store.createCollection(namespace) }
            news = CommitNotifier(store) { $0.database == "admin" }
        }

        /// Lets one wait in each scope while a body runs; returns the places of those that woke.
        func woken(by body: () throws -> Void) throws -> Set<Int> {
            woken.withLock { $0 = [] }
            let generation = news.generation
            let ends = scopes.indices.map { index in
                news.wait(after: generation, in: scopes[index]) { [woken] in
                    woken.withLock { _ = $0.insert(index) }
                }
            }
            try body()
            for end in ends { end() }
            return woken.withLock { $0 }
        }
    }

    @Test func `a commit wakes those whose documents it wrote, and who waits for everything`()
        throws
    {
        let world = try World()
        let (items, others) = (
            world.store.collection(Self.items), world.store.collection(Self.others)
        )
        #expect(try world.woken { try items.insertOne(["_id": 1]) } == [0, 2, 4])
        #expect(
            try world.woken { try items.updateOne(["_id": 1], ["$set": ["a": 1]]) } == [0, 2, 4])
        #expect(try world.woken { try others.insertOne(["_id": 1]) } == [1, 2, 4])
        #expect(try world.woken { try items.deleteOne(["_id": 1]) } == [0, 2, 4])
        let web = world.store.collection(Namespace("web", "pages"))
        try web.insertOne(["_id": 1])
        #expect(try world.woken { try web.insertOne(["_id": 2]) } == [3, 4])
        // One transaction over several collections.
        let both = try world.woken {
            try world.store.write { transaction in
                try transaction.insert(Self.items, ["_id": 7])
                try transaction.insert(Namespace("web", "pages"), ["_id": 7])
            }
        }
        #expect(both == [0, 2, 3, 4])
    }

    @Test func `what changes collections, users or rights wakes everybody`() throws {
        let world = try World()
        let all = Set(Self.scopes.indices)
        #expect(try world.woken { try world.store.createCollection(.init("x", "new")) } == all)
        #expect(
            try world.woken { try world.store.collection(Self.items).createIndex(["a": 1]) } == all)
        #expect(try world.woken { _ = try world.store.dropCollection(.init("x", "new")) } == all)
        #expect(
            try world.woken { try world.store.createCollection(.init("admin", "system.users")) }
                == all)
        let users = world.store.collection(Namespace("admin", "system.users"))
        #expect(try world.woken { try users.insertOne(["_id": "app.ann"]) } == all)
    }

    @Test func `a commit between the look and the wait is not missed`() throws {
        let world = try World()
        let generation = world.news.generation
        let count = Locked(0)
        func wait(_ scope: CommitScope) {
            _ = world.news.wait(after: generation, in: scope) { count.withLock { $0 += 1 } }
        }
        try world.store.collection(Self.others).insertOne(["_id": 1])
        wait(.collection(Self.items))
        #expect(count.withLock { $0 } == 0)
        try world.store.collection(Self.items).insertOne(["_id": 1])
        #expect(count.withLock { $0 } == 1)
        wait(.collection(Self.items))
        wait(.database("app"))
        wait(.everything)
        #expect(count.withLock { $0 } == 4)
    }

    @Test
    func `who waits behind many changes of others is woken before the feed forgets its place`()
        throws
    {
        let world = try World(changesMax: 100)
        let others = world.store.collection(Self.others)
        let woken = try world.woken {
            for number in 0..<9 { try others.insertOne(["_id": .int(number)]) }
        }
        #expect(woken == [1, 2, 4])
        #expect(try world.woken { try others.insertOne(["_id": 9]) } == Set(Self.scopes.indices))
    }
}
