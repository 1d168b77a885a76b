import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

struct IndexTests {
    static let people = Namespace("shop", "people")

    private func collection() throws -> DocumentCollection<BSONDocument> {
        try DocumentStore(at: .inMemory).collection(Self.people)
    }

    /// Which index a query would use, as a name, and whether it gives the order.
    private func plan(
        _ collection: DocumentCollection<BSONDocument>, _ filter: BSONDocument,
        sort: BSONDocument? = nil
    ) throws -> String {
        try collection.store.read { transaction in
            let order = try sort.map { try SortOrder($0) }
            let plan = try transaction.executor.plan(
                collection.namespace, try Filter(filter), order)
            switch plan.rows {
            case .keys: return "keys"
            case .members(let index): return "members of \(index.definition.name)"
            case .range(let range):
                return range.lower == nil && range.upper == nil ? "all" : "range"
            case .index(let scan):
                let order = sort == nil ? "" : plan.isSorted ? " sorted" : " unsorted"
                return scan.index.definition.name + order + (scan.isReversed ? " reversed" : "")
            case .union(let plans): return "union of \(plans.count)"
            }
        }
    }

    @Test("queries use the index that helps, and its order where it can")
    func plans() throws {
        let people = try collection()
        try people.insertMany(
            (0..<400).map {
                ["_id": .int32($0), "age": .int32($0 % 50), "name": .string("n\($0 % 7)")]
            })
        try people.createIndex(["age": 1])
        try people.createIndex(["name": 1, "age": -1])
        #expect(try plan(people, ["age": 3]) == "age_1")
        #expect(try plan(people, ["age": ["$gte": 3, "$lt": 5]]) == "age_1")
        #expect(try plan(people, ["other": 3]) == "all")
        #expect(try plan(people, ["_id": 3, "age": 3]) == "keys")
        #expect(try plan(people, [:], sort: ["age": -1]) == "age_1 sorted reversed")
        #expect(try plan(people, ["name": "n1"], sort: ["age": -1]) == "name_1_age_-1 sorted")
        #expect(
            try plan(people, ["name": "n1"], sort: ["age": 1]) == "name_1_age_-1 sorted reversed")
        #expect(try plan(people, [:], sort: ["name": 1, "age": 1]) == "all")
        #expect(
            try plan(people, [:], sort: ["name": -1, "age": 1]) == "name_1_age_-1 sorted reversed")
        let found = try people.find(["name": "n1"]).sort(["age": -1]).fetch()
        #expect(
            found.map { $0["age"]?.int64Value ?? -1 }
                == found.map { $0["age"]?.int64Value ?? -1 }.sorted(by: >))
        try people.insertOne(["_id": "list", "age": [1, 2]])
        #expect(try plan(people, [:], sort: ["age": -1]) == "all")
        #expect(try plan(people, ["age": 3]) == "age_1")
    }

    @Test("hidden, sparse and partial indexes are used only where they hold every answer")
    func restricted() throws {
        let people = try collection()
        try people.insertMany([["_id": 1, "a": 1], ["_id": 2], ["_id": 3, "a": 9]])
        try people.createIndex(["a": 1], ["sparse": true])
        #expect(try plan(people, ["a": 1]) == "a_1")
        #expect(try plan(people, ["a": .null]) == "all")
        #expect(try plan(people, [:], sort: ["a": 1]) == "all")
        #expect(try people.find(["a": .null]).fetch().count == 1)
        try people.dropIndexes()
        try people.createIndex(["a": 1], ["partialFilterExpression": ["a": ["$gt": 5]]])
        #expect(try plan(people, ["a": ["$gt": 7]]) == "a_1")
        #expect(try plan(people, ["a": ["$gt": 2]]) == "all")
        try people.dropIndexes()
        try people.createIndex(["a": 1], ["hidden": true])
        #expect(try plan(people, ["a": 1]) == "all")
    }

    @Test("a unique index refuses a second document with MongoDB's error, and changes nothing")
    func unique() throws {
        let people = try collection()
        try people.createIndex(["mail": 1, "at": 1], ["unique": true])
        try people.insertOne(["_id": 1, "mail": "x", "at": 1])
        try people.insertOne(["_id": 2, "mail": "x", "at": 2])
        let error = #expect(throws: StoreError.self) {
            try people.insertOne(["_id": 3, "mail": "x", "at": .double(1)])
        }
        #expect(error?.code == .duplicateKey)
        #expect(
            error?.message == "E11000 duplicate key error collection: shop.people index: "
                + "mail_1_at_1 dup key: { mail: \"x\", at: 1.0 }")
        #expect(error?.keyPattern == ["mail": 1, "at": 1])
        #expect(error?.keyValue == ["mail": "x", "at": .double(1)])
        #expect(throws: StoreError.self) {
            try people.updateOne(["_id": 2], ["$set": ["at": 1]])
        }
        #expect(try people.find(["_id": 2]).first() == ["_id": 2, "mail": "x", "at": 2])
        #expect(try people.find().count() == 2)
        try people.updateOne(["_id": 1], ["$set": ["at": 5]])
        try people.insertOne(["_id": 3, "mail": "x", "at": 1])
        try people.deleteOne(["_id": 3])
        try people.insertOne(["_id": 4, "mail": "x", "at": 1])
        // The same document may give one key twice.
        try people.createIndex(["tags": 1], ["unique": true, "sparse": true])
        try people.insertOne(["_id": 5, "mail": "y", "tags": ["a", "a"]])
        #expect(throws: StoreError.self) {
            try people.insertOne(["_id": 6, "mail": "z", "tags": ["b", "a"]])
        }
        #expect(try people.find(["tags": "b"]).fetch().isEmpty)
    }

    @Test("a unique index over equal keys, or one over parallel arrays, is not made")
    func refusedBuild() throws {
        let people = try collection()
        try people.insertMany([
            ["_id": 1, "a": 1], ["_id": 2, "a": 1], ["_id": 3, "b": [1], "c": [1]],
        ])
        let duplicate = #expect(throws: StoreError.self) {
            try people.createIndex(["a": 1], ["unique": true])
        }
        #expect(duplicate?.code == .duplicateKey)
        let parallel = #expect(throws: StoreError.self) {
            try people.createIndex(["b": 1, "c": 1])
        }
        #expect(parallel?.message == "cannot index parallel arrays [c] [b]")
        #expect(parallel?.code.rawValue == 171)
        #expect(try people.listIndexes().map(\.name) == ["_id_"])
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try people.store.write { transaction in
                try transaction.createIndex(Self.people, IndexDefinition(["key": ["a": 1]])) { _ in
                    throw Stop()
                }
            }
        }
        #expect(try people.listIndexes().map(\.name) == ["_id_"])
    }

    @Test("a compound index may go through one array of documents with several fields")
    func sharedArray() throws {
        let people = try collection()
        try people.createIndex(["items.sku": 1, "items.count": 1])
        try people.insertOne([
            "_id": 1, "items": [["sku": "a", "count": 2], ["sku": "b", "count": 9]],
        ])
        #expect(try people.find(["items.sku": "b", "items.count": 9]).fetch().count == 1)
        #expect(try people.find(["items.sku": "a", "items.count": 9]).fetch().count == 1)
        #expect(try plan(people, ["items.sku": "a"]) == "items.sku_1_items.count_1")
    }

    @Test(
        "a specification that is none is refused with MongoDB's code",
        arguments: [
            ("{\"key\": {}}", 67), ("{\"key\": {\"a\": 0}}", 67), ("{\"key\": {\"a\": true}}", 67),
            ("{\"key\": {\"a\": \"foo\"}}", 67), ("{\"key\": {\"\": 1}}", 67),
            ("{\"key\": {\"$a\": 1}}", 67), ("{}", 9), ("{\"key\": {\"a\": 1}, \"foo\": 1}", 197),
            ("{\"key\": {\"a\": 1}, \"unique\": \"x\"}", 14),
            ("{\"key\": {\"a\": 1}, \"name\": 5}", 14),
            ("{\"key\": {\"a\": 1, \"b\": 1}, \"expireAfterSeconds\": 5}", 67),
            ("{\"key\": {\"a\": 1}, \"expireAfterSeconds\": \"x\"}", 67),
        ] as [(String, Int32)])
    func refusedSpecification(text: String, code: Int32) throws {
        let people = try collection()
        let specification = try BSONDocument(extendedJSON: text)
        let error = #expect(throws: StoreError.self) { try people.createIndexes([specification]) }
        #expect(error?.code.rawValue == code)
    }

    @Test("names and keys that are taken are refused, the same index is not")
    func conflicts() throws {
        let people = try collection()
        #expect(try people.createIndex(["a": 1, "b": -1]) == "a_1_b_-1")
        #expect(try people.createIndex(["a": 1, "b": -1]) == "a_1_b_-1")
        func code(_ keys: BSONDocument, _ options: BSONDocument) -> Int32? {
            #expect(throws: StoreError.self) { try people.createIndex(keys, options) }?.code
                .rawValue
        }
        #expect(code(["a": 1, "b": -1], ["name": "other"]) == 85)
        #expect(code(["a": 1, "b": -1], ["unique": true]) == 86)
        #expect(code(["c": 1], ["name": "a_1_b_-1"]) == 86)
        #expect(
            try people.listIndexes().map(\.document) == [
                ["v": 2, "key": ["_id": 1], "name": "_id_"],
                ["v": 2, "key": ["a": 1, "b": -1], "name": "a_1_b_-1"],
            ])
        let missing = #expect(throws: StoreError.self) { try people.dropIndex("nope") }
        #expect(missing?.code == .indexNotFound)
        let reserved = #expect(throws: StoreError.self) { try people.dropIndex("_id_") }
        #expect(reserved?.code == .invalidOptions)
        try people.dropIndex("a_1_b_-1")
        #expect(try people.listIndexes().count == 1)
    }

    @Test("an index that another connection makes or drops is seen by this one")
    func otherConnection() throws {
        let directory = try TemporaryDirectory()
        let first = try DocumentStore(at: .file(directory.file())).collection(Self.people)
        let second = try DocumentStore(at: .file(directory.file())).collection(Self.people)
        try first.insertOne(["_id": 1, "a": 1])
        try second.createIndex(["a": 1], ["unique": true])
        #expect(throws: StoreError.self) { try first.insertOne(["_id": 2, "a": 1]) }
        try first.insertOne(["_id": 3, "a": 3])
        #expect(try plan(second, ["a": 3]) == "a_1")
        #expect(try second.find(["a": 3]).fetch().count == 1)
        // What makes the index multikey is noticed by the other as well.
        try first.insertOne(["_id": 4, "a": [5, 6]])
        #expect(try second.find(["a": ["$gt": 4]]).fetch().count == 1)
        try second.dropIndex("a_1")
        try first.insertOne(["_id": 2, "a": 1])
        #expect(try first.find(["a": 1]).fetch().count == 2)
    }

    @Test("an index whose making is undone leaves nothing behind")
    func undone() throws {
        let people = try collection()
        try people.insertOne(["_id": 1, "a": 1])
        struct Undo: Error {}
        #expect(throws: Undo.self) {
            try people.store.write { transaction in
                try transaction.createIndex(Self.people, IndexDefinition(["key": ["a": 1]]))
                throw Undo()
            }
        }
        try people.insertOne(["_id": 2, "a": 1])
        #expect(try plan(people, ["a": 1]) == "all")
        #expect(try people.find(["a": 1]).fetch().count == 2)
    }

    /// The fields below a path each have a key in a wildcard index.
    @Test(arguments: [["$**": 1], ["a.$**": 1]] as [BSONDocument])
    func `a document with several fields below a path comes once`(_ keys: BSONDocument) throws {
        let people = try collection()
        try people.createIndex(keys)
        try people.insertMany([["_id": 1, "a": ["x": 1, "y": 2, "z": 3]], ["_id": 2, "b": 1]])
        let filter: BSONDocument = ["a": ["$exists": true]]
        #expect(try people.find(filter).fetch().map { $0["_id"] } == [1])
        #expect(try people.find(filter).count() == 1)
        #expect(try people.updateMany(filter, ["$inc": ["n": 1]]).matchedCount == 1)
        #expect(try people.deleteMany(filter) == 1)
    }

    /// What passes the query but not the index's filter is not in the index.
    @Test(
        arguments: [
            (["a": ["$lt": 5]], ["a": .double(.nan)]),
            (["a": ["$lte": 5]], ["a": ["$in": [.double(.nan), 1]]]),
            (["a": ["$exists": true]], ["a": ["$gte": .minKey]]),
            (["a": ["$exists": true]], ["a": ["$lte": .maxKey]]),
            (["a": ["$lt": "a"]], ["a": "B"]),
        ] as [(BSONDocument, BSONDocument)])
    func `a partial index is used only for what is in it`(
        _ partial: BSONDocument, _ filter: BSONDocument
    ) throws {
        let people = try collection()
        let documents: [BSONDocument] = [
            ["_id": 1, "a": 1], ["_id": 2, "a": .double(.nan)], ["_id": 3], ["_id": 4, "a": "b"],
            ["_id": 5, "a": "B"], ["_id": 6, "a": .null],
        ]
        try people.insertMany(documents)
        let collation: BSONDocument = ["locale": "en", "strength": 2]
        let query = try Filter(
            filter, options: FilterOptions(collation: try Collation(collation)))
        func find() throws -> [BSONValue] {
            try people.store.read {
                try $0.find(people.namespace, filter: query).compactMap { $0["_id"] }
            }
        }
        let before = try find()
        #expect(!before.isEmpty)
        try people.createIndex(
            ["a": 1],
            ["partialFilterExpression": .document(partial), "collation": .document(collation)])
        #expect(Set(try find()) == Set(before))
    }
}
