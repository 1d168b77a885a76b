import BSONStore
import Foundation
import TestProcesses
import Testing

/// One user's transactions must not keep the other users from writing, at a file and at a gateway.
@Suite(.timeLimit(.minutes(20)), .serialized) struct TransactionTurnTests {
    enum Way: CaseIterable { case file, gateway }

    /// Lends a server, or a gateway, with two users whom no rules bind.
    private static func run(
        _ way: Way, _ body: @escaping @Sendable (_ port: Int) throws -> Void
    ) async throws {
        switch way {
        case .file:
            try await ServerProcess.run(["--auth"]) { server in
                try await fill(server.port, body)
            }
        case .gateway:
            try await GatewayProcesses.run(1, ["--auth"]) { processes in
                try await fill(processes.ports[0], body)
            }
        }
    }

    private static func fill(
        _ port: Int, _ body: @escaping @Sendable (_ port: Int) throws -> Void
    ) async throws {
        try await BlockingThread.run {
            try ServerClient(port: port, database: "admin").run([
                "createUser": "root", "pwd": "pw", "roles": ["root"],
            ])
            let root = try ServerClient(port: port, database: "shop", user: "root")
            for user in ["ann", "ben"] as [BSONValue] {
                try root.run(
                    [
                        "createUser": user, "pwd": "pw",
                        "roles": [["role": "readWrite", "db": "shop"]],
                    ], on: "admin")
            }
            try root.insert(ExpensiveRequest.documents, into: "items")
            for collection in ["held", "others"] {
                try root.insert([["_id": "first"]], into: collection)
            }
            try body(port)
        }
    }

    private static func client(_ port: Int, _ user: String) throws -> ServerClient {
        try ServerClient(port: port, database: "shop", user: user)
    }

    private static func insert(into collection: String) -> BSONDocument {
        ["insert": .string(collection), "documents": [["k": 1]]]
    }

    /// Begins a transaction of Ann's that holds the write lock, with a command that runs for minutes.
    private static func hold(_ port: Int, _ session: UInt8) throws -> ServerClient {
        let client = try client(port, "ann")
        let session = ServerSession(session)
        try client.run(session.transaction(1, starts: true, insert(into: "held")))
        client.send(session.transaction(1, ExpensiveRequest.aggregate(ExpensiveRequest.joins)))
        return client
    }

    /// Expects that a transaction was ended, and that its client may try it again.
    private static func expectEnded(_ client: ServerClient, _ session: UInt8) throws {
        let end = try client.reply(
            ServerSession(session).transaction(1, ["commitTransaction": 1]), on: "admin")
        for reply in [try client.answer(), end] {
            #expect(reply["code"] == 251, "\(reply)")
            #expect(reply["errorLabels"] == ["TransientTransactionError"], "\(reply)")
        }
    }

    @Test(
        "A transaction gives way to another user's write long before it does to its own user's",
        arguments: Way.allCases, [false, true])
    func writes(way: Way, isRetryable: Bool) async throws {
        try await Self.run(way) { port in
            let (own, other) = (try Self.client(port, "ann"), try Self.client(port, "ben"))
            var write = Self.insert(into: "others")
            if isRetryable { write = ServerSession(9).retryable(1, write) }
            let first = try Self.hold(port, 1)
            let ofOther = try ContinuousClock().measure { try other.run(write) }
            try Self.expectEnded(first, 1)
            let second = try Self.hold(port, 2)
            let ofOwn = try ContinuousClock().measure { try own.run(write) }
            try Self.expectEnded(second, 2)
            #expect(ofOther < ofOwn / 2)
        }
    }

    @Test("A user's transaction comes after one of another user's", arguments: Way.allCases)
    func transactions(way: Way) async throws {
        try await Self.run(way) { port in
            let other = try Self.client(port, "ben")
            let session = ServerSession(9)
            let held = try Self.hold(port, 1)
            // A busy machine may need several; those before had no turn for as long as Ann's lasted.
            var number: Int64 = 0
            var reply: BSONDocument
            repeat {
                number += 1
                reply = try other.reply(
                    session.transaction(number, starts: true, Self.insert(into: "others")))
            } while ServerRefusal(reply: reply).code == 112 && number < 8
            #expect(reply["n"] == 1, "\(reply)")
            try other.run(session.transaction(number, ["commitTransaction": 1]), on: "admin")
            try Self.expectEnded(held, 1)
        }
    }
}
