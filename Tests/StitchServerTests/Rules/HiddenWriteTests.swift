import BSONStore
import Testing

@testable import StitchServer

/// A write could reveal what it collides with, or change what its user does not see.
@Suite(.timeLimit(.minutes(60))) struct HiddenWriteTests {
    private static func notAllowed(_ id: String) -> String {
        "write to \"\(id)\" in table \"items\" not allowed"
    }

    @Test(
        "A unique index of a hidden field refuses a write as rules do",
        arguments: RuledWorld.Place.allCases)
    func keys(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let root = clients.root
            try root.update("other", ["$set": ["salary": 10]])
            let key: BSONValue = ["title": 1, "salary": 1]
            try root.run([
                "createIndexes": "items",
                "indexes": [["key": key, "name": "both", "unique": true]],
            ])
            let write = updating("other", ["$set": ["title": "one"]])
            #expect(
                try expectRefusal(13, by: clients.fay, write) == Self.notAllowed("other"))
            // Who sees the fields is told which key it is.
            try expectRefusal(11_000, by: root, write)
        }
    }

    @Test(
        "A validator of a hidden field refuses a write in one way, whatever the value is",
        arguments: RuledWorld.Place.allCases)
    func validators(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let (root, ann, fay) = (clients.root, clients.ann, clients.fay)
            try root.update("own", ["$set": ["salary": 500]])
            try root.run([
                "collMod": "items",
                "validator": ["salary": ["$lt": 100], "n": ["$lt": 100]],
            ])
            let write = updating("own", ["$set": ["title": "new"]])
            try expectRefusal(13, by: fay, write)
            var errors: Set<BSONDocument> = []
            for salary: BSONValue in [100, 500, 1_000_000_000_000] {
                try root.update("own", ["$set": ["salary": salary]])
                let error = try #require(ServerRefusal.error(of: try fay.reply(write)))
                #expect(error["code"] == 13)
                #expect(error["errInfo"]?.documentValue?["details"] == nil)
                errors.insert(error)
            }
            #expect(errors.count == 1, "\(errors)")
            try expectRefusal(121, by: ann, write)
            // Nor can the validator be gone round.
            var loose = updating("own", ["$set": ["salary": 1, "n": 200]])
            loose.append("bypassDocumentValidation", true)
            try expectRefusal(121, by: ann, loose)
        }
    }

    @Test(
        "A document that a hidden field makes too large is refused as by rules",
        arguments: RuledWorld.Place.allCases)
    func sizes(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let long = BSONValue.binary(BSONBinary(Array(repeating: 120, count: 15 << 20)))
            let more = BSONValue.binary(BSONBinary(Array(repeating: 121, count: 2 << 20)))
            try clients.root.update("own", ["$set": ["salary": long]])
            #expect(
                try expectRefusal(13, by: clients.fay, updating("own", ["$set": ["title": more]]))
                    == Self.notAllowed("own"))
        }
    }

    @Test(
        "$merge does not write over what is hidden",
        arguments: ["replace", "merge", "keepExisting", "fail"], RuledWorld.Place.allCases)
    func merge(mode: String, _ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            try expectRefusal(
                13, by: clients.ann,
                [
                    "aggregate": "items", "cursor": [:],
                    "pipeline": [
                        ["$limit": 1], ["$set": ["_id": "far", "owner": "ann", "tenant": "a"]],
                        ["$merge": ["into": "items", "whenMatched": .string(mode)]],
                    ],
                ])
            #expect(try clients.stored("far") == RuledWorld.documents[3])
        }
    }

    @Test(
        "findAndModify keeps hidden fields and returns none",
        arguments: RuledWorld.Place.allCases)
    func firstInOrder(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let found = try clients.fay.run([
                "findAndModify": "items", "query": [:], "sort": ["n": 1], "new": true,
                "update": ["$set": ["title": "first"]],
            ])
            let value = try #require(found["value"]?.documentValue)
            #expect(value["title"] == "first" && value["salary"] == nil)
            var expected = RuledWorld.documents[0]
            expected.set("title", to: "first")
            #expect(try clients.stored("own") == expected)
            try clients.fay.run([
                "findAndModify": "items", "query": [:], "sort": ["n": 1],
                "update": ["owner": "ann", "tenant": "a", "n": 0, "address": ["city": "Rome"]],
            ])
            #expect(try clients.stored("own")?["salary"] == 10)
        }
    }

    private static let operations: BSONValue = [
        ["update": 0, "filter": ["_id": "far"], "updateMods": ["$set": ["n": 1]]],
        [
            "update": 0, "filter": ["salary": ["$gt": 0]], "updateMods": ["$set": ["n": 1]],
            "multi": true,
        ],
        ["delete": 0, "filter": ["tenant": "b"], "multi": true],
        [
            "update": 0, "filter": ["_id": "far", "none": 1], "updateMods": ["$set": ["n": 1]],
            "upsert": true,
        ],
        ["insert": 0, "document": ["_id": "far", "owner": "ann", "tenant": "a"]],
        ["update": 0, "filter": ["_id": "own"], "updateMods": ["$inc": ["salary": 1]]],
    ]

    @Test(
        "Writes in bulk change nothing hidden and do not tell of it",
        arguments: RuledWorld.Place.allCases)
    func bulk(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let answer = try clients.fay.run(
                [
                    "bulkWrite": 1, "nsInfo": [["ns": "shop.items"]], "ops": Self.operations,
                    "ordered": false,
                ], on: "admin")
            let batch = answer["cursor"]?.documentValue?["firstBatch"]?.arrayValue ?? []
            let entries = batch.compactMap(\.documentValue)
            #expect(entries.prefix(3).map { $0["n"]?.wholeNumber } == [0, 0, 0])
            #expect(entries.dropFirst(3).map { $0["code"] } == [13, 13, 13])
            for entry in entries {
                #expect(entry["errmsg"]?.stringValue?.contains("duplicate") != true)
            }
            #expect(try clients.root.documents(["find": "items"]) == RuledWorld.documents)
        }
    }
}
