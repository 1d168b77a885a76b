import BSONStore
import Foundation
import TestProcesses
import Testing

/// A gateway stands between many users and a database: what it lets through, loses or tells of itself
/// concerns all of them.
@Suite(.timeLimit(.minutes(60))) struct GatewayTests {
    @Test("Two gateways before one upstream answer a driver as one server does")
    func driver() async throws {
        let answer = try await ServerProcess.run { upstream in
            let arguments =
                ["--upstream", GatewayProcesses.uri(port: upstream.port)] + RuledWorld.arguments
            let metrics = try Loopback.freePort()
            return try await ServerProcess.run(arguments, hasFile: false) { first in
                try await ServerProcess.run(
                    arguments + ["--metrics-port", String(metrics)], hasFile: false
                ) { second in
                    try await Python.run(
                        "gateway.py", String(upstream.port), String(first.port),
                        String(second.port), String(metrics), String(second.processID))
                }
            }
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("The upstream's password is in no argument, log, error, metric or answer")
    func secrets() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        try await ServerProcess.run(["--auth"]) { upstream in
            try ServerClient(port: upstream.port, database: "admin").run(
                ["createUser": "gate", "pwd": "s3cret-of-the-upstream", "roles": ["root"]])
            let uri =
                "mongodb://gate:s3cret-of-the-upstream@127.0.0.1:\(upstream.port)/"
                + "?replicaSet=rs0&authSource=admin"
            try await ServerProcess.run(
                ["--upstream", uri, "--auth", "--log-level", "debug"], hasFile: false, log: log
            ) { gateway in
                let client = try ServerClient(port: gateway.port, database: "admin")
                try client.run(["createUser": "root", "pwd": "pw", "roles": ["root"]])
                let root = try ServerClient(port: gateway.port, database: "admin", user: "root")
                var told: [String] = []
                for command: BSONDocument in [
                    ["getCmdLineOpts": 1], ["serverStatus": 1], ["hello": 1],
                    ["getLog": "global"], ["find": "none", "filter": ["$bad": 1]],
                ] { told.append(try root.reply(command).extendedJSON()) }
                let line = try Data(
                    contentsOf: URL(filePath: "/proc/\(gateway.processID)/cmdline"))
                told.append(String(decoding: line, as: UTF8.self))
                // Its failures are written down, too.
                _ = upstream.end(SIGKILL)
                told.append(try root.reply(["find": "items"], on: "shop").extendedJSON())
                told.append(try String(contentsOf: log, encoding: .utf8))
                for text in told { #expect(!text.contains("s3cret"), "\(text)") }
            }
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test("A write that comes again, also to another gateway, is not done again")
    func repeatedWrites() async throws {
        try await RuledWorld.lend(.gateways) { ports in
            let root = try RuledWorld.prepare(ports[0])
            let clients = try ports.map { try RuledWorld.client($0, "ann") }
            let session = ServerSession(9)
            let add = session.retryable(7, updating("own", ["$inc": ["n": 1]]))
            for client in clients + clients {
                #expect(try client.run(add)["nModified"] == 1)
            }
            #expect(try root.documents(["find": "items", "filter": ["_id": "own"]])[0]["n"] == 2)
            let older = session.retryable(6, updating("own", ["$inc": ["n": 1]]))
            for client in clients { try expectRefusal(225, by: client, older) }
        }
    }

    @Test("An upstream that is away is an error after which devices go on until it is back")
    func awayUpstream() async throws {
        let port = try Loopback.freePort()
        try await ServerProcess.run(["--port", String(port)]) { upstream in
            let arguments = ["--upstream", GatewayProcesses.uri(port: port)]
            try await ServerProcess.run(arguments, hasFile: false) { gateway in
                let client = try ServerClient(port: gateway.port, database: "shop")
                try client.insert([["_id": 1]], into: "items")
                try upstream.restart(SIGKILL, ["--port", String(port)]) {
                    let refusal = ServerRefusal(reply: try client.reply(["find": "items"]))
                    #expect(refusal.code == 6, "\(refusal)")
                }
                #expect(try client.documents(["find": "items"]) == [["_id": 1]])
            }
        }
    }
}
