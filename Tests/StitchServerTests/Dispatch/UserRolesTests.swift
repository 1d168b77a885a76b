import BSONStore
import TestProcesses
import Testing

@testable import StitchServer

/// Without its roles a pipeline that asks for them shows everybody what is for nobody.
@Suite struct UserRolesTests {
    private static func user(_ name: String, _ roles: [String]) -> SignedInUser {
        SignedInUser(
            name: Name(name), database: "admin",
            roles: roles.map { Role(name: $0, database: "shop") })
    }

    private static func run(_ server: OfflineServer, _ command: BSONDocument) -> BSONDocument {
        var command = command
        command.append("$db", "shop")
        return server.answer(command: command) ?? [:]
    }

    private static func documents(
        _ server: OfflineServer, _ command: BSONDocument
    ) throws -> [BSONDocument] {
        let answer = run(server, command)
        let batch = answer["cursor"]?.documentValue?["firstBatch"]?.arrayValue
        return try #require(batch, "\(answer)").compactMap(\.documentValue)
    }

    private static let isWriter: BSONDocument = [
        "$expr": ["$in": ["readWrite", "$$USER_ROLES.role"]]
    ]

    @Test("$$USER_ROLES has the roles of the user who sends the command, wherever it is read")
    func everywhere() throws {
        let server = try OfflineServer(requiresSignIn: false)
        #expect(
            Self.run(server, ["insert": "items", "documents": [["_id": 1]]])["n"] == 1)
        let view: BSONDocument = [
            "create": "own", "viewOn": "items",
            "pipeline": [["$match": .document(Self.isWriter)]],
        ]
        #expect(Self.run(server, view)["ok"] == 1.0)
        let guarded: BSONDocument = ["create": "guarded", "validator": .document(Self.isWriter)]
        #expect(Self.run(server, guarded)["ok"] == 1.0)
        let writer = Self.user("ann", ["readWrite", "dbAdmin"])
        for (user, isWriter) in [
            (writer, true), (Self.user("ben", ["read"]), false), (nil, false), (writer, true),
        ] as [(SignedInUser?, Bool)] {
            server.become(user)
            let roles = (user?.roles ?? []).map { role -> BSONValue in
                [
                    "_id": .string("shop.\(role.name)"), "role": .string(role.name),
                    "db": "shop",
                ]
            }
            let shown: [BSONValue] = [["$project": ["r": "$$USER_ROLES"]]]
            #expect(
                try Self.documents(
                    server,
                    ["aggregate": "items", "pipeline": .array(BSONArray(shown)), "cursor": [:]])
                    == [["_id": 1, "r": .array(BSONArray(roles))]])
            let joined: [BSONValue] = [
                ["$lookup": ["from": "items", "pipeline": .array(BSONArray(shown)), "as": "j"]]
            ]
            let found = try Self.documents(
                server,
                ["aggregate": "items", "pipeline": .array(BSONArray(joined)), "cursor": [:]])
            #expect(
                found.first?["j"]?.arrayValue?.values.first?.documentValue?["r"]
                    == .array(BSONArray(roles)))
            for collection: BSONValue in ["items", "own"] {
                let filter = collection == "own" ? [:] : Self.isWriter
                let count = try Self.documents(
                    server, ["find": collection, "filter": .document(filter)]
                ).count
                #expect(count == (isWriter ? 1 : 0), "\(collection) \(user?.name ?? "-")")
            }
            let put = Self.run(server, ["insert": "guarded", "documents": [["k": 1]]])
            #expect(put["n"] == (isWriter ? 1 : 0), "\(put)")
            let update: BSONDocument = [
                "update": "items",
                "updates": [["q": ["_id": 1], "u": [["$set": ["by": "$$USER_ROLES.role"]]]]],
            ]
            #expect(Self.run(server, update)["n"] == 1)
            #expect(
                try Self.documents(server, ["find": "items"]).first?["by"]
                    == .array(BSONArray((user?.roles ?? []).map { .string($0.name) })))
            #expect(
                Self.run(
                    server,
                    [
                        "update": "items",
                        "updates": [["q": ["_id": 1], "u": [["$unset": "by"]]]],
                    ])["n"] == 1)
        }
    }

    @Test(
        "A server and a gateway tell the same roles", arguments: RuledWorld.Place.allCases)
    func places(_ place: RuledWorld.Place) async throws {
        #if !MongoRemote
            guard place == .file else { return }
        #endif
        try await RuledWorld.lend(place) { ports in
            let root = try RuledWorld.prepare(ports[0])
            let stages: BSONValue = [["$limit": 1], ["$project": ["_id": 0, "r": "$$USER_ROLES"]]]
            let command: BSONDocument = [
                "aggregate": "items", "pipeline": stages, "cursor": [:],
            ]
            let all: BSONValue = ["_id": "admin.root", "role": "root", "db": "admin"]
            #expect(try root.documents(command) == [["r": [all]]])
            let ann = try RuledWorld.client(ports[0], "ann")
            let own: BSONValue = ["_id": "shop.readWrite", "role": "readWrite", "db": "shop"]
            #expect(try ann.documents(command) == [["r": [own]]])
        }
    }

    @Test(
        "A user whom no rules bind has the same roles in every command to a server and a gateway",
        arguments: RuledWorld.Place.allCases)
    func withoutRules(_ place: RuledWorld.Place) async throws {
        #if !MongoRemote
            guard place == .file else { return }
        #endif
        try await place.lend(["--auth"]) { ports in
            try await BlockingThread.run {
                try ServerClient(port: ports[0], database: "shop").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                let root = try RuledWorld.client(ports[0], "root")
                try root.run(
                    [
                        "createUser": "one", "pwd": "pw",
                        "roles": [["role": "readWrite", "db": "shop"]],
                    ], on: "admin")
                let one = try RuledWorld.client(ports[0], "one")
                try Self.expectRoles(of: one, is: "readWrite")
                try Self.expectRoles(of: root, is: "root")
            }
        }
    }

    /// Expects that expressions at every place of a command see a user's only role.
    private static func expectRoles(of client: ServerClient, is role: String) throws {
        // The text is data where no expression is read.
        let text: BSONValue = "$$USER_ROLES.role"
        func fill() throws {
            try client.run(["delete": "items", "deletes": [["q": [:], "limit": 0]]])
            try client.insert([["_id": 1, "t": text]], into: "items")
        }
        try fill()
        let roles: BSONValue = [.string(role)]
        let mine: BSONDocument = ["$expr": ["$eq": [text, roles]]]
        let nested: BSONDocument = ["$and": [["t": text], ["$or": [.document(mine)]]]]
        let shown: BSONValue = ["$project": ["r": text]]
        func found(_ stages: [BSONValue]) throws -> BSONDocument? {
            try client.documents(ExpensiveRequest.aggregate(stages)).first
        }
        #expect(try found([shown]) == ["_id": 1, "r": roles])
        #expect(try found([["$match": ["t": text]], shown]) == ["_id": 1, "r": roles])
        #expect(try found([["$match": .document(nested)]]) == ["_id": 1, "t": text])
        #expect(try found([["$project": ["r": ["$literal": text]]]]) == ["_id": 1, "r": text])
        #expect(
            try found([["$group": ["_id": ["$first": "$$USER_ROLES.db"]]]])
                == ["_id": .string(role == "root" ? "admin" : "shop")])
        let lookup: BSONValue = [
            "from": "items", "as": "j", "let": ["r": text],
            "pipeline": [["$match": ["$expr": ["$eq": ["$$r", text]]]], shown],
        ]
        #expect(
            try found([["$lookup": lookup], ["$project": ["j": 1]]])
                == ["_id": 1, "j": [["_id": 1, "r": roles]]])
        #expect(
            try found([["$facet": ["f": [shown]]]]) == ["f": [["_id": 1, "r": roles]]])
        #expect(
            try client.documents([
                "find": "items", "filter": .document(nested), "projection": ["r": text],
                "let": ["l": text],
            ]) == [["_id": 1, "r": roles]])
        #expect(
            try client.documents([
                "find": "items", "let": ["l": text],
                "filter": ["$expr": ["$eq": ["$$l", roles]]],
            ]).count == 1)
        #expect(try client.run(["count": "items", "query": .document(mine)])["n"] == 1)
        #expect(
            try client.run(["distinct": "items", "key": "_id", "query": .document(mine)])["values"]
                == [1])
        try client.update(1, ["$set": ["u": text]])
        try client.update(1, [["$set": ["p": text]]])
        #expect(try found([]) == ["_id": 1, "t": text, "u": text, "p": roles])
        #expect(
            try client.run([
                "findAndModify": "items", "query": .document(mine), "new": true,
                "update": [["$replaceWith": ["_id": 1, "m": text]]], "fields": ["f": text],
            ])["value"] == ["_id": 1, "f": roles])
        #expect(try found([]) == ["_id": 1, "m": roles])
        try client.run(
            [
                "bulkWrite": 1, "nsInfo": [["ns": "shop.items"]],
                "ops": [
                    [
                        "update": 0, "filter": .document(mine),
                        "updateMods": [["$set": ["b": text]]],
                    ],
                    ["insert": 0, "document": ["_id": 2, "b": text]],
                ],
            ], on: "admin")
        #expect(
            try client.documents(["find": "items", "sort": ["_id": 1]])
                == [["_id": 1, "m": roles, "b": roles], ["_id": 2, "b": text]])
        let deletes: [BSONValue] = [["q": .document(mine), "limit": 0]]
        #expect(
            try client.run(["delete": "items", "deletes": .array(BSONArray(deletes))])["n"] == 2)
    }
}
