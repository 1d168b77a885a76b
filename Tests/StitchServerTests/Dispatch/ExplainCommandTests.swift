import BSONStore
import Testing

@testable import StitchServer

/// Explanations in the form that MongoDB's own tests look at.
///
/// Source: the server's `jstests/core/query/explain`.
@Suite struct ExplainCommandTests {
    private let server: OfflineServer

    init() throws {
        server = try OfflineServer(requiresSignIn: false)
        let documents = (0..<10).map { BSONValue.document(["_id": .int32($0), "a": 1]) }
        answer(["insert": "items", "documents": .array(BSONArray(documents))])
        answer([
            "createIndexes": "items",
            "indexes": [["key": ["a": 1, "_id": 1], "name": "a"]],
        ])
    }

    @discardableResult
    private func answer(_ command: BSONDocument, in database: String = "shop") -> BSONDocument {
        var command = command
        command["$db"] = .string(database)
        return server.answer(command: command) ?? [:]
    }

    private func execution(_ command: BSONDocument) -> BSONDocument {
        let answer = answer([
            "explain": .document(command), "verbosity": "executionStats",
        ])
        return answer["executionStats"]?.documentValue ?? answer
    }

    private func stages(_ command: BSONDocument) -> [String] {
        var names: [String] = []
        let answer = answer(["explain": .document(command)])
        var stage = answer[path: "queryPlanner.winningPlan"]?.documentValue
        while let current = stage {
            names.append(current["stage"]?.stringValue ?? "?")
            stage = current["inputStage"]?.documentValue
        }
        return names
    }

    @Test(
        arguments: [
            ([:], 10, 0), (["skip": 3], 7, 3), (["limit": 3], 3, 0), (["limit": -3], 3, 0),
            (["limit": 3, "skip": 9], 1, 9), (["query": ["a": 1], "skip": 3], 7, 3),
            (["query": ["a": 1], "limit": 4], 4, 0), (["query": ["a": 2], "skip": 2], 0, 0),
        ] as [(BSONDocument, BSONValue, BSONValue)])
    func `a count tells what it counts and skips`(
        _ options: BSONDocument, _ counted: BSONValue, _ skipped: BSONValue
    ) {
        var command: BSONDocument = ["count": "items"]
        for (key, value) in options { command.append(key, value) }
        let stage = execution(command)["executionStages"]?.documentValue
        #expect(stage?["nCounted"] == counted && stage?["nSkipped"] == skipped)
    }

    @Test func `a count of one range of keys tells where it begins and ends`() {
        let range = execution(["count": "items", "query": ["a": ["$gt": 0]]])
        #expect(
            range[path: "executionStages.inputStage.indexBounds"]
                == [
                    "startKey": ["a": 0, "_id": .maxKey], "startKeyInclusive": false,
                    "endKey": ["a": .double(.infinity), "_id": .maxKey],
                    "endKeyInclusive": true,
                ])
        #expect(stages(["count": "items", "query": ["a": 1]]) == ["COUNT", "COUNT_SCAN"])
        let several: BSONDocument = ["count": "items", "query": ["a": ["$in": [1, 3]]]]
        #expect(stages(several) == ["COUNT", "IXSCAN"])
        #expect(stages(["count": "items"]) == ["RECORD_STORE_FAST_COUNT"])
        #expect(stages(["count": "none"]) == ["COUNT", "EOF"])
    }

    @Test(
        arguments: [
            ["delete": "none", "deletes": [["q": ["a": 1], "limit": 0]]],
            ["update": "none", "updates": [["q": ["a": 1], "u": ["$set": ["b": 1]]]]],
            [
                "update": "none",
                "updates": [["q": ["a": 1], "u": ["$set": ["b": 1]], "upsert": true]],
            ],
            ["findAndModify": "none", "query": ["a": 1], "remove": true],
            ["distinct": "none", "key": "a"], ["find": "none"],
        ] as [BSONDocument])
    func `a command on no collection reads and writes nothing`(_ command: BSONDocument) {
        #expect(stages(command) == ["EOF"])
        #expect(execution(command)["nReturned"] == 0)
    }

    @Test(
        arguments: [
            (["query": ["_id": 3], "remove": true], 1, "DELETE"),
            (["query": ["_id": 99], "remove": true], 0, "DELETE"),
            (["query": ["_id": 3], "update": ["$inc": ["n": 1]]], 1, "UPDATE"),
            (["query": ["_id": 99], "update": ["$inc": ["n": 1]], "upsert": true], 0, "UPDATE"),
            (
                [
                    "query": ["_id": 99], "update": ["$inc": ["n": 1]], "upsert": true,
                    "new": true,
                ], 1, "UPDATE"
            ),
        ] as [(BSONDocument, BSONValue, BSONValue)])
    func `a findAndModify tells what it returns, and how it is projected`(
        _ options: BSONDocument, _ returned: BSONValue, _ stage: BSONValue
    ) {
        var command: BSONDocument = ["findAndModify": "items"]
        for (key, value) in options { command.append(key, value) }
        let plain = execution(command)
        #expect(plain["nReturned"] == returned)
        #expect(plain[path: "executionStages.stage"] == stage)
        command["fields"] = ["a": 0]
        let projected = execution(command)
        #expect(projected["nReturned"] == returned)
        #expect(projected[path: "executionStages.stage"] == "PROJECTION_DEFAULT")
        #expect(projected[path: "executionStages.transformBy"] == ["a": 0])
        #expect(projected[path: "executionStages.inputStage.stage"] == stage)
    }

    @Test func `a findAndModify that cannot be run is not explained`() {
        let both: BSONDocument = [
            "findAndModify": "items", "remove": true, "update": ["$set": ["b": 1]],
        ]
        #expect(answer(["explain": .document(both)])["code"] == 9)
        let removal: BSONDocument = ["findAndModify": "items", "remove": true]
        #expect(answer(["explain": .document(removal)], in: "nowhere")["code"] == 26)
    }

    @Test func `the filter of a stage is told as it was parsed`() {
        let explained = answer([
            "aggregate": "items", "explain": true,
            "pipeline": [
                ["$addFields": ["c": 1]], ["$match": ["$and": [["c": 1]]]],
            ],
        ])
        #expect(explained["stages"]?.arrayValue?[2] == ["$match": ["c": ["$eq": 1]]])
        let identifier = BSONValue.binary(BSONBinary(Array(1...16), subtype: 4))
        #expect(answer(["aggregate": identifier, "pipeline": [], "cursor": [:]])["code"] == 14)
    }

    @Test(
        arguments: [
            ("min", 0, 0), ("min", .null, .null), ("max", 9, .null), ("min", 5, 5),
        ] as [(String, BSONValue, BSONValue)])
    func `the key of an array is the first one within the bounds`(
        _ bound: String, _ value: BSONValue, _ found: BSONValue
    ) {
        answer(["insert": "lists", "documents": [["_id": 1, "l": [["b": 5], ["b": 0], [:]]]]])
        answer([
            "createIndexes": "lists", "indexes": [["key": ["l.b": 1], "name": "l"]],
        ])
        let command: BSONDocument = [
            "find": "lists", "hint": ["l.b": 1], "returnKey": true, bound: ["l.b": value],
        ]
        let batch = answer(command)[path: "cursor.firstBatch"]?.arrayValue
        #expect(batch == [["l.b": found]])
        let projected: BSONDocument = [
            "find": "lists", "hint": ["l.b": 1], "filter": ["l.b": ["$gt": 0]],
            "projection": ["_id": 1, "k": ["$meta": "indexKey"]],
        ]
        let meta = answer(projected)[path: "cursor.firstBatch"]?.arrayValue
        #expect(meta == [["_id": 1, "k": ["l.b": 5]]])
    }

    @Test(
        arguments: [
            (["f": 1], ["$_path": "f", "f": 1]), (["f": ["$gt": 1]], ["$_path": "f", "f": 2]),
            (["g.h": 1], ["$_path": "g.h", "g.h": 1]),
            (["c.e": 1], ["$_path": "c.e", "c.e": 1]),
        ] as [(BSONDocument, BSONDocument)])
    func `the key of a wildcard index has its path and value`(
        _ filter: BSONDocument, _ key: BSONDocument
    ) {
        let documents: [BSONValue] = [
            ["_id": 1, "c": ["e": 1]], ["_id": 2, "f": [1, 2, 3]],
            ["_id": 3, "g": [["h": 1], ["i": 2]]],
        ]
        answer(["insert": "any", "documents": .array(BSONArray(documents))])
        answer(["createIndexes": "any", "indexes": [["key": ["$**": 1], "name": "w"]]])
        let found = answer([
            "find": "any", "filter": .document(filter), "returnKey": true,
        ])
        #expect(found[path: "cursor.firstBatch"]?.arrayValue == [.document(key)])
    }

    @Test func `the key of a lookup by id is the id`() {
        let command: BSONDocument = ["find": "items", "filter": ["_id": 3], "returnKey": true]
        #expect(answer(command)[path: "cursor.firstBatch"]?.arrayValue == [["_id": 3]])
        let scan: BSONDocument = ["find": "items", "filter": ["b": 3], "returnKey": true]
        #expect(answer(scan)[path: "cursor.firstBatch"]?.arrayValue == [])
    }
}
