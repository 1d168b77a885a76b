import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// A server runs for months: what it keeps must outlive kills, and it must tell how it is.
@Suite(.timeLimit(.minutes(30))) struct OperationTests {
    @Test("No acknowledged write is lost when the server is killed under load; nothing grows")
    func soak() async throws {
        let answer = try await Python.run("soak.py", Program.tool.path, "24", "8", "50")
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("Without a file the server does the same, and leaves nothing")
    func temporary() async throws {
        try await ServerProcess.run(["--test-commands"], hasFile: false) { server in
            let files = { try FileManager.default.contentsOfDirectory(atPath: server.folder.path) }
            let answer = try await Python.run("transactions.py", String(server.port))
            #expect(answer.code == 0, "\(answer.output)")
            let first = try files()
            #expect(first.count == 1, "one folder: \(first)")
            // Another one leaves alone what is in use.
            let other = ["serve", "--port", String(server.port)]
            let environment = ["TMPDIR": server.folder.path]
            let refused = try await Program.run(
                Program.tool, other, environment: environment, limit: .seconds(300))
            #expect(refused.code == 1, "\(refused.output)")
            #expect(try files() == first)
            // What a killed one left is removed by the next one.
            try server.restart(SIGKILL)
            let second = try files()
            #expect(second.count == 1 && second != first, "\(second)")
            let empty = try await Python.run("crud.py", String(server.port))
            #expect(empty.code == 0, "\(empty.output)")
            #expect(server.end(SIGTERM) == 0)
            #expect(try files() == [])
        }
    }

    @Test(
        "A crash ends the process at once, and the port is free again",
        arguments: [SIGSEGV, SIGILL])
    func crash(signal: Int32) async throws {
        try await ServerProcess.run { server in
            let port = server.port
            let start = ContinuousClock.now
            // Throws when the port cannot be bound.
            try server.restart(signal, ["--port", String(port)])
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(server.port == port)
            #expect(server.end(signal) == signal)
        }
    }

    @Test("SIGTERM ends a server that works on an expensive request")
    func stopping() async throws {
        try await ServerProcess.run { server in
            let client = try ServerClient(port: server.port, database: "served")
            try client.insert(ExpensiveRequest.documents, into: "items")
            client.send(ExpensiveRequest.aggregate(ExpensiveRequest.joins))
            _ = try ServerClient(port: server.port, database: "served").running("aggregate")
            #expect(server.end(SIGTERM, within: StopLimit.usual), "it still runs")
            switch client.wire.answer(within: .seconds(60)) {
            case .reply(let reply): #expect(reply["ok"]?.wholeNumber != 1, "\(reply)")
            case .closed: break
            case .silent: Issue.record("its client still waits")
            }
        }
    }

    @Test("Every document of the BSON corpus is stored and read back byte for byte")
    func corpus() async throws {
        let folder = Python.folder.deletingLastPathComponent()
            .appending(path: "shared/bson-corpus")
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        let answer = try await ServerProcess.run { server in
            try await Python.run("corpus.py", String(server.port), folder.path)
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("Half-open requests at the metrics port close neither port")
    func metricsPortIsBounded() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "stitchport-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        let arguments = ["--metrics-port", "0", "--handshake-timeout", "2"]
        try await ServerProcess.run(arguments, log: log) { server in
            let said = try String(contentsOf: log, encoding: .utf8)
            let text = said.split(separator: "metrics on 127.0.0.1:").last?.split(separator: "\n")
            let (port, metrics) = (server.port, try #require(Int(text?.first ?? "")))
            try await BlockingThread.run {
                let clients = (0..<100).compactMap { _ in WireClient(port: metrics) }
                for client in clients { client.send(Array("GET /metrics HTTP/1.1\r\nA: ".utf8)) }
                // All are cut off: most of them at once, the others when their time is over.
                for client in clients {
                    guard case .closed = client.answer(within: .seconds(120)) else {
                        Issue.record("a half-open request stays")
                        continue
                    }
                }
                try ServerClient(port: port, database: "served").run(["ping": 1])
                let after = try #require(WireClient(port: metrics))
                after.send(Array("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
                #expect(!after.received(within: .seconds(120)).isEmpty)
            }
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test("Prometheus gets figures, and a file of options is read")
    func metricsAndFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "stitchconf-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "serve.conf")
        let text = "# a comment\nreplica-set = fromFile\nmetrics-port = 0\ntest-commands = true\n"
        try Data(text.utf8).write(to: file)
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        let answer = try await ServerProcess.run(["--config", file.path], log: log) { server in
            let said = try String(contentsOf: log, encoding: .utf8)
            let port = said.split(separator: "metrics on 127.0.0.1:").last?.split(separator: "\n")
            return try await Python.run(
                "operation.py", String(server.port), String(port?.first ?? "0"))
        }
        let said = try String(contentsOf: log, encoding: .utf8)
        #expect(answer.code == 0, "\(answer.output)")
        #expect(said.contains("listening on") && said.contains("stopping"), "\(said)")
        #expect(!said.contains("marker"), "No content of documents is logged")
        try FileManager.default.removeItem(at: folder)
    }
}
