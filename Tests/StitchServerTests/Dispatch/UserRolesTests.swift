import BSONStore
import Testing

@testable import StitchServer

/// Without its roles a pipeline that asks for them shows everybody what is for nobody.
@Suite struct UserRolesTests {
    private static func user(_ name: String, _ roles: [String]) -> SignedInUser {
        SignedInUser(
            name: name, database: "admin", roles: roles.map { Role(name: $0, database: "shop") })
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
            // A gateway forwards what users without rules send: the upstream knows its own user.
            if place == .file { #expect(try root.documents(command) == [["r": [all]]]) }
            let ann = try RuledWorld.client(ports[0], "ann")
            let own: BSONValue = ["_id": "shop.readWrite", "role": "readWrite", "db": "shop"]
            #expect(try ann.documents(command) == [["r": [own]]])
        }
    }
}
