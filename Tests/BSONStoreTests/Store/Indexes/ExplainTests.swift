import BSONStore
import Testing

/// Without these nobody could see which index answers a query.
@Suite struct ExplainTests {
    private static let things = Namespace("app", "things")

    private func collection() throws -> DocumentCollection<BSONDocument> {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Self.things)
        try things.insertMany(
            (0..<100).map { ["_id": .int32($0), "a": .int32($0 % 10), "b": .int32($0)] })
        return things
    }

    private func plan(_ explained: BSONDocument) -> BSONDocument {
        explained[path: "queryPlanner.winningPlan"]?.documentValue ?? [:]
    }

    private func stages(_ explained: BSONDocument) -> [String] {
        var names: [String] = []
        var stage: BSONDocument? = plan(explained)
        while let current = stage {
            names.append(current["stage"]?.stringValue ?? "?")
            stage = current["inputStage"]?.documentValue
        }
        return names
    }

    @Test func `a scan of everything counts all documents`() throws {
        let explained = try collection().find(["a": 3]).explain(.executionStats)
        #expect(
            plan(explained)
                == ["stage": "COLLSCAN", "filter": ["a": ["$eq": 3]], "direction": "forward"])
        #expect(explained[path: "executionStats.nReturned"] == 10)
        #expect(explained[path: "executionStats.totalDocsExamined"] == 100)
        #expect(explained[path: "executionStats.totalKeysExamined"] == 0)
    }

    @Test func `an index's bounds are told and only its documents read`() throws {
        let things = try collection()
        try things.createIndex(["a": 1, "b": -1])
        let explained = try things.find(["a": 3, "b": ["$gte": 50]]).explain(.executionStats)
        #expect(stages(explained) == ["FETCH", "IXSCAN"])
        let scan = try #require(plan(explained)["inputStage"]?.documentValue)
        #expect(scan["indexName"] == "a_1_b_-1")
        #expect(scan["keyPattern"] == ["a": 1, "b": -1])
        #expect(scan["direction"] == "forward")
        #expect(scan["indexBounds"] == ["a": ["[3, 3]"], "b": ["[inf.0, 50]"]])
        #expect(explained[path: "executionStats.nReturned"] == 5)
        #expect(explained[path: "executionStats.totalDocsExamined"] == 5)
        #expect(explained[path: "executionStats.totalKeysExamined"] == 5)
    }

    @Test(
        arguments: [
            (["a": ["$in": [7, 3]]], ["[3, 3]", "[7, 7]"]),
            (["a": ["$gt": 3, "$lt": 7]], ["(3, 7)"]),
            (["a": .null], ["[null, null]"]),
            (["a": ["$lt": "x"]], ["[\"\", \"x\")"]),
            (["a": ["$gte": "x"]], ["[\"x\", {})"]),
        ] as [(BSONDocument, [BSONValue])])
    func `bounds are written as MongoDB writes them`(
        _ filter: BSONDocument, _ bounds: [BSONValue]
    ) throws {
        let things = try collection()
        try things.createIndex(["a": 1])
        let explained = try things.find(filter).explain()
        #expect(
            plan(explained)[path: "inputStage.indexBounds"]
                == ["a": .array(BSONArray(bounds))])
    }

    @Test func `order and cuts are stages of their own`() throws {
        let things = try collection()
        let sorted = try things.find(["a": 3]).sort(["b": -1]).skip(2).limit(3).explain(
            .executionStats)
        #expect(stages(sorted) == ["SKIP", "SORT", "COLLSCAN"])
        #expect(plan(sorted)[path: "inputStage.sortPattern"] == ["b": -1])
        #expect(sorted[path: "executionStats.nReturned"] == 3)
        try things.createIndex(["b": 1])
        let byIndex = try things.find().sort(["b": -1]).skip(2).limit(3).explain(.executionStats)
        #expect(stages(byIndex) == ["LIMIT", "SKIP", "FETCH", "IXSCAN"])
        #expect(plan(byIndex)[path: "inputStage.inputStage.inputStage.direction"] == "backward")
        #expect(byIndex[path: "executionStats.totalDocsExamined"] == 5)
        #expect(byIndex[path: "executionStats.nReturned"] == 3)
    }

    @Test func `an id is looked up, a missing collection has an end`() throws {
        let things = try collection()
        #expect(stages(try things.find(["_id": 5]).explain()) == ["IDHACK"])
        #expect(stages(try things.find(["_id": ["$gt": 5]]).explain()) == ["FETCH", "IXSCAN"])
        #expect(
            stages(try things.find(["_id": 5]).hint(.keyPattern(["_id": 1])).explain())
                == ["FETCH", "IXSCAN"])
        let none = things.store.collection(Namespace("app", "none"))
        #expect(
            plan(try none.find(["a": 1]).explain())
                == ["stage": "EOF", "type": "nonExistentNamespace"])
    }

    @Test func `a filter of one part is told as that part`() throws {
        let explained = try collection().find(["$and": [["$or": [["a": 3]]]]]).explain()
        #expect(explained[path: "queryPlanner.parsedQuery"] == ["a": ["$eq": 3]])
    }

    @Test func `a hint decides which index is used`() throws {
        let things = try collection()
        try things.createIndexes([["key": ["a": 1]], ["key": ["b": 1]]])
        func explain(_ hint: BSONValue) throws -> BSONDocument {
            try things.find(["a": 3]).hint(IndexHint(hint)).explain(.executionStats)
        }
        let byB = try explain("b_1")
        #expect(plan(byB)[path: "inputStage.indexBounds"] == ["b": ["[MinKey, MaxKey]"]])
        #expect(byB[path: "executionStats.totalDocsExamined"] == 100)
        #expect(byB[path: "executionStats.nReturned"] == 10)
        #expect(stages(try explain(["a": 1])) == ["FETCH", "IXSCAN"])
        #expect(stages(try explain(["$natural": 1])) == ["COLLSCAN"])
        let error = #expect(throws: StoreError.self) { try explain(["c": 1]) }
        #expect(error?.code == .badValue)
    }

    @Test func `documents go when their time is over`() throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
        let things = store.collection(Self.things)
        try things.createIndex(["at": 1], ["expireAfterSeconds": 10])
        func date(_ seconds: Int64) -> BSONValue {
            .datetime(BSONDatetime(milliseconds: seconds * 1_000))
        }
        try things.insertMany([
            ["_id": 1, "at": date(100)], ["_id": 2, "at": date(101)],
            ["_id": 3, "at": [date(500), date(90)]], ["_id": 4, "at": "never"], ["_id": 5],
        ])
        #expect(try store.expire(now: BSONDatetime(milliseconds: 110_000)) == 2)
        #expect(try things.find().fetch().map { $0["_id"] } == [2, 4, 5])
        #expect(try store.changes(after: 5).changes.map(\.kind) == [.delete, .delete])
        #expect(try store.expire(now: BSONDatetime(milliseconds: 110_000)) == 0)
    }

    /// Otherwise a document that the index holds would never go.
    @Test func `whose time is over is said by the index's own collation`() throws {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Self.things)
        try things.createIndex(
            ["at": 1],
            [
                "expireAfterSeconds": 10, "partialFilterExpression": ["state": "done"],
                "collation": ["locale": "en", "strength": 2],
            ])
        let past = BSONValue.datetime(BSONDatetime(milliseconds: 0))
        try things.insertMany([
            ["_id": 1, "state": "DONE", "at": past], ["_id": 2, "state": "open", "at": past],
        ])
        #expect(try store.expire(now: BSONDatetime(milliseconds: 110_000)) == 1)
        #expect(try things.find().fetch().map { $0["_id"] } == [2])
    }

    /// MongoDB makes such indexes, and its "TTL Monitor" passes over them.
    @Test func `no time is over by an index of another kind`() throws {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Self.things)
        try things.createIndex(["at": "hashed"], ["expireAfterSeconds": 10])
        try things.createIndex(["words": "text"], ["expireAfterSeconds": 10])
        let past = BSONValue.datetime(BSONDatetime(milliseconds: 0))
        try things.insertMany([["_id": 1, "at": past], ["_id": 2, "_fts": past]])
        #expect(try store.expire(now: BSONDatetime(milliseconds: 110_000)) == 0)
        let error = #expect(throws: StoreError.self) {
            try things.createIndex(["a": 1, "words": "text"], ["expireAfterSeconds": 10])
        }
        #expect(error?.code == .cannotCreateIndex)
    }
}
