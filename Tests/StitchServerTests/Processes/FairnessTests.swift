import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// What one user asks for, however much it is, must not keep the server from answering others.
@Suite(.timeLimit(.minutes(20)), .serialized) struct FairnessTests {
    /// The number of expensive requests of one user, each on its own connection.
    private static let floods = 60

    /// Lends a server with an administrator and two users.
    private static func served(
        _ body: @escaping @Sendable (_ root: ServerClient, _ port: Int) throws -> Void
    ) async throws {
        try await ServerProcess.run(["--auth"]) { server in
            let port = server.port
            try await BlockingThread.run {
                try ServerClient(port: port, database: "served").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                let root = try client(port, "root")
                for name in ["ann", "ben"] {
                    try root.run(
                        [
                            "createUser": .string(name), "pwd": "pw",
                            "roles": [["role": "readWrite", "db": "served"]],
                        ], on: "admin")
                }
                try root.insert(ExpensiveRequest.documents, into: "items")
                try body(root, port)
            }
        }
    }

    private static func client(_ port: Int, _ user: String) throws -> ServerClient {
        try ServerClient(port: port, database: "served", user: user)
    }

    /// Sends expensive requests, and waits until as many run as the user may have running.
    private static func flood(
        _ clients: [ServerClient], _ root: ServerClient, with request: BSONDocument
    ) throws {
        for client in clients { client.send(request) }
        let name = request.keys.first ?? ""
        let bound = WorkShares<Int>.Bounds.usual(common: ServerSettings().threadsMax)
        let most = (bound.threads[.common] ?? 0) / 2
        while try root.operations(name).count < most {}
        #expect(try root.operations(name).count == most)
    }

    /// Expects that no client has an answer yet.
    private static func expectBusy(_ clients: [ServerClient], _ what: String) {
        for client in clients {
            if case .silent = client.wire.answer(within: .zero) { continue }
            Issue.record("\(what): a slow request was answered first")
        }
    }

    @Test("Slow reads of one user keep no other user waiting, nor sign-in, ping and killOp")
    func reads() async throws {
        try await Self.served { root, port in
            let known = try Self.client(port, "ben")
            var slow = try (0..<Self.floods).map { _ in try Self.client(port, "ann") }
            try Self.flood(slow, root, with: ExpensiveRequest.aggregate(ExpensiveRequest.joins))
            let stranger = try ServerClient(port: port, database: "served")
            try stranger.run(["hello": 1], on: "admin")
            try stranger.run(["ping": 1], on: "admin")
            let ben = try Self.client(port, "ben")
            for client in [known, ben] {
                #expect(try client.documents(["find": "items", "limit": 3]).count == 3)
                try client.insert([["k": 2]], into: "others")
                try client.run(["ping": 1])
            }
            // The slow user's own signs of life, too.
            try Self.client(port, "ann").run(["ping": 1])
            #expect(try root.documents(["find": "items", "limit": 3]).count == 3)
            Self.expectBusy(slow, "read")
            for operation in try root.operations("aggregate") {
                try root.run(["killOp": 1, "op": operation], on: "admin")
            }
            // What waits for a thread ends with its client, too.
            slow.removeAll()
            while try !root.operations("aggregate").isEmpty {}
            #expect(try Self.client(port, "ann").documents(["find": "items"]).count == 200)
        }
    }

    @Test("Slow writes of one user keep no other user waiting for all of them")
    func writes() async throws {
        try await Self.served { root, port in
            let ben = try Self.client(port, "ben")
            var slow = try (0..<20).map { _ in try Self.client(port, "ann") }
            // One join, which takes a second or so, and holds the write lock meanwhile.
            let join = ExpensiveRequest.aggregate(
                Array(ExpensiveRequest.joins.prefix(2)) + [["$count": "n"], ["$merge": "merged"]])
            for client in slow { client.send(join) }
            while try root.operations("aggregate").count < 16 {}
            try ben.insert([["k": 2]], into: "others")
            let answered = slow.count { client in
                if case .silent = client.wire.answer(within: .zero) { false } else { true }
            }
            #expect(answered < 10, "a write waited for those of another user")
            slow.removeAll()
            while try !root.operations("aggregate").isEmpty {}
        }
    }

    @Test("Without sign-in the slow requests of an address leave signs of life and killOp")
    func strangers() async throws {
        try await ServerProcess.run { server in
            let port = server.port
            try await BlockingThread.run {
                let other = try ServerClient(port: port, database: "served")
                try other.insert(ExpensiveRequest.documents, into: "items")
                let slow = try (0..<Self.floods).map { _ in
                    try ServerClient(port: port, database: "served")
                }
                try Self.flood(
                    slow, other, with: ExpensiveRequest.aggregate(ExpensiveRequest.joins))
                let new = try ServerClient(port: port, database: "served")
                try new.run(["hello": 1], on: "admin")
                try new.run(["ping": 1], on: "admin")
                // The shell's form.
                let shown = try new.run(
                    ["aggregate": 1, "pipeline": [["$currentOp": [:]]], "cursor": [:]],
                    on: "admin")
                let operations = shown["cursor"]?.documentValue?["firstBatch"]?.arrayValue
                let commands = operations?.compactMap {
                    $0.documentValue?["command"]?.documentValue
                }
                #expect(commands?.contains { $0.keys.first == "aggregate" } == true)
                Self.expectBusy(slow, "read")
            }
            #expect(server.end(SIGTERM, within: StopLimit.usual), "it still runs")
        }
    }
}
