import BSONStore
import Testing

/// A query is a value: what it finds, its writes change; what is wrong in it, its verb throws.
@Suite struct QueryTests {
    private static let namespace = Namespace("app", "people")

    private func people() throws -> DocumentCollection<BSONDocument> {
        let people = try DocumentStore(at: .inMemory).collection(Self.namespace)
        try people.insertMany(
            (1...6).map { ["_id": .int32($0), "age": .int32(10 * ((7 * $0) % 6)), "n": 0] })
        return people
    }

    private func changed(_ people: DocumentCollection<BSONDocument>) throws -> [BSONValue] {
        try people.find(["n": ["$gt": 0]]).sort(["_id": 1]).fetch().compactMap { $0["_id"] }
    }

    @Test func `the samples of the page on the store hold`() async throws {
        let people = try people()
        // Docs/STORE.md
        let adults = people.find(["age": ["$gte": 18]])
        let oldest = try adults.sort(["age": -1]).limit(10).fetch()
        let count = try adults.count()
        try await adults.update(["$set": ["adult": true]])
        #expect(oldest.compactMap { $0["age"] } == [50, 40, 30, 20] && count == 4)
        #expect(try people.find(["adult": true]).count() == 4)
    }

    @Test func `a write changes exactly the documents that the query finds`() async throws {
        let queries: [(Query<BSONDocument>) -> Query<BSONDocument>] = [
            { $0 }, { $0.limit(2) }, { $0.skip(1).limit(2) }, { $0.sort(["age": -1]).limit(2) },
            { $0.sort(["age": 1]).skip(2) }, { $0.hint(.natural).limit(1) },
            { $0.hint(.reverseNatural).limit(1) }, { $0.limit(100) }, { $0.skip(100) },
        ]
        for (number, refine) in queries.enumerated() {
            let people = try people()
            let query = refine(people.find(["age": ["$gte": 10]]))
            let ids = try query.fetch().compactMap { $0["_id"] }
                .sorted { ($0.int64Value ?? 0) < ($1.int64Value ?? 0) }
            let result = try await query.update(["$inc": ["n": 1]])
            #expect(try changed(people) == ids, "query \(number)")
            #expect(result.matchedCount == ids.count && result.modifiedCount == ids.count)
            #expect(try query.count() == ids.count, "query \(number)")
            #expect(try await query.delete() == ids.count, "query \(number)")
            #expect(try people.find().count() == 6 - ids.count, "query \(number)")
        }
    }

    @Test func `the positional operator of a limited update means the element found`() async throws
    {
        let lists = try DocumentStore(at: .inMemory).collection(Self.namespace)
        try await lists.insertMany([["_id": 1, "a": [1, 5, 5]], ["_id": 2, "a": [5]]])
        try await lists.find(["a": 5]).sort(["_id": 1]).limit(1).update(["$set": ["a.$": 9]])
        #expect(try lists.findOne(id: 1)?["a"] == [1, 9, 5])
        #expect(try lists.findOne(id: 2)?["a"] == [5])
    }

    @Test func `a pipeline updates, and an upsert inserts`() async throws {
        let people = try people()
        try await people.find(["_id": 1]).update(pipeline: [["$set": ["n": ["$add": ["$n", 5]]]]])
        #expect(try people.findOne(id: 1)?["n"] == 5)
        let result = try await people.find(["_id": 9]).update(["$set": ["n": 1]], upsert: true)
        #expect(result.upsertedID == 9)
        let error = await #expect(throws: StoreError.self) {
            try await people.find(["_id": 10]).limit(1).update(["$set": ["n": 1]], upsert: true)
        }
        #expect(error?.code == .badValue)
        #expect(try people.findOne(id: 10) == nil)
    }

    @Test func `a limit of zero is no document`() async throws {
        let people = try people()
        let none = people.find(["age": ["$gte": 0]]).sort(["age": 1]).limit(0)
        #expect(try none.fetch().isEmpty && none.first() == nil && none.count() == 0)
        var visited = 0
        try none.forEach { _ in visited += 1 }
        #expect(visited == 0)
        #expect(try await none.update(["$set": ["n": 1]]).matchedCount == 0)
        #expect(try await none.delete() == 0)
        #expect(try await people.find().limit(0).delete() == 0)
        #expect(try people.find().count() == 6)
        var snapshots = try none.observe().makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.isEmpty == true)
        await #expect(throws: StoreError.self) {
            try await people.find(["_id": 9]).limit(0).update(["$set": ["n": 1]], upsert: true)
        }
        #expect(throws: StoreError.self) {
            try people.find(["age": ["$no": 1]]).limit(0).count()
        }
    }

    @Test func `bounds count for each verb`() async throws {
        let people = try people()
        try people.createIndex(["age": 1])
        let middle = people.find().hint(.name("age_1")).bounds(
            min: ["age": 10], max: ["age": 40])
        #expect(try middle.fetch().count == 3 && middle.count() == 3)
        #expect(try middle.skip(1).count() == 2 && middle.limit(2).count() == 2)
        #expect(try middle.skip(2).limit(2).count() == 1 && middle.limit(0).count() == 0)
        #expect(try middle.distinct("age") == [10, 20, 30])
        let error = await #expect(throws: StoreError.self) {
            try await people.find(["age": 77]).hint(.name("age_1")).bounds(min: ["age": 10])
                .update(["$set": ["n": 1]], upsert: true)
        }
        #expect(error?.code == .badValue)
        #expect(try people.find().count() == 6)
        #expect(throws: StoreError.self) { try people.find().bounds(min: ["age": 1]).count() }
        #expect(throws: StoreError.self) {
            try people.find().bounds(min: ["age": 1]).distinct("age")
        }
    }

    @Test func `what is invalid is the error of the verb, and nothing is changed`() async throws {
        let people = try people()
        let invalid = [
            people.find(["age": ["$no": 1]]), people.find().limit(-1), people.find().skip(-1),
            people.find().sort(["age": "up"]), people.find().project(["a": 1, "b": 0]),
            people.find().collation(["locale": "xx-none"]),
        ]
        for (number, query) in invalid.enumerated() {
            let note: Comment = "query \(number)"
            #expect(throws: StoreError.self, note) { try query.fetch() as [BSONDocument] }
            #expect(throws: StoreError.self, note) { try query.first() }
            #expect(throws: StoreError.self, note) { try query.count() }
            #expect(throws: StoreError.self, note) { try query.distinct("age") }
            #expect(throws: StoreError.self, note) { try query.observe() }
            #expect(throws: StoreError.self, note) { try query.explain() }
            await #expect(throws: StoreError.self, note) {
                try await query.update(["$set": ["n": 1]])
            }
            await #expect(throws: StoreError.self, note) { try await query.delete() }
        }
        #expect(try changed(people).isEmpty && people.find().count() == 6)
        #expect(throws: StoreError.self) { try people.find().limit(1).distinct("age") }
        await #expect(throws: StoreError.self) { try await people.find().update(["n": 1]) }
        await #expect(throws: StoreError.self) { try await people.find().update([:]) }
    }

    @Test func `a collation concerns filter and order, and an explicit simple one the id`() throws {
        let store = try DocumentStore(at: .inMemory)
        try store.createCollection(
            Self.namespace, ["collation": ["locale": "en", "strength": 2]])
        let people = store.collection(Self.namespace)
        try people.insertMany([["_id": "a", "n": "b"], ["_id": "c", "n": "B"]])
        #expect(try people.find(["_id": "A"]).first()?["_id"] == "a")
        #expect(try people.find(["_id": "A"]).collation(["locale": "simple"]).first() == nil)
        #expect(try people.find(["n": "b"]).count() == 2)
        #expect(try people.find(["n": "b"]).collation(["locale": "simple"]).count() == 1)
        let upperFirst = people.find().sort(["n": 1]).collation(
            ["locale": "en", "caseFirst": "upper"])
        #expect(try upperFirst.fetch().compactMap { $0["_id"] } == ["c", "a"])
    }

    @Test func `a query is a value: refining a copy leaves it as it was`() throws {
        let people = try people()
        let all = people.find()
        _ = all.limit(1)
        #expect(try all.fetch().count == 6)
        #expect(try all.limit(1).limit(2).fetch().count == 2)
    }
}
