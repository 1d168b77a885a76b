import BSONStore
import Testing

@testable import StitchServer

/// Lists, plans, counts and texts could show what a query hides.
@Suite(.timeLimit(.minutes(60))) struct HiddenReadTests {
    @Test(
        "A list of databases has those with something to see",
        arguments: RuledWorld.Place.allCases)
    func databases(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            try clients.root.run(["insert": "things", "documents": [[:]]], on: "other")
            let reply = try clients.ann.run(["listDatabases": 1, "nameOnly": true], on: "admin")
            let names = reply["databases"]?.arrayValue?.map { $0.documentValue?["name"] }
            #expect(names == ["shop"])
        }
    }

    @Test(
        "A plan names no index",
        arguments: RuledWorld.Place.allCases)
    func plans(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let filters: [BSONValue] = [["salary": 40], ["salary": ["$gt": 1]], ["tenant": "b"]]
            for client in clients.bound {
                for filter in filters {
                    let reply = try client.run(["explain": ["find": "items", "filter": filter]])
                    let text = reply.extendedJSON()
                    #expect(!text.contains("IXSCAN") && !text.contains("salary_1"), "\(text)")
                }
            }
        }
    }

    @Test(
        "Pipelines in pipelines see what their user sees",
        arguments: RuledWorld.Place.allCases)
    func nestedPipelines(_ place: RuledWorld.Place) async throws {
        func deep(_ stage: BSONValue) -> BSONValue {
            let union: BSONValue = ["$unionWith": ["coll": "items", "pipeline": [stage]]]
            return ["$lookup": ["from": "items", "pipeline": [union], "as": "deep"]]
        }
        // No facet may stand in another, however deep.
        let inner = deep(["$facet": ["all": [["$match": [:]]]]])
        let graph: BSONValue = [
            "$graphLookup": [
                "from": "items", "startWith": "$owner", "connectFromField": "owner",
                "connectToField": "owner", "as": "g",
                "restrictSearchWithMatch": ["tenant": "b"],
            ]
        ]
        let pipelines: [BSONValue] = [
            [["$facet": ["a": [["$limit": 1], deep(["$match": [:]])]]]],
            [["$limit": 1], ["$unionWith": ["coll": "items", "pipeline": [inner]]]],
            [["$limit": 1], graph, inner],
        ]
        try await RuledClients.lend(place) { clients in
            for pipeline in pipelines {
                let found = try clients.fay.documents([
                    "aggregate": "items", "pipeline": pipeline, "cursor": [:],
                ])
                let text = found.map { $0.extendedJSON() }.joined()
                for secret in ["farther", "secret", "hush", "salary", "Via 1"] {
                    #expect(!text.contains(secret), "\(secret) in \(text)")
                }
            }
        }
    }

    @Test(
        "A list of collections has neither validators nor closed views",
        arguments: RuledWorld.Place.allCases)
    func validators(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let root = clients.root
            try root.run(["collMod": "items", "validator": ["salary": ["$lt": 100]]])
            try root.run([
                "create": "peek", "viewOn": "items", "pipeline": [["$match": ["salary": 10]]],
            ])
            func list(_ client: ServerClient, _ filter: BSONValue = [:]) throws -> [BSONDocument] {
                try client.documents(["listCollections": 1, "filter": filter])
            }
            for client in clients.bound {
                let all = try list(client)
                #expect(all.map { $0["name"] } == ["items"])
                #expect(!all.map { $0.extendedJSON() }.joined().contains("salary"))
                #expect(try list(client, ["options.validator": ["$exists": true]]).isEmpty)
            }
            #expect(try list(root).map { $0.extendedJSON() }.joined().contains("salary"))
        }
    }

    @Test(
        "A text search finds no hidden text, and does not count it",
        arguments: RuledWorld.Place.allCases)
    func texts(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            try clients.root.update("own", ["$set": ["memo": "whisper"]])
            let key: BSONValue = ["title": "text", "memo": "text"]
            try clients.root.run([
                "createIndexes": "items", "indexes": [["key": key, "name": "texts"]],
            ])
            let search: BSONValue = ["$text": ["$search": "whisper"]]
            for (client, count) in [(clients.root, 1), (clients.ann, 1), (clients.fay, 0)] {
                let counted = try client.documents([
                    "aggregate": "items", "cursor": [:],
                    "pipeline": [["$match": search], ["$count": "n"]],
                ])
                #expect(counted.first?["n"]?.wholeNumber ?? 0 == count)
                #expect(try client.documents(["find": "items", "filter": search]).count == count)
            }
            func score(_ client: ServerClient) throws -> Double {
                let found = try client.documents([
                    "find": "items", "filter": ["$text": ["$search": "one whisper"]],
                    "projection": ["s": ["$meta": "textScore"]],
                ])
                guard case .double(let score)? = found.first?["s"] else { return .nan }
                return score
            }
            #expect(try score(clients.ann) > score(clients.fay))
        }
    }

    private static let explained: [BSONDocument] = [
        ["count": "items", "query": ["salary": ["$gt": 0]]],
        ["distinct": "items", "key": "salary", "query": [:]],
        [
            "update": "items",
            "updates": [["q": ["tenant": "b"], "u": ["$set": ["n": 1]], "multi": true]],
        ],
        ["delete": "items", "deletes": [["q": ["tenant": "b"], "limit": 0]]],
        ["findAndModify": "items", "query": ["salary": 40], "remove": true],
        [
            "aggregate": "items", "cursor": [:],
            "pipeline": [["$match": ["n": ["$gt": 0]]], ["$group": ["_id": "$tenant"]]],
        ],
    ]

    @Test(
        "A plan counts what its user sees",
        arguments: RuledWorld.Place.allCases)
    func counts(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            func plans() throws -> [BSONValue?] {
                try clients.bound.flatMap { client in
                    try Self.explained.flatMap { command -> [BSONValue?] in
                        let reply = TwinAnswers.alike(
                            try client.run([
                                "explain": .document(command), "verbosity": "executionStats",
                            ]))
                        return command["aggregate"] == nil
                            ? [reply["queryPlanner"], reply["executionStats"]] : [reply["stages"]]
                    }
                }
            }
            let before = try plans()
            #expect(before.allSatisfy { $0 != nil })
            let more = (Int32(0)..<20).map { number -> BSONDocument in
                [
                    "_id": .int32(number), "owner": "eve", "tenant": "b",
                    "salary": .int32(number), "n": .int32(number),
                ]
            }
            try clients.root.insert(more, into: "items")
            #expect(try plans() == before)
        }
    }
}
