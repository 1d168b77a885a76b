import BSONStore
import Testing

/// Without these a typed live query would miss a change, end at a document of another form, or name
/// other rows than those that changed.
@Suite(.timeLimit(.minutes(30))) struct LiveQueryTests {
    @Test func `a snapshot has the documents in order and the places of the changes`() async throws
    {
        let tasks = try LiveTask.collection()
        try await tasks.insertMany([
            LiveTask(id: 1, complexity: 1), LiveTask(id: 2, complexity: 2),
            LiveTask(id: 3, complexity: 3), LiveTask(id: 9, complexity: 9),
        ])
        let query = try tasks.find {
            $0.complexity <= 4
        }.sort(\.complexity).observe()
        var snapshots = query.makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first.documents.map(\.id) == [1, 2, 3])
        #expect(first.ids == [.int64(1), .int64(2), .int64(3)] && first.insertedIDs == first.ids)
        #expect(first.changes == ListChanges(inserted: [0, 1, 2]))

        // One commit: 1 and 3 change places, 2 is removed, 4 is inserted, 9 stays outside.
        try await tasks.documents.bulkWrite([
            .updateOne(["_id": 1], ["$set": ["complexity": 4]]), .deleteOne(["_id": 2]),
            .insertOne(["_id": 4, "name": "new", "complexity": 0, "done": false]),
            .updateOne(["_id": 9], ["$set": ["name": "unseen"]]),
        ])
        let second = try #require(try await snapshots.next())
        #expect(second.documents.map(\.id) == [4, 3, 1])
        #expect(
            second.changes
                == ListChanges(
                    removed: [1], inserted: [0], moved: [.init(from: 2, to: 1)], changed: [2]))
        #expect(second.removedIDs == [.int64(2)] && second.insertedIDs == [4])
        #expect(second.changedIDs == [.int64(1)])
    }

    @Test func `a limit lets the next document move up`() async throws {
        let tasks = try LiveTask.collection()
        try await tasks.insertMany((1...4).map { LiveTask(id: $0, complexity: $0) })
        var snapshots = try tasks.find { _ in
            .all
        }.sort(\.id, .descending).limit(2).observe().makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.map(\.id) == [4, 3])
        try await tasks.deleteOne { $0.id == 4 }
        let next = try await snapshots.next()
        #expect(next?.documents.map(\.id) == [3, 2])
        #expect(next?.changes == ListChanges(removed: [0], inserted: [1]))
        #expect(throws: StoreError.self) { try tasks.find { $0.done }.limit(-1).observe() }
    }

    @Test func `a document that does not decode is reported and ends nothing`() async throws {
        let tasks = try LiveTask.collection()
        try await tasks.insertMany([
            LiveTask(id: 1, complexity: 1), LiveTask(id: 2, complexity: 1),
        ])
        var snapshots = try tasks.find(["complexity": ["$lt": 5]]).observe().makeAsyncIterator()
        #expect(try await snapshots.next()?.failures.isEmpty == true)

        try await tasks.documents.updateOne(["_id": 1], ["$set": ["name": 5]])
        let broken = try #require(try await snapshots.next())
        #expect(broken.documents.map(\.id) == [2])
        #expect(broken.failures.map(\.documentID) == [.int64(1)])
        #expect(broken.failures.first?.field == "name")
        #expect(broken.changes == ListChanges(removed: [0]) && broken.removedIDs == [.int64(1)])

        try await tasks.documents.updateOne(["_id": 1], ["$set": ["name": "ok"]])
        let mended = try #require(try await snapshots.next())
        #expect(mended.documents.map(\.id) == [1, 2] && mended.failures.isEmpty)
        #expect(mended.changes == ListChanges(inserted: [0]))
    }

    @Test func `documents of a view that share an id are told apart`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let view = Namespace("app", "tags")
        try store.createCollection(
            view, ["viewOn": "things", "pipeline": [["$unwind": "$tags"]]])
        let things = store.collection(Namespace("app", "things"))
        try await things.insertOne(["_id": 1, "tags": ["a", "b", "c"]])
        var snapshots = try store.collection(view).find().observe().makeAsyncIterator()
        #expect(try await snapshots.next()?.changes == ListChanges(inserted: [0, 1, 2]))
        try await things.updateOne(["_id": 1], ["$set": ["tags": ["a", "x"]]])
        let next = try await snapshots.next()
        #expect(next?.documents.compactMap { $0["tags"] } == ["a", "x"])
        #expect(next?.changes == ListChanges(removed: [2], changed: [1]))
    }

    @Test(arguments: UInt64(1)...10)
    func `lists that apply each snapshot's changes equal what a query finds`(
        seed: UInt64
    ) async throws {
        let tasks = try LiveTask.collection()
        var snapshots = try tasks.find {
            $0.complexity < 8
        }.sort {
            $0.complexity.ascending
            $0.id.ascending
        }.limit(6).observe().makeAsyncIterator()
        var state = seed
        func number(below end: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(end))
        }
        var rows: [LiveTask] = []
        var seen = 0
        for _ in 0..<40 {
            let id = number(below: 12)
            if number(below: 4) == 0 {
                try await tasks.deleteOne { $0.id == id }
            } else {
                let task = LiveTask(
                    id: id, name: "\(number(below: 3))", complexity: number(below: 10))
                try await tasks.replaceOne(["_id": .int64(Int64(id))], task, upsert: true)
            }
            let expected = try tasks.find {
                $0.complexity < 8
            }.sort {
                $0.complexity.ascending
                $0.id.ascending
            }.limit(6).fetch()
            guard rows != expected.documents else { continue }
            let snapshot = try #require(try await snapshots.next())
            snapshot.changes.apply(to: &rows) { snapshot.documents[$0] }
            #expect(rows == expected.documents && snapshot.documents == rows)
            seen += 1
        }
        #expect(seen > 10)
    }

    @Test func `a cancelled query ends, one of a closed store throws`() async throws {
        let tasks = try LiveTask.collection()
        let query = try tasks.find { $0.done }.observe()
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var count = 0
                for try await _ in query { count += 1 }
                return count
            }
            group.cancelAll()
            return try await group.next()
        }
        #expect(count == 0)
        tasks.documents.store.close()
        var snapshots = query.makeAsyncIterator()
        await #expect(throws: StoreError.self) { try await snapshots.next() }
    }

    @Test func `each document is visited, and those that do not decode are returned`() throws {
        let tasks = try LiveTask.collection()
        try tasks.insertMany((1...3).map { LiveTask(id: $0, complexity: $0, done: $0 > 1) })
        try tasks.documents.insertOne(["_id": 4, "done": true])
        var visited: [Int] = []
        let failures = try tasks.find { $0.done }.sort { $0.id.descending }.forEach {
            visited.append($0.id)
        }
        #expect(visited == [3, 2] && failures.map(\.documentID) == [4])
        struct Enough: Error {}
        #expect(throws: Enough.self) { _ = try tasks.find().forEach { _ in throw Enough() } }
        struct Name: Codable, Equatable { var name: String }
        let name = try tasks.find {
            $0.done
        }.project {
            $0.name.included
        }.decoded(as: Name.self).first()
        #expect(name == Name(name: "task"))
    }
}
