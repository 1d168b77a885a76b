import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these a plan could answer rightly by reading everything, or read too little.
@Suite struct PlanTests {
    private static let things = Namespace("app", "things")

    private func collection(_ indexes: [BSONDocument] = []) throws -> DocumentCollection<
        BSONDocument
    > {
        let things = try DocumentStore(at: .inMemory).collection(Self.things)
        try things.insertMany(
            (Int32(0)..<200).map {
                ["_id": .int32($0), "a": .int32($0 % 10), "b": .int32(($0 * 7) % 200), "c": "x"]
            })
        for index in indexes { try things.createIndex(index) }
        return things
    }

    private func winning(
        _ things: DocumentCollection<BSONDocument>, _ filter: BSONDocument,
        sort: BSONDocument? = nil,
        command: ExplainedCommand = .find
    ) throws -> BSONDocument {
        let explained = try things.find(filter).sort(sort ?? [:]).explain(command: command)
        return explained[path: "queryPlanner.winningPlan"]?.documentValue ?? [:]
    }

    /// The stages from the outermost on, those of several inputs in brackets.
    private func stages(_ plan: BSONDocument) -> String {
        let name = plan["stage"]?.stringValue ?? "?"
        if let inner = plan["inputStage"]?.documentValue { return "\(name) \(stages(inner))" }
        guard let inputs = plan["inputStages"]?.arrayValue else { return name }
        return "\(name)[\(inputs.compactMap(\.documentValue).map(stages).joined(separator: ", "))]"
    }

    private func ids(
        _ things: DocumentCollection<BSONDocument>, _ filter: BSONDocument,
        sort: BSONDocument? = nil,
        hint: IndexHint? = nil
    ) throws -> [Int32] {
        let query = things.find(filter).sort(sort ?? [:])
        let found = try (hint.map(query.hint) ?? query).fetch()
        return found.compactMap { if case .int32(let id)? = $0["_id"] { id } else { nil } }
    }

    /// What the filter finds is what a look at every document finds.
    private func expectAnswer(
        _ things: DocumentCollection<BSONDocument>, _ filter: BSONDocument,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let all = try ids(things, filter, hint: .natural)
        #expect(try ids(things, filter).sorted() == all.sorted(), sourceLocation: sourceLocation)
        #expect(try things.find(filter).count() == all.count, sourceLocation: sourceLocation)
    }

    @Test func `each branch of an or has its index, and a document comes once`() throws {
        let things = try collection([["a": 1], ["b": 1]])
        let both: BSONDocument = ["$or": [["a": 3], ["b": 21]]]
        #expect(try stages(winning(things, both)) == "SUBPLAN FETCH OR[IXSCAN, IXSCAN]")
        try expectAnswer(things, both)
        #expect(try ids(things, both).count == 20)
        let outside: BSONDocument = ["$or": [["a": 3], ["c": "x"]]]
        #expect(
            try stages(winning(things, outside)) == "SUBPLAN COLLSCAN"
                || stages(winning(things, outside)) == "COLLSCAN")
        try expectAnswer(things, outside)
        let byID: BSONDocument = ["$or": [["_id": 7], ["a": 3, "b": 21]]]
        try expectAnswer(things, byID)
        #expect(try stages(winning(things, byID)).contains("OR["))
    }

    @Test func `branches that give the order are merged, others sorted`() throws {
        let things = try collection([["a": 1, "b": 1], ["c": 1, "b": 1]])
        let both: BSONDocument = ["$or": [["a": 3], ["a": 5]]]
        let merged = try stages(winning(things, both, sort: ["b": 1]))
        #expect(merged.contains("SORT_MERGE"))
        #expect(!merged.contains("SORT "))
        let sorted = try ids(things, both, sort: ["b": 1])
        #expect(sorted.count == 40)
        #expect(sorted == sorted.sorted { ($0 * 7) % 200 < ($1 * 7) % 200 })
        #expect(try stages(winning(things, both, sort: ["_id": -1])).hasPrefix("S"))
        #expect(try ids(things, both, sort: ["_id": -1]) == sorted.sorted(by: >))
    }

    @Test(arguments: [["b": 1], ["b": -1]] as [BSONDocument])
    func `ranges of several values are merged in the order of the next field`(
        _ sort: BSONDocument
    ) throws {
        let things = try collection([["a": 1, "b": 1]])
        let filter: BSONDocument = ["a": ["$in": [8, 2, 5]]]
        #expect(try stages(winning(things, filter, sort: sort)) == "FETCH IXSCAN")
        let natural = try ids(things, filter, sort: sort, hint: .natural)
        #expect(try ids(things, filter, sort: sort) == natural)
        #expect(natural.count == 60)
    }

    @Test func `counts and distinct values are read from keys alone`() throws {
        let things = try collection([["a": 1]])
        #expect(
            try stages(winning(things, ["a": ["$gte": 3, "$lt": 6]], command: .count))
                == "COUNT COUNT_SCAN")
        #expect(try things.find(["a": ["$gte": 3, "$lt": 6]]).count() == 60)
        #expect(
            try stages(winning(things, ["a": ["$gt": 7]], command: .distinct("a")))
                == "FETCH DISTINCT_SCAN")
        #expect(try things.find(["a": ["$gt": 7]]).distinct("a") == [8, 9])
        // An unanswered part, and null, which a missing field is filed as, take the documents.
        #expect(
            try !stages(winning(things, ["a": 3, "c": "x"], command: .count)).contains("COUNT_SCAN")
        )
        #expect(try things.find(["a": 3, "c": "y"]).count() == 0)
        #expect(try !stages(winning(things, ["a": .null], command: .count)).contains("COUNT_SCAN"))
    }

    @Test(
        arguments: [
            ("{\"a\": {\"$exists\": true}}", "[MinKey, MaxKey]"),
            ("{\"a\": {\"$exists\": false}}", "[null, null]"),
            ("{\"a\": {\"$ne\": 4}}", "[MinKey, 4), (4, MaxKey]"),
            ("{\"a\": {\"$nin\": [4, 2]}}", "[MinKey, 2), (2, 4), (4, MaxKey]"),
            ("{\"a\": {\"$elemMatch\": {\"$gt\": 2, \"$lt\": 4}}}", "(2, 4)"),
            ("{\"a\": {\"$type\": \"bool\"}}", "[false, true]"),
        ])
    func `bounds say what a test needs, and the answer stays`(
        _ text: String, _ bounds: String
    ) throws {
        let things = try collection([["a": 1]])
        try things.insertMany([
            ["_id": 300, "a": [1, 3, 9]], ["_id": 301, "a": .null], ["_id": 302, "c": 1],
            ["_id": 303, "a": true], ["_id": 304, "a": []], ["_id": 305, "a": [[3]]],
        ])
        let filter = try BSONDocument(extendedJSON: text)
        try expectAnswer(things, filter)
        let hinted = try ids(things, filter, hint: .name("a_1"))
        #expect(try hinted.sorted() == ids(things, filter, hint: .natural).sorted())
        let explained = try things.find(filter).hint(.name("a_1")).explain()
        let path = "queryPlanner.winningPlan.inputStage.indexBounds.a"
        let shown = explained[path: path]?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(shown.joined(separator: ", ") == bounds)
    }

    @Test func `plans that were not chosen are told`() throws {
        let things = try collection([["a": 1], ["b": 1]])
        let explained = try things.find(["a": 3, "b": ["$lt": 4]]).explain()
        #expect(
            explained[path: "queryPlanner.winningPlan.inputStage.indexName"] == "b_1")
        let rejected = explained[path: "queryPlanner.rejectedPlans"]?.arrayValue
        #expect(rejected?.count == 1)
        let other = rejected?.first { _ in true }?.documentValue
        #expect(other?[path: "inputStage.indexName"] == "a_1")
        let sole = try things.find(["a": 3]).explain()
        #expect(sole[path: "queryPlanner.rejectedPlans"] == [])
    }

    @Test(
        arguments: [
            ["a": 3], ["a": 3.0], ["a": .int64(3)], ["a": .double(.nan)], ["a": "x"], ["a": true],
            ["a": .null], ["a": [3]], ["d.e": 4], ["d.0": 1], ["_id": 3], ["a": -0.0],
        ] as [BSONDocument],
        [
            "{}", "{\"sparse\": true}", "{\"partialFilterExpression\": {\"a\": {\"$gt\": 2}}}",
            "{\"collation\": {\"locale\": \"en\", \"strength\": 2}}", "{\"hidden\": true}",
        ])
    func `one value of a field is found with any kind of index`(
        _ filter: BSONDocument, _ options: String
    ) throws {
        let options = try BSONDocument(extendedJSON: options)
        for pattern in [["a": 1], ["a": -1], ["a": 1, "c": 1], ["d.e": 1]] as [BSONDocument] {
            let things = try collection()
            try things.createIndex(pattern, options)
            try things.insertMany([
                ["_id": 300, "a": .double(.nan)], ["_id": 301, "a": "x"], ["_id": 302, "a": "X"],
                ["_id": 303, "a": true, "d": ["e": 4]], ["_id": 304, "a": .int64(3)],
            ])
            try expectAnswer(things, filter)
            // Arrays give several keys, and a second index a choice.
            try things.insertMany([
                ["_id": 400, "a": [3, 3, 4]], ["_id": 401, "d": [["e": 4], ["e": 5]]],
                ["_id": 402, "a": [[3], 1]], ["_id": 403, "d": [1]],
            ])
            try expectAnswer(things, filter)
            try things.createIndex(["a": 1, "b": -1])
            try expectAnswer(things, filter)
        }
    }

    @Test(arguments: [["a": 1], ["a": -1], ["a": 1, "b": 1]] as [BSONDocument], [false, true])
    func `a range takes and leaves out its ends`(_ pattern: BSONDocument, hasArrays: Bool) throws {
        let things = try collection([pattern])
        try things.insertMany([
            ["_id": 300, "a": .double(.nan)], ["_id": 301, "a": "x"], ["_id": 302, "a": "z"],
            ["_id": 303, "a": 4.5], ["_id": 304, "a": true],
        ])
        if hasArrays { try things.insertOne(["_id": 400, "a": [1, 9, "y"]]) }
        for (low, high) in [(3, 5), (5, 5), (5, 3), ("x", "z"), (3, "z")]
            as [(BSONValue, BSONValue)]
        {
            for lower in ["$gt", "$gte", "$eq"] {
                for upper in ["$lt", "$lte"] {
                    try expectAnswer(things, ["a": [lower: low, upper: high]])
                    try expectAnswer(things, ["a": [upper: high, lower: low]])
                    try expectAnswer(things, ["a": [upper: high]])
                }
                try expectAnswer(things, ["a": [lower: low]])
            }
        }
    }

    @Test(
        arguments: [
            ["$and": [["$or": [["a": 3], ["b": 21]]], ["$or": [["a": 2], ["b": 21]]]]],
            ["$or": [["a": 3], ["b": 21]], "$expr": ["$eq": ["$b", 21]]],
            ["$or": [["a": 3], ["b": 21]], "$nor": [["b": 21]]],
            ["$or": [["a": 3], ["b": 21]], "c": ["$elemMatch": ["x": 1, "y": 2]]],
            ["$or": [["a": 3, "$or": [["b": 3], ["b": 21]]], ["b": 21]]],
        ] as [BSONDocument])
    func `what stands beside an $or is asked of each of its branches`(
        _ filter: BSONDocument
    ) throws {
        try expectAnswer(try collection([["a": 1], ["b": 1]]), filter)
    }

    @Test func `a key that leads to no document is damage, not an answer`() throws {
        let things = try collection([["a": 1], ["b": 1]])
        try things.store.write { transaction in
            try transaction.connection.execute("DELETE FROM collection_1 WHERE id = 4")
        }
        for filter in [["a": 3], ["a": ["$gt": 2]], ["b": 21]] as [BSONDocument] {
            let error = #expect(throws: StoreError.self) { try things.find(filter).fetch() }
            #expect(error?.code == .corrupt)
            #expect(error?.message == "An index names a document that is not there")
        }
    }

    @Test func `a damaged document that an index leads to is named`() throws {
        let things = try collection([["a": 1]])
        try things.store.write { transaction in
            try transaction.connection.execute(
                "UPDATE collection_1 SET doc = x'0102030405060708' WHERE id = 4")
        }
        let error = #expect(throws: StoreError.self) { try things.find(["a": 3]).fetch() }
        #expect(error?.code == .corrupt)
        #expect(error?.documentID == 3)
    }

    @Test func `an index serves a collection that got another name`() throws {
        let things = try collection([["a": 1]])
        #expect(try ids(things, ["a": 3]).count == 20)
        let other = Namespace("app", "others")
        try things.store.write { try $0.renameCollection(Self.things, to: other) }
        let others = things.store.collection(other)
        #expect(try ids(others, ["a": 3]).count == 20)
        try others.insertOne(["_id": 500, "a": 3])
        #expect(try ids(others, ["a": 3]).count == 21)
        try expectAnswer(others, ["a": 3])
    }

    @Test func `the making of an index tells how far it is and can be stopped`() throws {
        let things = try collection()
        try things.insertMany((Int32(1_000)..<3_500).map { ["_id": .int32($0), "a": 1] })
        struct Stopped: Error {}
        var told: [Int] = []
        #expect(throws: Stopped.self) {
            try things.store.write { transaction in
                try transaction.createIndex(Self.things, IndexDefinition(["key": ["a": 1]])) {
                    told.append($0)
                    if $0 >= 2_000 { throw Stopped() }
                }
            }
        }
        #expect(told == [1_000, 2_000])
        #expect(try things.listIndexes().count == 1)
        told = []
        try things.store.write { transaction in
            try transaction.createIndex(Self.things, IndexDefinition(["key": ["a": 1]])) {
                told.append($0)
            }
        }
        #expect(told == [1_000, 2_000, 2_700])
        #expect(try things.listIndexes().count == 2)
    }

    @Test func `a sparse hashed index does not answer for documents that lack the field`() throws {
        let things = try DocumentStore(at: .inMemory).collection(Self.things)
        try things.insertMany([["_id": 1], ["_id": 2, "a": .null], ["_id": 3, "a": 5]])
        try things.createIndex(["a": "hashed"], ["sparse": true])
        #expect(try ids(things, ["a": .null]).sorted() == [1, 2])
        #expect(try ids(things, ["a": ["$exists": false]]) == [1])
        #expect(try ids(things, ["a": ["$in": [.null, 5]]]).sorted() == [1, 2, 3])
        #expect(try ids(things, ["a": 5]) == [3])
        #expect(stages(try winning(things, ["a": 5])).contains("IXSCAN"))
    }

    @Test func `a sort takes an array that a position names as it is`() throws {
        let documents: [BSONDocument] = [
            ["_id": 6, "a": [1], "b": 0], ["_id": 7, "a": [[1]], "b": 0],
            ["_id": 8, "a": [[0, 9]], "b": 0],
        ]
        for index: BSONDocument? in [nil, ["a.0": 1]] {
            let things = try DocumentStore(at: .inMemory).collection(Self.things)
            try things.insertMany(documents)
            if let index { try things.createIndex(index) }
            #expect(try ids(things, [:], sort: ["a.0": -1, "_id": 1]) == [7, 8, 6])
            #expect(try ids(things, [:], sort: ["a.0": 1]) == [6, 8, 7])
            #expect(try ids(things, [:], sort: ["b": 1, "a.0": 1]) == [6, 8, 7])
        }
    }
}
