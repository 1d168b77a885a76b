import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// An operator must see which user and app is behind a connection.
@Suite(.timeLimit(.minutes(5))) struct ConnectedClientTests {
    private static let metadata: BSONDocument = [
        "application": ["name": "Todos 1.2"],
        "driver": ["name": "StitchRemote", "version": "0.1.0"], "os": ["type": "Linux"],
        "platform": "Swift",
    ]

    /// Returns the entries of a reply about a user's connections.
    private static func entries(_ inprog: BSONValue?, of user: String) -> [BSONDocument] {
        (inprog?.arrayValue ?? []).compactMap(\.documentValue).filter { entry in
            entry["effectiveUsers"]?.arrayValue?.first { _ in true }?.documentValue?["user"]
                == .string(user)
        }
    }

    @Test(
        "An idle connection has its user, app and last command, at a server and at a gateway",
        arguments: RuledWorld.Place.allCases)
    func idle(place: RuledWorld.Place) async throws {
        try await RuledWorld.lend(place) { ports in
            let root = try RuledWorld.prepare(ports[0])
            let ann = try ServerClient(port: ports[0], database: "shop")
            try ann.run(["hello": 1, "client": .document(Self.metadata)])
            try ann.signIn("ann", "pw", of: "admin")
            _ = try ann.documents(["find": "items"])
            let all = try root.run(["currentOp": 1, "$all": true], on: "admin")["inprog"]
            let found = Self.entries(all, of: "ann")
            #expect(found.count == 1)
            let entry = found.first ?? [:]
            #expect(entry["appName"] == "Todos 1.2" && entry["active"] == false)
            #expect(entry["clientMetadata"] == .document(Self.metadata))
            #expect(entry["connectionId"]?.int64Value != nil)
            #expect(entry["client"]?.stringValue?.hasPrefix("127.0.0.1:") == true)
            let activity = entry["stitchsync"]?.documentValue ?? [:]
            #expect(activity["lastCommand"] == "find" && activity["namespaces"] == ["shop.items"])
            #expect(activity["isDevice"] == true && activity["waiting"] == false)
            // Without the option only what runs is listed.
            let running = try root.run(["currentOp": 1], on: "admin")["inprog"]
            #expect(Self.entries(running, of: "ann").isEmpty)
            let own = Self.entries(running, of: "root").first
            #expect(own?["active"] == true)
        }
    }

    @Test("$currentOp lists idle connections, and to most users only their own")
    func stage() async throws {
        try await ServerProcess.run(["--auth"]) { server in
            try await BlockingThread.run { [port = server.port] in
                try ServerClient(port: port, database: "shop").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                let root = try ServerClient(port: port, database: "shop", user: "root")
                for name in ["ann", "ben"] {
                    try root.run(
                        [
                            "createUser": .string(name), "pwd": "pw",
                            "roles": [["role": "read", "db": "admin"]],
                        ], on: "admin")
                }
                let clients = try ["ann", "ann", "ben"].map {
                    try ServerClient(port: port, database: "admin", user: $0)
                }
                let pipeline: BSONValue = [["$currentOp": ["idleConnections": true]]]
                let command: BSONDocument = [
                    "aggregate": 1, "pipeline": pipeline, "cursor": [:],
                ]
                func users(_ client: ServerClient) throws -> Set<String> {
                    let batch = try client.run(command, on: "admin")["cursor"]?.documentValue
                    return Set(
                        ["ann", "ben", "root"].filter {
                            !Self.entries(batch?["firstBatch"], of: $0).isEmpty
                        })
                }
                #expect(try users(clients[0]) == ["ann"])
                #expect(try users(root) == ["ann", "ben", "root"])
            }
        }
    }

    @Test("Metrics count connections by kind of user and by app, never by name")
    func metrics() {
        let server = ServerContext(settings: ServerSettings())
        for number in Int32(1)...30 {
            let connection = ClientConnection(id: number, peer: "127.0.0.1:1", local: "")
            connection.state.withLock { $0.applicationName = "app \(number)\"\n" }
            if number > 2 {
                connection.become(
                    SignedInUser(name: Name("secret-\(number)"), database: "admin", roles: []))
            }
            server.connections.withLock { $0[number] = connection }
        }
        let text = MetricsText.text(
            server, BackendCounts(cursors: (0, 0, 0, 0), sessions: 0))
        #expect(text.contains(#"connections_by_user_kind{kind="account"} 28"#))
        #expect(text.contains(#"connections_by_user_kind{kind="none"} 2"#))
        let lines = text.split(separator: "\n").filter { $0.contains("connections_by_app{") }
        #expect(lines.count == 21 && lines.last?.hasSuffix(#"{app=""} 8"#) == true)
        #expect(lines.first?.contains(#"app="app 10\"\n""#) == true, "\(lines.first ?? "")")
        #expect(!text.contains("secret"))
    }
}
