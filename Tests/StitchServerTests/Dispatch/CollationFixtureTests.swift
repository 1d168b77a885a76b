import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// A command that read texts by another collation than its collection would answer with, or change,
/// the wrong documents.
@Suite struct CollationFixtureTests {
    private static let weak: BSONDocument = ["locale": "en", "strength": 2]

    /// A server with the collection `c`, which is filled anew for each case.
    private struct Client {
        let server: OfflineServer

        init() throws { server = try OfflineServer(requiresSignIn: false) }

        @discardableResult
        func run(_ command: BSONDocument) -> BSONDocument {
            var command = command
            command.append("$db", "app")
            return server.answer(command: command) ?? [:]
        }

        func documents(_ command: BSONDocument) -> [BSONDocument] {
            let reply = run(command)
            #expect(reply["ok"] == 1.0, "\(command): \(reply)")
            let batch = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue
            return batch?.values.compactMap(\.documentValue) ?? []
        }

        func fill(_ documents: [BSONValue], _ collation: BSONValue?) {
            run(["drop": "c"])
            var create: BSONDocument = ["create": "c"]
            if let collation { create.append("collation", collation) }
            #expect(run(create)["ok"] == 1.0)
            guard !documents.isEmpty else { return }
            #expect(run(["insert": "c", "documents": .array(BSONArray(documents))])["ok"] == 1.0)
        }
    }

    /// The cases of a folder of `fixtures` that name a collation and have an answer.
    private static func cases(_ folder: String) throws -> [BSONDocument] {
        let path = Python.folder.appending(path: "fixtures").appending(path: folder)
        let files = try FileManager.default.contentsOfDirectory(
            at: path, includingPropertiesForKeys: nil)
        var found: [BSONDocument] = []
        for file in files where file.pathExtension == "json" {
            let content = try BSONDocument(
                extendedJSON: try String(contentsOf: file, encoding: .utf8))
            for case .document(let fixture) in content["cases"]?.arrayValue?.values ?? [] {
                let isPlain = fixture["error"] == nil && fixture["textIndex"] == nil
                if isPlain, fixture["collation"] != nil { found.append(fixture) }
            }
        }
        return found
    }

    private static func copy(
        _ fields: [(String, String)], from fixture: BSONDocument, to command: inout BSONDocument
    ) {
        for (field, name) in fields {
            if let value = fixture[field] { command.append(name, value) }
        }
    }

    private static func areSame(
        _ left: [BSONValue], _ right: [BSONValue], in fixture: BSONDocument
    ) -> Bool {
        guard fixture["unordered"] == true else { return left == right }
        return Dictionary(grouping: left) { $0 }.mapValues(\.count)
            == Dictionary(grouping: right) { $0 }.mapValues(\.count)
    }

    @Test(arguments: [false, true])
    func `queries answer by the collation of the command and of the collection`(
        _ isInherited: Bool
    ) throws {
        let client = try Client()
        var count = 0
        for fixture in try Self.cases("queries") {
            client.fill(
                fixture["documents"]?.arrayValue?.values ?? [],
                isInherited ? fixture["collation"] : nil)
            let distinct = fixture["distinct"]
            var command: BSONDocument = [distinct == nil ? "find" : "distinct": "c"]
            if let distinct {
                command.append("key", distinct)
                Self.copy([("filter", "query")], from: fixture, to: &command)
            } else {
                let fields = ["filter", "sort", "skip", "limit", "projection", "let"]
                Self.copy(fields.map { ($0, $0) }, from: fixture, to: &command)
                command.append("batchSize", 1_000)
            }
            if !isInherited { Self.copy([("collation", "collation")], from: fixture, to: &command) }
            var found: [BSONValue]
            if distinct == nil {
                found = client.documents(command).map { .document($0) }
            } else {
                found = client.run(command)["values"]?.arrayValue?.values ?? []
            }
            if fixture["expectedIDs"] != nil {
                found = found.map { $0.documentValue?["_id"] ?? .undefined }
            }
            let expected = ["expected", "expectedIDs", "expectedValues"].compactMap {
                fixture[$0]?.arrayValue?.values
            }.first
            #expect(
                Self.areSame(found, expected ?? [], in: fixture),
                "\(fixture["name"] ?? .null): \(found)")
            count += 1
        }
        #expect(count > 50)
    }

    @Test(arguments: [false, true])
    func `updates change by the collation of the command and of the collection`(
        _ isInherited: Bool
    ) throws {
        let client = try Client()
        var count = 0
        for fixture in try Self.cases("updates") {
            client.fill(
                fixture["documents"]?.arrayValue?.values ?? [],
                isInherited ? fixture["collation"] : nil)
            var statement: BSONDocument = ["q": fixture["filter"] ?? [:]]
            let fields = [
                ("update", "u"), ("upsert", "upsert"), ("multi", "multi"),
                ("arrayFilters", "arrayFilters"),
            ]
            Self.copy(fields, from: fixture, to: &statement)
            if !isInherited {
                Self.copy([("collation", "collation")], from: fixture, to: &statement)
            }
            var command: BSONDocument = ["update": "c", "updates": [.document(statement)]]
            Self.copy([("let", "let")], from: fixture, to: &command)
            let reply = client.run(command)
            #expect(
                reply["ok"] == 1.0 && reply["writeErrors"] == nil,
                "\(fixture["name"] ?? .null): \(reply)")
            let expected = fixture["expected"]?.arrayValue?.values ?? []
            var found = client.documents(["find": "c", "batchSize": 1_000])
            for (index, document) in expected.enumerated()
            where index < found.count && document.documentValue?["_id"] == nil {
                found[index].removeValue(forKey: "_id")
            }
            #expect(
                Self.areSame(found.map { .document($0) }, expected, in: fixture),
                "\(fixture["name"] ?? .null): \(found)")
            count += 1
        }
        #expect(count > 10)
    }

    // MARK: - The _id

    /// MongoDB manual, "Collation": the collection's, unless a command names another one.
    @Test(
        arguments: [
            (nil, true), (["locale": "simple"], false), (weak, true), (["locale": "en"], false),
        ] as [(BSONDocument?, Bool)])
    func `each command finds an id by its collation`(
        _ collation: BSONDocument?, _ finds: Bool
    ) throws {
        let client = try Client()
        let named: [(String, BSONValue)] = collation.map { [("collation", .document($0))] } ?? []
        let id: BSONDocument = ["_id": "FOO"]
        func run(_ fields: [(String, BSONValue)]) -> BSONDocument {
            client.fill([["_id": "foo", "e": ["x"]], ["_id": "bar"]], .document(Self.weak))
            return client.run(BSONDocument(fields))
        }
        func isThere() -> Bool {
            !client.documents(["find": "c", "filter": ["_id": "foo"]]).isEmpty
        }
        let query = BSONValue.document(id)
        let one: BSONValue = .int32(finds ? 1 : 0)
        let found = run([("find", "c"), ("filter", query)] + named)
        #expect(
            found["cursor"]?.documentValue?["firstBatch"]?.arrayValue?.count == (finds ? 1 : 0))
        #expect(run([("count", "c"), ("query", query)] + named)["n"] == one)
        let distinct = run([("distinct", "c"), ("key", "_id"), ("query", query)] + named)
        let values: BSONValue = finds ? ["foo"] : []
        #expect(distinct["values"] == values)
        let pipeline: BSONValue = [["$match": query]]
        let matched = run(
            [("aggregate", "c"), ("pipeline", pipeline), ("cursor", [:])] + named)
        #expect(
            matched["cursor"]?.documentValue?["firstBatch"]?.arrayValue?.count == (finds ? 1 : 0))

        func statement(_ fields: [(String, BSONValue)]) -> BSONValue {
            [.document(BSONDocument([("q", query)] + fields + named))]
        }
        let set: BSONValue = ["$set": ["n": 1]]
        let updated = run([("update", "c"), ("updates", statement([("u", set)]))])
        #expect(updated["n"] == one)
        let upserted = run([
            ("update", "c"), ("updates", statement([("u", set), ("upsert", true)])),
        ])
        #expect((upserted["upserted"] == nil) == finds)
        let deleted = run([("delete", "c"), ("deletes", statement([("limit", 1)]))])
        #expect(deleted["n"] == one)
        #expect(isThere() == !finds)
        let modified = run([("findAndModify", "c"), ("query", query), ("update", set)] + named)
        #expect((modified["value"] == .null) == !finds)
        let removed = run([("findAndModify", "c"), ("query", query), ("remove", true)] + named)
        #expect((removed["value"] == .null) == !finds)
        #expect(isThere() == !finds)
        let operation: BSONValue = .document(
            BSONDocument([("update", 0), ("filter", query), ("updateMods", set)] + named))
        client.fill([["_id": "foo"]], .document(Self.weak))
        let bulk = client.server.answer(command: [
            "bulkWrite": 1, "ops": [operation], "nsInfo": [["ns": "app.c"]], "$db": "admin",
        ])
        #expect(bulk?["nMatched"] == one)
        // The values of `$pull` and of array filters.
        let pull: [(String, BSONValue)] = [("q", ["_id": "foo"]), ("u", ["$pull": ["e": "X"]])]
        let pulled = run([
            ("update", "c"), ("updates", [.document(BSONDocument(pull + named))]),
        ])
        #expect(pulled["nModified"] == one)
    }

    // MARK: - Projections, constants and time

    @Test func `a projection and a position compare texts as the collection does`() throws {
        let client = try Client()
        let document: BSONValue = ["_id": 1, "a": ["x", "FOO"], "s": "ada"]
        client.fill([document], .document(Self.weak))
        let shown: BSONDocument = ["_id": 1, "a": ["FOO"]]
        let finds: [BSONDocument] = [
            [:], ["sort": ["s": 1]], ["hint": ["_id": 1]], ["showRecordId": true],
        ]
        for more in finds {
            var find: BSONDocument = [
                "find": "c", "filter": ["a": "foo"], "projection": ["a.$": 1],
            ]
            for (key, value) in more { find.append(key, value) }
            var found = client.documents(find)
            for index in found.indices { found[index].removeValue(forKey: "$recordId") }
            #expect(found == [shown], "\(more)")
        }
        let computed: BSONDocument = [
            "find": "c",
            "projection": ["a": ["$elemMatch": ["$eq": "X"]], "t": ["$eq": ["$s", "ADA"]]],
        ]
        #expect(client.documents(computed) == [["_id": 1, "a": ["x"], "t": true]])
        let explained = client.run([
            "explain": [
                "update": "c", "updates": [["q": ["a": "foo"], "u": ["$set": ["a.$": "bar"]]]],
            ], "verbosity": "executionStats",
        ])
        let stages = explained["executionStats"]?.documentValue?["executionStages"]
        #expect(stages?.documentValue?["nWouldModify"] == 1, "\(explained)")
        let removed = client.run([
            "findAndModify": "c", "query": ["a": "foo"], "remove": true, "fields": ["a.$": 1],
        ])
        #expect(removed["value"] == .document(shown))
    }

    @Test func `a variable of a projection may use an earlier one`() throws {
        let client = try Client()
        client.fill([["_id": 1]], nil)
        let variables: BSONValue = ["a": 1, "b": ["$add": ["$$a", 1]]]
        #expect(
            client.documents(["find": "c", "projection": ["n": "$$b"], "let": variables])
                == [["_id": 1, "n": 2]])
        #expect(
            client.documents(["find": "c", "projection": ["_id": 1], "let": variables])
                == [["_id": 1]])
        let modified = client.run([
            "findAndModify": "c", "query": ["_id": 1], "update": ["$set": ["x": 1]],
            "fields": ["n": "$$b"], "let": variables,
        ])
        #expect(modified["value"] == ["_id": 1, "n": 2])
    }

    @Test func `all batches of a query have one time`() throws {
        let client = try Client()
        client.fill([["_id": 1], ["_id": 2], ["_id": 3]], nil)
        let first = client.run([
            "find": "c", "batchSize": 1, "projection": ["t": "$$CLUSTER_TIME", "n": "$$NOW"],
        ])["cursor"]?.documentValue
        var shown = first?["firstBatch"]?.arrayValue?.values ?? []
        for id in 10...11 {
            client.run(["insert": "other", "documents": [["_id": .int32(Int32(id))]]])
            let more = client.run([
                "getMore": first?["id"] ?? .null, "collection": "c", "batchSize": 1,
            ])["cursor"]?.documentValue
            shown += more?["nextBatch"]?.arrayValue?.values ?? []
        }
        let documents = shown.compactMap(\.documentValue)
        #expect(documents.count == 3)
        #expect(Set(documents.map { $0["t"] }).count == 1 && documents.first?["t"] != nil)
        #expect(Set(documents.map { $0["n"] }).count == 1)
    }

    @Test func `a creation again with equal numbers succeeds`() throws {
        let client = try Client()
        let validator: BSONDocument = ["a": ["$gt": 1]]
        #expect(client.run(["create": "v", "validator": .document(validator)])["ok"] == 1.0)
        let other: BSONDocument = ["a": ["$gt": 1.0]]
        #expect(client.run(["create": "v", "validator": .document(other)])["ok"] == 1.0)
        let third: BSONDocument = ["a": ["$gt": 2]]
        #expect(client.run(["create": "v", "validator": .document(third)])["code"] == 48)
    }

    /// A statement that needs an index is run on an excerpt with the indexes.
    @Test(arguments: ["$text", "$near", "$nearSphere", "$geoNear"])
    func `a gateway makes the indexes that an operator needs`(_ name: String) {
        let filter = BSONDocument([(name, .document([:]))])
        #expect(WriteNeeds.namesIndexes(filter))
        #expect(WriteNeeds.namesIndexes(["$and": [["loc": .document(filter)]]]))
        #expect(!WriteNeeds.namesIndexes(["loc": ["$geoWithin": [:]]]))
    }

    /// The manual, "update": `c` holds constants for a pipeline, which are not evaluated.
    @Test func `the constants of an update are values`() throws {
        let client = try Client()
        client.fill([["_id": 1, "a": 5]], nil)
        let change: BSONValue = [["$set": ["v": "$$v", "w": "$$w"]]]
        let constants: BSONValue = ["v": "$a", "w": ["$add": [1, 1]]]
        let reply = client.run([
            "update": "c", "updates": [["q": [:], "u": change, "c": constants]],
        ])
        #expect(reply["nModified"] == 1, "\(reply)")
        let stored: BSONDocument = ["_id": 1, "a": 5, "v": "$a", "w": ["$add": [1, 1]]]
        #expect(client.documents(["find": "c"]) == [stored])
        client.fill([["_id": 1, "a": 5]], nil)
        let bulk = client.server.answer(command: [
            "bulkWrite": 1, "nsInfo": [["ns": "app.c"]], "$db": "admin",
            "ops": [["update": 0, "filter": [:], "updateMods": change, "constants": constants]],
        ])
        #expect(bulk?["nModified"] == 1, "\(bulk ?? [:])")
        #expect(client.documents(["find": "c"]) == [stored])
        let refused = client.run([
            "update": "c", "updates": [["q": [:], "u": ["$set": ["x": 1]], "c": ["v": 1]]],
        ])
        let error = refused["writeErrors"]?.arrayValue?[0]?.documentValue
        #expect(error?["code"] == 51198, "\(refused)")
    }

    /// The server's `bulk_write_update_per_statement_constants.js` and `upsert_stage.cpp`.
    @Test func `the constants of an update are known to its filter, and hold what it inserts`()
        throws
    {
        let client = try Client()
        let change: BSONValue = [["$set": ["found": "$$name"]]]
        func update(
            _ query: BSONDocument, _ constants: BSONDocument, upsert: Bool
        ) -> BSONDocument {
            client.run([
                "update": "c",
                "updates": [
                    [
                        "q": .document(query), "u": change, "c": .document(constants),
                        "upsert": .bool(upsert), "upsertSupplied": true,
                    ]
                ],
            ])
        }
        func code(_ reply: BSONDocument) -> BSONValue? {
            reply["writeErrors"]?.arrayValue?[0]?.documentValue?["code"]
        }
        let byConstant: BSONDocument = ["$expr": ["$eq": ["$name", "$$name"]]]
        client.fill([["_id": 1, "name": "a"]], nil)
        #expect(update(byConstant, ["name": "a"], upsert: false)["nModified"] == 1)
        let new: BSONDocument = ["name": "b", "new": ["name": "b", "is": "new"]]
        #expect(update(["_id": 2], new, upsert: true)["upserted"] != nil)
        #expect(update(["_id": 2], new, upsert: true)["nModified"] == 1)
        #expect(code(update(["_id": 3], ["name": "c"], upsert: true)) == 9)
        // Whether a document matches or not.
        for name in ["a", "z"] as [BSONValue] {
            #expect(code(update(byConstant, ["name": name, "new": [:]], upsert: true)) == 224)
        }
        let stored: [BSONDocument] = [
            ["_id": 1, "name": "a", "found": "a"],
            ["_id": 2, "name": "b", "is": "new", "found": "b"],
        ]
        #expect(client.documents(["find": "c"]) == stored)
    }
}
