import BSONStore
import Foundation
import TestProcesses
import Testing

/// A second command of a transaction waits for the first one; its own limits hold meanwhile.
@Suite(.timeLimit(.minutes(20)), .serialized) struct SecondCommandTests {
    /// The time in which it ends; debug builds beside other tests are slow.
    private static let allowed: Duration = .seconds(60)

    /// The second command.
    enum Second: String, CaseIterable, Sendable {
        case find, commitTransaction, abortTransaction, endSessions

        func command(_ session: ServerSession, limitMS: Int32?) -> BSONDocument {
            var command: BSONDocument =
                switch self {
                case .find: session.transaction(1, ["find": "items"])
                case .commitTransaction, .abortTransaction: session.transaction(1, [rawValue: 1])
                case .endSessions: ["endSessions": [.document(session.document)]]
                }
            if let limitMS { command.append("maxTimeMS", .int32(limitMS)) }
            return command
        }

        var database: String { self == .find ? "served" : "admin" }
    }

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

    /// Returns a client whose transaction runs a command that takes minutes.
    private static func busy(
        _ session: ServerSession, writes: Bool, _ client: ServerClient, port: Int
    ) throws -> ServerClient {
        try client.insert(ExpensiveRequest.documents, into: "items")
        let first = try ServerClient(port: port, database: "served")
        let begin: BSONDocument =
            writes
            ? ["update": "items", "updates": [["q": ["_id": 0], "u": ["$set": ["x": 1]]]]]
            : ["find": "items", "limit": 1]
        try first.run(session.transaction(1, starts: true, begin))
        first.send(session.transaction(1, ExpensiveRequest.aggregate(ExpensiveRequest.joins)))
        // From then on it has the transaction.
        while try client.runningTime("aggregate") < .seconds(1) {}
        return first
    }

    @Test(
        "The second command of a transaction ends at its time", arguments: Second.allCases,
        [false, true])
    func limit(second: Second, writes: Bool) async throws {
        try await Self.served { client, port in
            let session = ServerSession(1)
            let first = try Self.busy(session, writes: writes, client, port: port)
            let other = try ServerClient(port: port, database: "served")
            other.send(second.command(session, limitMS: 300), on: second.database)
            let reply = try other.answer(within: Self.allowed)
            switch second {
            case .find: #expect(reply["code"] == 50, "\(reply)")
            case .commitTransaction where writes: #expect(reply["code"] == 50, "\(reply)")
            case .commitTransaction, .abortTransaction, .endSessions:
                #expect(reply["ok"] == 1.0, "\(reply)")
            }
            // The transaction has ended, and so does the command that runs in it.
            #expect(try first.answer(within: Self.allowed)["ok"] == 0.0)
            try client.update(1, ["$set": ["x": 2]])
            let late = try other.reply(session.transaction(1, ["find": "items"]))
            #expect([251, 256].contains(late["code"]?.int64Value), "\(late)")
        }
    }

    @Test("killOp ends the second command of a transaction", arguments: [false, true])
    func killOp(writes: Bool) async throws {
        try await Self.served { client, port in
            let session = ServerSession(1)
            let first = try Self.busy(session, writes: writes, client, port: port)
            let other = try ServerClient(port: port, database: "served")
            other.send(Second.find.command(session, limitMS: nil))
            try client.run(["killOp": 1, "op": client.running("find")], on: "admin")
            #expect(try other.answer(within: Self.allowed)["code"] == 11_601)
            #expect(try first.answer(within: Self.allowed)["ok"] == 0.0)
        }
    }

    #if MongoRemote
        @Test("At a gateway the second command of a transaction ends", arguments: Second.allCases)
        func gateway(second: Second) async throws {
            try await GatewayProcesses.run(1) { processes in
                let port = processes.ports[0]
                try await BlockingThread.run {
                    let client = try ServerClient(port: port, database: "served")
                    let session = ServerSession(1)
                    let first = try Self.busy(session, writes: true, client, port: port)
                    let other = try ServerClient(port: port, database: "served")
                    other.send(second.command(session, limitMS: 300), on: second.database)
                    let reply = try other.answer(within: Self.allowed)
                    #expect(reply["code"] == 50 || reply["ok"] == 1.0, "\(reply)")
                    #expect(second != .find || reply["code"] == 50, "\(reply)")
                    // An interrupted commit leaves the transaction open.
                    other.send(Second.find.command(session, limitMS: nil))
                    if second == .commitTransaction {
                        try client.run(["killOp": 1, "op": client.running("find")], on: "admin")
                    }
                    #expect(try other.answer(within: Self.allowed)["ok"] == 0.0)
                    withExtendedLifetime(first) {}
                }
            }
        }
    #endif
}
