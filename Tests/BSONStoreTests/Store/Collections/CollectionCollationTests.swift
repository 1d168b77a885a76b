import BSONStore
import Testing

/// A write that ignored a named collation would change or remove the wrong document.
///
/// Source: MongoDB manual, "Collation": operations inherit the collection's collation unless they
/// name another one; `{locale: "simple"}` is binary comparison.
@Suite struct CollectionCollationTests {
    private static let names = Namespace("app", "names")
    private static let weak: BSONDocument = ["locale": "en", "strength": 2]

    private func names() throws -> DocumentCollection<BSONDocument> {
        let store = try DocumentStore(at: .inMemory)
        try store.createCollection(Self.names, ["collation": .document(Self.weak)])
        let names = store.collection(Self.names)
        try names.insertMany([
            ["_id": "foo", "s": "ada", "e": ["x", "Y", "FOO"]], ["_id": 2, "s": "Bob", "e": []],
        ])
        return names
    }

    @Test(arguments: 0..<4)
    func `each write of a bulk finds by its own collation`(_ choice: Int) throws {
        let collations: [(Collation?, Bool)] = [
            (nil, true), (.simple, false), (try Collation(Self.weak), true),
            (try Collation(["locale": "simple"]), false),
        ]
        let (collation, finds) = collations[choice]
        let options = BulkWrite.Options(collation: collation)
        let set: BSONValue = ["$set": ["n": 1]]
        let writes: [BulkWrite] = [
            .updateOne(["_id": "FOO"], set, options: options),
            .updateMany(["_id": "FOO"], set, options: options),
            .updateOne(["s": "ADA"], ["$set": ["n": 1]], options: options),
            .replaceOne(["_id": "FOO"], ["n": 1], options: options),
            .deleteOne(["_id": "FOO"], options: options),
            .deleteMany(["s": "ADA"], options: options),
        ]
        for (number, write) in writes.enumerated() {
            let names = try names()
            let result = try names.bulkWrite([write])
            let touched = result.matchedCount + result.deletedCount
            #expect(touched == (finds ? 1 : 0), "write \(number)")
            let isSame = try names.find(["_id": "foo"]).first()?["n"] == nil
            let isThere = try names.find(["_id": "foo"]).first() != nil
            #expect((isSame && isThere) == !finds, "write \(number)")
        }
        let names = try names()
        try names.bulkWrite([
            .updateMany([:], ["$pull": ["e": "X"]], options: options),
            .updateMany(
                [:], ["$set": ["e.$[y]": 1]],
                options: .init(arrayFilters: [["y": "y"]], collation: collation)),
        ])
        let left: BSONValue = finds ? [1, "FOO"] : ["x", "Y", "FOO"]
        #expect(try names.find(["_id": "foo"]).first()?["e"] == left)
        let upserted = try names.bulkWrite([
            .updateOne(["s": "BOB"], set, options: .init(upsert: true, collation: collation))
        ])
        #expect(upserted.upsertedIDs.isEmpty == finds)
    }

    @Test func `the update of a query compares texts as its filter does`() async throws {
        let names = try names()
        let query = names.find(["_id": "foo"])
        try await query.collation(["locale": "simple"]).update(["$pull": ["e": "X"]])
        #expect(try query.first()?["e"] == ["x", "Y", "FOO"])
        let isX: BSONDocument = ["$set": ["isX": ["$in": ["X", "$e"]]]]
        try await query.collation(["locale": "simple"]).update(pipeline: [isX])
        #expect(try query.first()?["isX"] == false)
        try await query.update(pipeline: [isX])
        #expect(try query.first()?["isX"] == true)
        try await query.update(["$pull": ["e": "X"]])
        #expect(try query.first()?["e"] == ["Y", "FOO"])
    }

    @Test func `a pipeline that names the simple collation compares bytes`() throws {
        let names = try names()
        let match: [BSONDocument] = [["$match": ["_id": "FOO"]]]
        #expect(try names.aggregate(match).count == 1)
        #expect(try names.aggregate(match, options: .init(collation: .simple)).isEmpty)
        let filter = try Filter(["s": "ADA"], variables: nil, collation: .simple, now: .now)
        #expect(try names.store.read { try $0.count(Self.names, filter: filter) } == 0)
    }

    @Test func `a projection compares texts as its query does`() throws {
        let names = try names()
        let fields: BSONDocument = [
            "e": ["$elemMatch": ["$eq": "y"]], "t": ["$eq": ["$s", "ADA"]],
        ]
        let query = names.find(["_id": "foo"]).project(fields)
        #expect(try query.first() == ["_id": "foo", "e": ["Y"], "t": true])
        #expect(
            try query.collation(["locale": "simple"]).first() == ["_id": "foo", "t": false])
        let plain = try DocumentStore(at: .inMemory).collection(Self.names)
        try plain.insertOne(["_id": "foo", "s": "ada", "e": ["x", "Y"]])
        #expect(
            try plain.find().project(fields).collation(Self.weak).first()
                == ["_id": "foo", "e": ["Y"], "t": true])
        let options = FindOneAndOptions(projection: try Projection(fields))
        #expect(
            try names.findOneAndUpdate(["_id": "FOO"], ["$set": ["n": 1]], options: options)
                == ["_id": "foo", "e": ["Y"], "t": true])
        #expect(
            try names.findOneAndDelete(["_id": "FOO"], options: options)
                == ["_id": "foo", "e": ["Y"], "t": true])
    }

    @Test func `the element of a position is the one that the query found`() throws {
        let names = try names()
        let found: BSONDocument = ["_id": "foo", "e": ["FOO"]]
        #expect(try names.find(["e": "foo"]).project(["e.$": 1]).first() == found)
        let sorted = names.find(["e": "foo"]).sort(["s": 1]).project(["e.$": 1])
        #expect(try sorted.first() == found)
        let options = FindOneAndOptions(projection: try Projection(["e.$": 1]))
        #expect(try names.findOneAndDelete(["e": "foo"], options: options) == found)
    }

    @Test func `an expression on the time runs under a named collation`() throws {
        let names = try names()
        let past: BSONDocument = ["$expr": ["$lt": [["$toDate": .int64(0)], "$$NOW"]]]
        #expect(try names.find(past).collation(Self.weak).count() == 2)
    }

    @Test func `the index of ids is listed with its collation, and bounds by texts are refused`()
        throws
    {
        let names = try names()
        let collation = try Collation(Self.weak).document
        #expect(try names.listIndexes().first?.document["collation"] == .document(collation))
        let listed = try names.store.read {
            try $0.listCollections("app", filter: .all, nameOnly: false)
        }
        #expect(listed.first?[path: "idIndex.collation"] == .document(collation))
        let byID = names.find().hint(.name("_id_"))
        let error = #expect(throws: StoreError.self) {
            try byID.bounds(min: ["_id": "FOO"]).fetch() as [BSONDocument]
        }
        #expect(error?.code.rawValue == 51174)
        #expect(try byID.bounds(min: ["_id": 0], max: ["_id": 3]).count() == 1)
        try names.createIndex(["s": 1])
        let byText = names.find().hint(.name("s_1")).bounds(min: ["s": "B"])
        #expect(try byText.count() == 1)
        #expect(throws: StoreError.self) { try byText.collation(["locale": "simple"]).count() }
    }

    @Test func `the details of a refusal name the clauses that fail under the collation`() throws {
        let store = try DocumentStore(at: .inMemory)
        let validator: BSONDocument = [
            "$and": [["a": "X"], ["b": 1], ["$expr": ["$eq": ["$a", "X"]]]]
        ]
        try store.createCollection(
            Self.names,
            ["validator": .document(validator), "collation": .document(Self.weak)])
        let names = store.collection(Self.names)
        let error = #expect(throws: StoreError.self) {
            try names.insertOne(["_id": 1, "a": "x", "b": 2])
        }
        let clauses = error?.errorInfo?["details"]?.documentValue?["clausesNotSatisfied"]
        #expect(clauses?.arrayValue?.values.map { $0.documentValue?["index"] } == [1])
        try names.insertOne(["_id": 2, "a": "x", "b": 1])
    }
}
