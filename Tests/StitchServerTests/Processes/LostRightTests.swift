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
}
