import BSONStore
import StitchSync
import Testing

/// Without these a function that is not asynchronous could not read synced documents, or the two
/// forms of a read would differ.
@Suite struct LiveReadingTests {
    private struct Name: Codable, Equatable { var name: String }
    private struct Total: Codable, Equatable {
        var done: Bool
        var count: Int

        enum CodingKeys: String, CodingKey { case done = "_id", count }
    }

    private static func tasks() async throws -> SyncCollection<LiveTask> {
        let engine = try SyncEngine(
            store: DocumentStore(at: .inMemory), remote: InProcessRemote(at: .inMemory))
        let tasks = engine.collection(LiveTask.namespace, of: LiveTask.self)
        try await tasks.insertMany([
            LiveTask(id: 1, name: "a", complexity: 3), LiveTask(id: 2, name: "b", complexity: 2),
            LiveTask(id: 3, name: "c", complexity: 1, done: true),
        ])
        return tasks
    }

    /// Reads with BSON filters, without `await`.
    private func readBSON(_ tasks: SyncCollection<LiveTask>) throws {
        #expect(try tasks.find().fetch().map(\.id) == [1, 2, 3])
        #expect(try tasks.find(["done": true]).fetch().strict.map(\.id) == [3])
        #expect(try tasks.find(["done": false]).sort(["_id": -1]).first()?.id == 2)
        #expect(try tasks.findOne(id: 1)?.name == "a")
        #expect(try tasks.find(["_id": 4]).first() == nil)
        #expect(try tasks.find().count() == 3)
        #expect(try tasks.find().limit(2).count() == 2)
        #expect(try tasks.find(["done": false]).distinct("name") == ["a", "b"])
        #expect(try tasks.aggregate([["$match": ["_id": 1]]]).count == 1)
        let raw = tasks.engine.collection(LiveTask.namespace)
        let documents: [BSONDocument] = try raw.find(["_id": 1]).fetch()
        #expect(documents.first?["name"] == "a")
        let projected = try raw.find().sort(["_id": -1]).project(["name": 1, "_id": 0]).first()
        #expect(projected == ["name": "c"])
        // By an id alone, which has a way of its own.
        let byID = try raw.find(["_id": 1]).project(["done": 1, "_id": 0]).first()
        #expect(byID == ["done": false])
        #expect(throws: StoreError.self) { try tasks.find(["a": ["$no": 1]]).fetch() }
        #expect(throws: StoreError.self) { try tasks.aggregate([["$out": "x"]]) }
        #expect(throws: DocumentDecodingFailure.self) {
            try tasks.find(["_id": 1]).project(["done": 1]).first()
        }
    }

    /// Reads with conditions, without `await`.
    private func readTyped(_ tasks: SyncCollection<LiveTask>) throws {
        let found = try tasks.find {
            !$0.done
        }.sort(\.complexity).skip(1).limit(1).fetch()
        #expect(found.map(\.id) == [1])
        #expect(try tasks.find { !$0.done }.sort { $0.id.descending }.first()?.id == 2)
        #expect(try tasks.find { $0.complexity < 3 }.count() == 2)
        #expect(try Set(tasks.find().distinct(\.name)) == ["a", "b", "c"])
        #expect(try tasks.find { $0.done }.distinct(\.name) == ["c"])
        let later = try LiveTask.filter { $0.id > 1 }.bson
        let totals = try tasks.aggregate(
            [["$match": .document(later)], ["$sortByCount": "$done"], ["$sort": ["_id": 1]]],
            as: Total.self)
        #expect(totals == [Total(done: false, count: 1), Total(done: true, count: 1)])
        let names = try tasks.find {
            $0.done
        }.project {
            $0.name.included
        }.decoded(as: Name.self).fetch()
        #expect(names == [Name(name: "c")])
        let last = try tasks.find { _ in
            .all
        }.sort(\.id, .descending).project {
            $0.name.included
        }.decoded(as: Name.self).first()
        #expect(last == Name(name: "c"))
    }

    @Test func `a function that is not asynchronous reads synced documents`() async throws {
        let tasks = try await Self.tasks()
        try readBSON(tasks)
        try readTyped(tasks)
    }

    @Test func `the asynchronous forms return the same`() async throws {
        let tasks = try await Self.tasks()
        #expect(try tasks.find().fetch().map(\.id) == [1, 2, 3])
        #expect(try tasks.find(["done": false]).sort(["_id": -1]).first()?.id == 2)
        #expect(try tasks.findOne(id: 1)?.name == "a")
        #expect(try tasks.find().limit(2).count() == 2)
        #expect(try tasks.find { $0.complexity < 3 }.count() == 2)
        #expect(try tasks.find(["done": false]).distinct("name") == ["a", "b"])
        #expect(try tasks.find { $0.done }.distinct(\.name) == ["c"])
        let names = try tasks.find {
            $0.done
        }.project {
            $0.name.included
        }.decoded(as: Name.self).fetch()
        #expect(names == [Name(name: "c")])
        let name = try tasks.find {
            $0.id == 2
        }.project {
            $0.name.included
        }.decoded(as: Name.self).first()
        #expect(name == Name(name: "b"))
        let raw = tasks.engine.collection(LiveTask.namespace)
        let projected = try raw.find(["_id": 2]).project(["name": 1, "_id": 0]).first()
        #expect(projected == ["name": "b"])
        let documents: [BSONDocument] = try raw.find().fetch()
        #expect(documents.count == 3)
    }

    @Test func `each document is visited, and those that do not decode are returned`()
        async throws
    {
        let tasks = try await Self.tasks()
        let raw = tasks.engine.collection(LiveTask.namespace)
        try await raw.insertOne(["_id": 4, "done": true])
        var visited: [Int] = []
        let all = try tasks.find().forEach { visited.append($0.id) }
        #expect(visited == [1, 2, 3] && all.map(\.documentID) == [4])
        let done = try tasks.find { $0.done }.sort { $0.id.ascending }.forEach {
            visited.append($0.id)
        }
        #expect(visited == [1, 2, 3, 3] && done.map(\.documentID) == [4])
        var ids: [BSONValue] = []
        try raw.find(["done": true]).sort(["_id": -1]).forEach {
            if let id = $0["_id"] { ids.append(id) }
        }
        #expect(ids == [4, .int64(3)])
    }

    @Test func `an index is created for every type of document`() async throws {
        let tasks = try await Self.tasks()
        #expect(try await tasks.createIndex { $0.name.ascending } == "name_1")
        let raw = tasks.engine.collection(LiveTask.namespace)
        #expect(try await raw.createIndex(["complexity": -1], ["unique": true]) == "complexity_-1")
        await #expect(throws: StoreError.self) {
            try await tasks.insertOne(LiveTask(id: 9, complexity: 1))
        }
    }
}
