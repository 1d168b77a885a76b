import BSONStore
import Testing

@testable import StitchServer

/// A collection that is closed to a user must answer like one that does not exist.
@Suite(.timeLimit(.minutes(60))) struct ClosedCollectionTests {
    private static let one: BSONValue = ["$limit": 1]
    /// Stands for the name of a collection.
    private static let name = "NAME"

    private static let reads: [BSONDocument] = [
        ["find": "NAME"], ["find": "NAME", "hint": "a_1"], ["find": "NAME", "hint": "none"],
        ["find": "NAME", "filter": ["_id": 1]],
        ["find": "NAME", "filter": ["$text": ["$search": "hush"]]],
        ["find": "NAME", "filter": ["at": ["$near": [1, 1]]]],
        ["count": "NAME"], ["count": "NAME", "hint": "a_1", "query": ["a": 1]],
        ["count": "NAME", "hint": "none", "query": ["a": 1]], ["distinct": "NAME", "key": "a"],
        ["distinct": "NAME", "key": "a", "hint": ["none": 1]],
        ["aggregate": "NAME", "pipeline": [one], "cursor": [:]],
        [
            "aggregate": "NAME", "cursor": [:],
            "pipeline": [["$geoNear": ["near": [1, 1], "distanceField": "d"]]],
        ],
        joining([
            "$lookup": ["from": "NAME", "localField": "n", "foreignField": "a", "as": "x"]
        ]),
    ]

    private static let others: [BSONDocument] = [
        joining(["$unionWith": "NAME"]),
        joining([
            "$graphLookup": [
                "from": "NAME", "startWith": "$n", "connectFromField": "a",
                "connectToField": "a", "as": "x",
            ]
        ]),
        joining(["$merge": ["into": "NAME", "on": "a", "whenMatched": "fail"]]),
        joining(["$merge": "NAME"]),
        ["aggregate": "NAME", "cursor": [:], "pipeline": [["$changeStream": [:]]]],
        ["insert": "NAME", "documents": [["_id": 1, "a": 1]]],
        ["insert": "NAME", "documents": [["_id": 99]]],
        ["update": "NAME", "updates": [["q": ["_id": 1], "u": ["$set": ["a": 5]]]]],
        [
            "update": "NAME",
            "updates": [["q": ["_id": 1], "u": ["$set": ["a": 5]], "upsert": true]],
        ],
        [
            "update": "NAME",
            "updates": [["q": ["a": 1], "u": ["$set": ["a": 5]], "hint": "none"]],
        ],
        ["delete": "NAME", "deletes": [["q": [:], "limit": 0]]],
        ["findAndModify": "NAME", "query": ["a": 1], "remove": true],
        ["findAndModify": "NAME", "query": ["_id": 1], "update": ["b": 1], "upsert": true],
        ["listCollections": 1, "filter": ["name": "NAME"]], ["create": "NAME"],
        ["drop": "NAME"], ["listIndexes": "NAME"], ["collStats": "NAME"],
        ["dropIndexes": "NAME", "index": "*"],
    ]

    private static let explained: [BSONDocument] = reads.flatMap { command in
        ["queryPlanner", "executionStats"].map { verbosity -> BSONDocument in
            ["explain": .document(command), "verbosity": .string(verbosity)]
        }
    }

    private static func joining(_ stage: BSONValue) -> BSONDocument {
        ["aggregate": "items", "cursor": [:], "pipeline": [one, stage]]
    }

    @Test(
        "A closed collection and a closed view answer like a collection that is not there",
        arguments: RuledWorld.Place.allCases)
    func closed(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let root = clients.root
            try root.insert(
                (Int32(0)..<3).map { number in
                    [
                        "_id": .int32(number), "a": .int32(number), "text": "hush",
                        "at": [.int32(number), .int32(number)],
                    ]
                }, into: "secrets")
            try root.run([
                "createIndexes": "secrets",
                "indexes": [
                    ["key": ["a": 1], "name": "a_1", "unique": true],
                    ["key": ["at": "2d"], "name": "at_2d"],
                ],
            ])
            try root.run(["create": "peeked", "viewOn": "items", "pipeline": []])
            for client in clients.bound {
                for command in Self.reads + Self.others + Self.explained {
                    let nothing = try Self.answer(to: command, about: "nothing", client)
                    for closed in ["secrets", "peeked"] {
                        #expect(
                            try Self.answer(to: command, about: closed, client) == nothing,
                            "\(command.extendedJSON())")
                    }
                }
                for name in ["shop.secrets", "shop.nothing"] { try Self.bulk(name, client) }
            }
            #expect(try root.documents(["find": "secrets"]).count == 3)
        }
    }

    private static func bulk(_ name: String, _ client: ServerClient) throws {
        let answer = try client.run(
            [
                "bulkWrite": 1, "nsInfo": [["ns": .string(name)]], "ordered": false,
                "ops": [
                    ["insert": 0, "document": ["_id": 1]],
                    ["update": 0, "filter": ["a": 1], "updateMods": ["$set": ["b": 1]]],
                    ["delete": 0, "filter": ["a": 1]],
                ],
            ], on: "admin")
        let batch = answer["cursor"]?.documentValue?["firstBatch"]?.arrayValue ?? []
        let refused = batch.compactMap(\.documentValue).filter { $0["ok"]?.wholeNumber != 1 }
        #expect(refused.map { $0["code"] } == [13])
        #expect(answer["nMatched"]?.wholeNumber == 0)
        #expect(answer["nDeleted"]?.wholeNumber == 0)
    }

    /// The answer to a command about a collection, without its name and what differs by nature.
    private static func answer(
        to command: BSONDocument, about collection: String, _ client: ServerClient
    ) throws -> String {
        let named = naming(.document(command), collection).documentValue ?? [:]
        var reply = try client.reply(named)
        for key in ["$clusterTime", "operationTime"] { reply.removeValue(forKey: key) }
        if var cursor = reply["cursor"]?.documentValue {
            for key in ["id", "postBatchResumeToken"] { cursor.removeValue(forKey: key) }
            reply.set("cursor", to: .document(cursor))
        }
        if let message = reply["errmsg"]?.stringValue {
            // The error repeats the command.
            let parts = message.split(separator: " to execute command ", maxSplits: 1)
            reply.set("errmsg", to: .string(parts.first.map(String.init) ?? ""))
        }
        return reply.extendedJSON().replacing(collection, with: name)
    }

    private static func naming(_ value: BSONValue, _ collection: String) -> BSONValue {
        switch value {
        case .string(name): return .string(collection)
        case .document(let document):
            return .document(
                BSONDocument(document.map { ($0.key, naming($0.value, collection)) }))
        case .array(let array):
            return .array(BSONArray(array.map { naming($0, collection) }))
        default: return value
        }
    }
}
