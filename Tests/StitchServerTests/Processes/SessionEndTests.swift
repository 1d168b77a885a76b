import BSONStore
import Foundation
import TestProcesses
import Testing

/// The end of sessions must cost what they hold, and stop when its own command does.
@Suite(.timeLimit(.minutes(20)), .serialized) struct SessionEndTests {
    /// The time in which many sessions end; debug builds beside other tests are slow.
    private static let allowed: Duration = .seconds(20)

    private static func served(
        _ body: @escaping @Sendable (ServerClient, _ port: Int) throws -> Void
    ) async throws {
        try await ServerProcess.run { server in
            let port = server.port
            try await BlockingThread.run {
                try body(ServerClient(port: port, database: "served"), port)
            }
        }
    }

    private static func openCursors(_ client: ServerClient) throws -> Int {
        let status = try client.run(["serverStatus": 1], on: "admin")
        let cursors = status["metrics"]?.documentValue?["cursor"]?.documentValue
        return Int(cursors?["open"]?.documentValue?["total"]?.int64Value ?? -1)
    }

    private static func open(
        _ count: Int, in session: ServerSession, _ client: ServerClient
    ) throws {
        for _ in 0..<count {
            try client.run([
                "find": "items", "batchSize": 1, "lsid": .document(session.document),
            ])
        }
    }

    @Test("Ending many unknown sessions does not go through all open cursors")
    func unknownSessions() async throws {
        try await Self.served { client, _ in
            try client.insert((0..<5).map { ["_id": .int32($0)] }, into: "items")
            try Self.open(2_000, in: ServerSession(1), client)
            let start = ContinuousClock.now
            try client.run(["endSessions": LargeRequest.sessions])
            #expect(ContinuousClock.now - start < Self.allowed)
            #expect(try Self.openCursors(client) == 2_000)
        }
    }

    @Test("A session ends with its own cursors, also with one that others read")
    func ownCursors() async throws {
        try await Self.served { client, port in
            try client.insert((0..<5).map { ["_id": .int32($0)] }, into: "items")
            try Self.open(30, in: ServerSession(1), client)
            try Self.open(20, in: ServerSession(2), client)
            try client.run(["find": "items", "batchSize": 1])
            let waiting = try ServerClient(port: port, database: "served")
            var stream = ExpensiveRequest.aggregate([["$changeStream": [:]]])
            stream.append("lsid", .document(ServerSession(1).document))
            let id = try waiting.run(stream)["cursor"]?.documentValue?["id"] ?? .null
            waiting.send([
                "getMore": id, "collection": "items", "maxTimeMS": 300_000,
                "lsid": .document(ServerSession(1).document),
            ])
            _ = try client.running("getMore")
            try client.run(["endSessions": [.document(ServerSession(1).document)]])
            #expect(try waiting.answer(within: Self.allowed)["code"] == 237)
            #expect(try Self.openCursors(client) == 21)
            try client.run(["killSessions": [.document(ServerSession(2).document)]])
            #expect(try Self.openCursors(client) == 1)
        }
    }

    @Test("killOp ends the end of many sessions")
    func killOp() async throws {
        try await Self.served { client, port in
            let other = try ServerClient(port: port, database: "served")
            // One after the other, since one may be done before it is seen.
            for _ in 0..<20 {
                other.send(["endSessions": LargeRequest.sessions])
                while true {
                    if let operation = try client.operations("endSessions").first {
                        try client.run(["killOp": 1, "op": operation], on: "admin")
                    }
                    guard case .reply(let reply) = other.wire.answer(within: .zero) else {
                        continue
                    }
                    if reply["code"] == 11_601 { return }
                    #expect(reply["ok"] == 1.0, "\(reply)")
                    break
                }
            }
            Issue.record("it was never interrupted")
        }
    }

    #if MongoRemote
        @Test(
            "At a gateway the end of many sessions ends at its time",
            arguments: [1, 100] as [Int32])
        func gateway(milliseconds: Int32) async throws {
            try await GatewayProcesses.run(1) { processes in
                let port = processes.ports[0]
                try await BlockingThread.run {
                    let client = try ServerClient(port: port, database: "shop")
                    for name in ["endSessions", "killSessions"] {
                        let start = ContinuousClock.now
                        let reply = try client.reply([
                            name: LargeRequest.sessions, "maxTimeMS": .int32(milliseconds),
                        ])
                        #expect(reply["code"] == 50 || reply["ok"] == 1.0, "\(reply)")
                        #expect(milliseconds > 1 || reply["code"] == 50)
                        #expect(ContinuousClock.now - start < Self.allowed)
                    }
                }
            }
        }
    #endif
}
