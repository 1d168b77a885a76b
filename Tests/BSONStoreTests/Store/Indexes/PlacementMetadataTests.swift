import BSONStore
import Testing

/// Without these `$meta` would show no value, or that of another index, for a record or a key.
///
/// Source: MongoDB manual, "$meta"; the server's
/// `jstests/core/query/project/projection_meta_index_key.js`.
@Suite struct PlacementMetadataTests {
    private static let things = Namespace("app", "things")
    private static let key: BSONDocument = ["_id": 1, "k": ["$meta": "indexKey"]]

    private func store() throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Self.things)
        try things.insertOne(["_id": 1, "a": 10, "b": "x"])
        try things.insertOne(["_id": 2, "a": 20])
        try things.insertOne(["_id": 3, "a": 30, "b": "z"])
        return store
    }

    private func find(
        _ store: DocumentStore, _ filter: BSONDocument, _ projection: BSONDocument,
        sort: BSONDocument? = nil, hint: IndexHint? = nil
    ) throws -> [BSONDocument] {
        let options = try FindOptions(
            sort: sort.map { try SortOrder($0) }, projection: Projection(projection), hint: hint)
        return try store.read { transaction in
            try transaction.find(Self.things, filter: Filter(filter), options: options)
        }
    }

    private func aggregate(
        _ store: DocumentStore, _ stages: BSONArray, hint: IndexHint? = nil
    ) throws -> [BSONDocument] {
        var options = PipelineOptions()
        options.hint = hint
        let pipeline = try Pipeline(stages, options: options)
        return try store.read { try $0.aggregate(Self.things, pipeline) }
    }

    @Test func `a record's number is shown in queries and pipelines`() throws {
        let store = try store()
        let shown: BSONDocument = ["_id": 1, "r": ["$meta": "recordId"]]
        let expected: [BSONDocument] = [
            ["_id": 3, "r": .int64(3)], ["_id": 2, "r": .int64(2)], ["_id": 1, "r": .int64(1)],
        ]
        #expect(try find(store, [:], shown, sort: ["_id": -1]) == expected)
        #expect(
            try aggregate(store, [["$sort": ["_id": -1]], ["$project": .document(shown)]])
                == expected)
        #expect(
            try aggregate(
                store,
                [
                    ["$addFields": ["r": ["$meta": "recordId"]]], ["$sort": ["a": -1]],
                    ["$project": ["r": 1]],
                ]) == expected)
        #expect(
            try find(store, ["_id": 2], ["_id": 1, "r": ["$literal": ["$meta": "recordId"]]])
                == [["_id": 2, "r": ["$meta": "recordId"]]])
    }

    @Test func `an index key is shown if an index finds the document`() throws {
        let store = try store()
        let pattern: BSONDocument = ["a": 1, "b": 1]
        try store.collection(Self.things).createIndex(pattern)
        let hint = IndexHint.keyPattern(pattern)
        let expected: [BSONDocument] = [
            ["_id": 2, "k": ["a": 20, "b": nil]], ["_id": 3, "k": ["a": 30, "b": "z"]],
        ]
        #expect(try find(store, ["a": ["$gt": 10]], Self.key, hint: hint) == expected)
        #expect(
            try find(store, ["a": ["$gt": 10]], Self.key, sort: ["a": 1], hint: hint) == expected)
        #expect(
            try aggregate(
                store,
                [
                    ["$sort": ["a": 1]], ["$match": ["a": ["$gt": 10]]],
                    ["$project": .document(Self.key)],
                ], hint: hint) == expected)
        #expect(
            try find(store, ["_id": ["$gt": 2]], Self.key) == [["_id": 3, "k": ["_id": 3]]])
    }

    @Test func `no index key is shown without an index, and for a lookup by id`() throws {
        let store = try store()
        #expect(try find(store, ["a": 20], Self.key) == [["_id": 2]])
        #expect(try find(store, ["_id": 2], Self.key) == [["_id": 2]])
        #expect(
            try aggregate(store, [["$match": ["a": 20]], ["$project": .document(Self.key)]])
                == [["_id": 2]])
    }

    @Test func `documents of a view are stored nowhere`() throws {
        let store = try store()
        let view = Namespace("app", "shown")
        try store.createCollection(view, ["viewOn": "things", "pipeline": []])
        let options = try FindOptions(
            projection: Projection(["_id": 1, "r": ["$meta": "recordId"]]))
        let found = try store.read { try $0.find(view, filter: .all, options: options) }
        #expect(found == [["_id": 1], ["_id": 2], ["_id": 3]])
    }
}
