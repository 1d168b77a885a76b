import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Hints, and what MongoDB's documentation says of what they hide.
struct HintTests {
    private static let people = Namespace("shop", "people")

    private func store(_ documents: [BSONDocument]) throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        try store.collection(Self.people).insertMany(documents)
        return store
    }

    private func code(_ query: Query<BSONDocument>) throws -> Int32? {
        do {
            _ = try query.fetch() as [BSONDocument]
            return nil
        } catch let error as StoreError {
            return error.code.rawValue
        }
    }

    /// MongoDB manual, "Wildcard Indexes", "Compound Wildcard Indexes": they only make queries
    /// faster; `$gte: MinKey` and `$lte: MaxKey` pass documents without the field ("Comparison and
    /// Sort Order").
    @Test(
        arguments: [
            ["k": 1, "$**": 1], ["$**": 1, "k": -1], ["k": 1, "a.$**": 1, "z": 1], ["$**": 1],
        ] as [BSONDocument])
    func `a wildcard index hides no document`(_ pattern: BSONDocument) throws {
        let store = try store([
            ["_id": 1, "k": 1, "a": ["b": 1]], ["_id": 2, "k": 2, "a": ["b": 1]],
            ["_id": 3, "a": 5], ["_id": 4, "k": 2, "a": ["b": [1, 7]]],
        ])
        let people = store.collection(Self.people)
        let filters: [BSONDocument] = [
            ["a.b": 1], ["k": 1], ["k": ["$gt": 0], "a.b": 1], ["a": 5], ["a.b": ["$exists": true]],
            ["$or": [["a.b": 7], ["k": 2]]], ["a.b": ["$gte": .minKey]], ["k": ["$lte": .maxKey]],
        ]
        let expected = try filters.map { try people.find($0).fetch().map { $0["_id"] } }
        let isCompound = pattern.underestimatedCount > 1
        let options: BSONDocument =
            isCompound && pattern["$**"] != nil ? ["wildcardProjection": ["k": false]] : [:]
        try people.createIndex(pattern, options)
        for (filter, expected) in zip(filters, expected) {
            #expect(Set(try people.find(filter).fetch().map { $0["_id"] }) == Set(expected))
            #expect(try people.find(filter).count() == expected.count)
            let seen = try people.updateMany(filter, ["$inc": ["n": 1]]).matchedCount
            #expect(seen == expected.count)
        }
        #expect(try people.deleteMany(["a.b": 1]) == 3)
    }

    /// MongoDB manual, "Sparse Indexes": "if a sparse index would result in an incomplete result
    /// set …, MongoDB will not use that index unless a hint() explicitly specifies" it; the
    /// server's `query_planner.cpp` reads the whole index that a hint names.
    @Test(
        arguments: [
            ["sparse": true], ["partialFilterExpression": ["a": ["$gt": 1]]],
        ] as [BSONDocument])
    func `a hint shows only what is in the index`(_ options: BSONDocument) throws {
        let store = try store([
            ["_id": 1, "b": 1], ["_id": 2, "a": 2, "b": 2], ["_id": 3, "a": 3],
        ])
        let people = store.collection(Self.people)
        try people.createIndex(["a": 1], options)
        let hint = IndexHint.keyPattern(["a": 1])
        try store.read { transaction in
            for filter in [Filter.all, try Filter(["b": ["$lt": 5]]), try Filter(["_id": 1])] {
                let there = try transaction.find(Self.people, filter: filter).filter {
                    $0.contains(key: "a")
                }
                let found = try transaction.find(
                    Self.people, filter: filter, options: try FindOptions(hint: hint))
                #expect(found == there)
                #expect(
                    try transaction.count(Self.people, filter: filter, hint: hint) == there.count)
                let ids = try transaction.distinct(
                    Self.people, field: "_id", filter: filter, hint: hint)
                #expect(ids == there.compactMap { $0["_id"] })
            }
        }
        try store.write { transaction in
            transaction.hint = hint
            let deleted = try transaction.deleteMany(Self.people, filter: .all)
            #expect(deleted == 2)
        }
        #expect(try people.find().fetch().map { $0["_id"] } == [1])
    }

    /// MongoDB manual, "hint": `{ $natural : -1 }` "for a reverse collection scan".
    @Test func `the last document is taken where a hint says so`() throws {
        let store = try store([["_id": 1, "a": 1], ["_id": 2, "a": 1], ["_id": 3, "a": 1]])
        try store.write { transaction in
            transaction.hint = try IndexHint(.document(["$natural": -1]))
            let filter = try Filter(["a": 1])
            let set = try Update(["$set": ["b": 1]] as BSONDocument)
            let outcome = try transaction.updateOne(Self.people, filter: filter, update: set)
            #expect(outcome.images.first?.before?["_id"] == 3)
            #expect(try transaction.deleteOne(Self.people, filter: filter)?["_id"] == 3)
            transaction.hint = .natural
            #expect(try transaction.deleteOne(Self.people, filter: filter)?["_id"] == 1)
        }
    }

    /// The server's `query_planner.cpp`: no whole index of paths is read, and no bounds of whole
    /// keys are taken of an index that has none.
    @Test func `what an index cannot answer is an error`() throws {
        let store = try store([["_id": 1, "a": 1]])
        let people = store.collection(Self.people)
        try people.createIndex(["$**": 1])
        try people.createIndex(["b": 1, "c.$**": 1])
        let wildcard = IndexHint.keyPattern(["$**": 1])
        #expect(try code(people.find().hint(wildcard)) == 291)
        #expect(
            try people.find(["a": 1]).hint(wildcard).fetch().count == 1)
        for pattern in [["$**": 1], ["b": 1, "c.$**": 1]] as [BSONDocument] {
            let query = people.find().hint(.keyPattern(pattern)).bounds(min: pattern)
            #expect(try code(query) == 51174)
        }
    }

    /// MongoDB manual, "collMod", "dryRun": "only checks"; `collmod_convert_to_unique.js`.
    @Test func `a dry run changes nothing`() throws {
        let store = try store([["_id": 1, "a": 1]])
        let people = store.collection(Self.people)
        try people.createIndex(["a": 1], ["prepareUnique": true])
        let head = try store.read { try $0.definitionID }
        let change: BSONDocument = [
            "collMod": "people", "index": ["keyPattern": ["a": 1], "unique": true], "dryRun": true,
        ]
        let answer = try store.modifyCollection(Self.people, change)
        #expect(answer == ["unique_new": true])
        let index = try store.read { try $0.indexes(Self.people) }.first { $0.name == "a_1" }
        #expect(index?.isUnique == false)
        #expect(try store.read { try $0.definitionID } == head)
        for other in [
            ["collMod": "people", "validator": ["a": 2], "dryRun": true],
            ["collMod": "people", "index": ["name": "a_1", "hidden": true], "dryRun": true],
        ] as [BSONDocument] {
            #expect(throws: StoreError.self) { try store.modifyCollection(Self.people, other) }
        }
        #expect(try store.read { try $0.indexes(Self.people) }.contains { $0.isHidden } == false)
        try people.insertOne(["_id": 2, "a": 3])
    }

    /// MongoDB manual, "Aggregation Variables", "NOW": "returns the current datetime value".
    @Test func `a validator sees the time of the write`() throws {
        let store = try DocumentStore(at: .inMemory)
        let until: BSONDocument = ["$expr": ["$gt": ["$until", "$$NOW"]]]
        try store.createCollection(Self.people, ["validator": .document(until)])
        let people = store.collection(Self.people)
        let past = BSONValue.datetime(BSONDatetime(milliseconds: 1_000_000_000_000))
        let future = BSONValue.datetime(BSONDatetime(milliseconds: 30_000_000_000_000))
        #expect(throws: StoreError.self) { try people.insertOne(["_id": 1, "until": past]) }
        try people.insertOne(["_id": 2, "until": future])
        #expect(throws: StoreError.self) {
            try people.updateOne(["_id": 2], ["$set": ["until": past]])
        }
        #expect(try people.find(until).count() == 1)
        #expect(try people.find(["$expr": ["$lt": ["$until", "$$NOW"]]]).fetch().isEmpty)
    }

    /// MongoDB manual, "Collation": operations inherit the collection's; `{locale: "simple"}` is
    /// binary comparison.
    @Test func `updates compare texts as the collection does`() throws {
        let store = try DocumentStore(at: .inMemory)
        try store.createCollection(
            Self.people, ["collation": ["locale": "en", "strength": 2]])
        let people = store.collection(Self.people)
        func after(_ update: BSONDocument, _ filters: [BSONDocument] = []) throws -> BSONValue? {
            try people.deleteMany([:])
            try people.insertOne(["_id": 1, "a": ["x", "Y"], "m": "b"])
            try people.updateOne(["_id": 1], update, arrayFilters: filters)
            return try people.find(["_id": 1]).first()?["a"]
        }
        #expect(try after(["$pull": ["a": "X"]]) == ["Y"])
        #expect(try after(["$pull": ["a": ["$in": ["X"]]]]) == ["Y"])
        #expect(try after(["$pullAll": ["a": ["X", "y"]]]) == [])
        #expect(try after(["$addToSet": ["a": ["$each": ["X", "y", "z"]]]]) == ["x", "Y", "z"])
        #expect(try after(["$set": ["a.$[e]": 1]], [["e": "y"]]) == ["x", 1])
        _ = try after(["$min": ["m": "B"]])
        #expect(try people.find(["_id": 1]).first()?["m"] == "b")
        try store.write { transaction in
            let update = try Update(["$pull": ["a": "X"]] as BSONDocument, collation: .simple)
            try transaction.updateMany(Self.people, filter: .all, update: update)
        }
        #expect(try people.find(["_id": 1]).first()?["a"] == ["x", "Y"])
    }
}
