import BSONStore
import TestProcesses
import Testing

/// Who may read no more must not get what comes later, either.
@Suite(.timeLimit(.minutes(20))) struct LostRightTests {
    /// The ways in which a user loses the right to read.
    static let losses: [BSONDocument] = [
        ["dropUser": "ann"], ["dropAllUsersFromDatabase": 1],
        ["revokeRolesFromUser": "ann", "roles": [["role": "read", "db": "served"]]],
        ["updateUser": "ann", "roles": [["role": "read", "db": "other"]]],
    ]

    /// The same of a user of the database `shop`.
    static let lossesAtGateway: [BSONDocument] = [
        ["dropUser": "kim"], ["dropAllUsersFromDatabase": 1],
        ["revokeRolesFromUser": "kim", "roles": [["role": "read", "db": "shop"]]],
        ["updateUser": "kim", "roles": [["role": "read", "db": "other"]]],
    ]

    @Test(
        "A waiting getMore delivers nothing to a user who lost the right",
        arguments: LostRightTests.losses)
    func waiting(_ loss: BSONDocument) async throws {
        try await ServerProcess.run(["--auth"]) { server in
            let port = server.port
            try await BlockingThread.run {
                try ServerClient(port: port, database: "served").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                let root = try ServerClient(port: port, database: "served", user: "root")
                try root.run([
                    "createUser": "ann", "pwd": "pw",
                    "roles": [["role": "read", "db": "served"]],
                ])
                try root.run(["create": "log", "capped": true, "size": 10_000])
                try root.insert([["_id": 0]], into: "log")
                let opening: [BSONDocument] = [
                    ExpensiveRequest.aggregate([["$changeStream": [:]]]),
                    ["find": "log", "tailable": true, "awaitData": true],
                ]
                let clients = try opening.map { command in
                    let client = try ServerClient(
                        port: port, database: "served", user: "ann", of: "served")
                    let opened = try client.run(command)["cursor"]?.documentValue
                    client.send([
                        "getMore": opened?["id"] ?? .null,
                        "collection": command.keys.first == "find" ? "log" : "items",
                        "maxTimeMS": 300_000,
                    ])
                    return client
                }
                while try root.operations("getMore").count < clients.count {}
                try root.run(loss)
                for name in ["items", "log"] { try root.insert([["_id": "later"]], into: name) }
                for client in clients {
                    let answer = try client.answer()
                    #expect(answer["code"] == 13, "\(answer)")
                }
                #expect(try root.operations("getMore").isEmpty)
            }
        }
    }

    @Test(
        "A gateway's waiting getMore delivers nothing to a user who lost the right",
        arguments: LostRightTests.lossesAtGateway, [false, true])
    func waitingAtGateway(_ loss: BSONDocument, underRules: Bool) async throws {
        #if MongoRemote
            try await RuledWorld.Place.gateways.lend(
                underRules ? RuledWorld.arguments : ["--auth"]
            ) { ports in
                try await BlockingThread.run {
                    let root = try RuledWorld.prepare(ports[0])
                    try root.run([
                        "createUser": "kim", "pwd": "pw",
                        "roles": [["role": "read", "db": "shop"]],
                    ])
                    try root.insert([["user": ":shop.kim", "tenant": "a"]], into: "profiles")
                    let client = try ServerClient(
                        port: ports[0], database: "shop", user: "kim", of: "shop")
                    let opened = try client.run(
                        ExpensiveRequest.aggregate([["$changeStream": [:]]]))
                    let more: BSONDocument = [
                        "getMore": opened["cursor"]?.documentValue?["id"] ?? .null,
                        "collection": "items", "maxTimeMS": 300_000,
                    ]
                    func change(_ id: BSONValue) throws {
                        try root.insert([["_id": id, "tenant": "a"]], into: "items")
                    }
                    // The user sees what comes before.
                    client.send(more)
                    try change("before")
                    let batch = try client.answer()["cursor"]?.documentValue?["nextBatch"]
                    #expect(batch?.arrayValue?.count == 1)
                    client.send(more)
                    _ = try root.running("getMore")
                    try root.run(loss)
                    try change("later")
                    let answer = try client.answer()
                    #expect(answer["code"] == 13, "\(answer)")
                    #expect(try root.operations("getMore").isEmpty)
                }
            }
        #endif
    }

    @Test(
        "A cursor of a user above the rules delivers nothing more once the user is bound by them",
        arguments: RuledWorld.Place.allCases)
    func bound(_ place: RuledWorld.Place) async throws {
        try await RuledWorld.lend(place) { ports in
            let root = try RuledWorld.prepare(ports[0])
            try root.run(
                [
                    "createUser": "max", "pwd": "pw",
                    "roles": ["root", ["role": "readWrite", "db": "shop"]],
                ], on: "admin")
            let max = try RuledWorld.client(ports[0], "max")
            let session = ServerSession(1)
            let find: BSONDocument = ["find": "items", "batchSize": 1]
            let openings: [BSONDocument] = [
                find, session.transaction(1, starts: true, find),
                ["aggregate": "items", "pipeline": [], "cursor": ["batchSize": 0]],
            ]
            let ids = try openings.map {
                try max.run($0)["cursor"]?.documentValue?["id"] ?? .null
            }
            try root.run(["revokeRolesFromUser": "max", "roles": ["root"]], on: "admin")
            for (opening, id) in zip(openings, ids) {
                let more: BSONDocument = ["getMore": id, "collection": "items"]
                let answer = try max.reply(
                    opening["lsid"] == nil ? more : session.transaction(1, more))
                #expect(answer["code"] == 175, "\(opening): \(answer)")
            }
        }
    }
}
