import BSONStore
import Foundation
import TestProcesses
import Testing

/// One user's cursors and slow commands must not stop the other users of a gateway, nor go on at the
/// database behind it once nobody waits for them.
@Suite(.timeLimit(.minutes(60))) struct GatewayLoadTests {
    /// Lends a gateway with the users `one` and `two`, whom no rules bind.
    private static func run(
        _ documents: [BSONDocument],
        _ body: @escaping @Sendable (LoadedGateway) throws -> Void
    ) async throws {
        try await GatewayProcesses.run(1, ["--auth"]) { processes in
            let (upstream, port) = (processes.upstream.port, processes.ports[0])
            let ids = (processes.upstream.processID, processes.gateways[0].processID)
            try await BlockingThread.run {
                try ServerClient(port: port, database: "admin").run([
                    "createUser": "root", "pwd": "pw", "roles": ["root"],
                ])
                let root = try ServerClient(port: port, database: "shop", user: "root")
                for user in ["one", "two"] as [BSONValue] {
                    try root.run(
                        [
                            "createUser": user, "pwd": "pw",
                            "roles": [["role": "readWrite", "db": "shop"]],
                        ], on: "admin")
                }
                if !documents.isEmpty { try root.insert(documents, into: "items") }
                let direct = try ServerClient(port: upstream, database: "shop")
                // A server closes a connection that says nothing for 10 seconds at first.
                try direct.run(["ping": 1])
                try body(LoadedGateway(upstream: direct, port: port, root: root, processes: ids))
            }
        }
    }

    private static let find: BSONDocument = ["find": "items", "batchSize": 1]

    @Test(
        "1,200 unread cursors of a user do not stop the others, and those that end are given back")
    func unreadCursors() async throws {
        try await Self.run((0..<5).map { ["_id": .int32($0)] }) { world in
            let one = try ServerClient(port: world.port, database: "shop", user: "one")
            var open: [BSONValue] = []
            var codes: [Int: Int] = [:]
            for _ in 0..<1_200 {
                let reply = try one.reply(Self.find)
                if let id = reply["cursor"]?.documentValue?["id"] { open.append(id) }
                codes[Int(reply["code"]?.int64Value ?? 0), default: 0] += 1
            }
            #expect(codes == [0: 1_000, 365: 200])
            #expect(try world.cursors(become: 1_000) == 1_000)
            // The user's own other commands, and all those of others.
            #expect(try one.run(["count": "items"])["n"] == 5)
            let two = try ServerClient(port: world.port, database: "shop", user: "two")
            try two.run(["ping": 1])
            #expect(try two.documents(Self.find).count == 5)
            try two.insert([["_id": "new"]], into: "items")
            let session = ServerSession(1)
            try two.run(session.transaction(1, starts: true, ["find": "items"]))
            try two.run(session.transaction(1, ["commitTransaction": 1]), on: "admin")
            // A cursor goes on, whatever connection reads it.
            let more = try one.run(["getMore": open[0], "collection": "items"])
            #expect(more["cursor"]?.documentValue?["nextBatch"]?.arrayValue?.count ?? 0 >= 4)
            let killed = try one.run([
                "killCursors": "items", "cursors": .array(BSONArray(open[1..<500])),
            ])
            #expect(killed["cursorsKilled"]?.arrayValue?.count == 499)
            #expect(try world.cursors(become: 500) == 500)
            for _ in 0..<500 { try one.run(Self.find) }
            #expect(ServerRefusal(reply: try one.reply(Self.find)).code == 365)
        }
    }

    @Test("A gateway that stops closes the cursors that its clients left open")
    func stopWithCursors() async throws {
        try await Self.run((0..<5).map { ["_id": .int32($0)] }) { world in
            let one = try ServerClient(port: world.port, database: "shop", user: "one")
            for _ in 0..<50 { try one.run(Self.find) }
            #expect(try world.cursors(become: 50) == 50)
            #expect(world.stopsGateway(within: StopLimit.usual))
            #expect(try world.cursors(become: 0) == 0)
        }
    }

    /// The ways of a slow command to the upstream.
    enum Way: String, CaseIterable, Sendable {
        case command, getMore, transaction, write
    }

    /// Has a new client send a slow command, and waits until the upstream runs it.
    ///
    /// - Returns: the client, and the name of the command.
    private static func sendSlow(_ way: Way, _ world: LoadedGateway) throws -> (
        ServerClient, String
    ) {
        let client = try ServerClient(port: world.port, database: "shop", user: "one")
        var command = ExpensiveRequest.aggregate(ExpensiveRequest.joins)
        var name = "aggregate"
        switch way {
        case .command: client.send(command)
        case .getMore:
            // The first documents are there at once; each other one takes seconds.
            let sum: BSONValue = [
                "$reduce": [
                    "input": ["$range": [0, ["$add": [5_000_000, "$_id"]]]], "initialValue": 0,
                    "in": ["$add": ["$$this", "$$value"]],
                ]
            ]
            command = [
                "find": "items", "batchSize": 1,
                "filter": ["$expr": ["$or": [["$lt": ["$_id", 10]], ["$gt": [sum, 0]]]]],
            ]
            let opened = try client.run(command)["cursor"]?.documentValue
            name = "getMore"
            client.send(["getMore": opened?["id"] ?? .null, "collection": "items"])
        case .transaction:
            client.send(ServerSession(2).transaction(1, starts: true, command))
        case .write:
            let search: BSONValue = [
                "$size": [
                    "$filter": [
                        "input": ["$range": [0, 3_000_000]],
                        "cond": ["$in": ["$$this", ["$range": [["$min": [0, 1]], 100_000]]]],
                    ]
                ]
            ]
            name = "update"
            client.send([
                "update": "items",
                "updates": [["q": ["_id": 1], "u": [["$set": ["x": search]]]]],
            ])
        }
        try world.waits(for: name)
        return (client, name)
    }

    @Test("killOp ends a command at the upstream", arguments: Way.allCases)
    func killOp(way: Way) async throws {
        try await Self.run(ExpensiveRequest.documents) { world in
            let (client, name) = try Self.sendSlow(way, world)
            try world.root.run(["killOp": 1, "op": world.root.running(name)], on: "admin")
            #expect(
                ServerRefusal(reply: try client.answer(within: LoadedGateway.allowed)).code
                    == 11_601)
            #expect(try world.ends(name))
            // Its session, or a new one, serves other commands.
            #expect(try client.run(["count": "items"])["n"] == 200)
        }
    }

    @Test("A command whose client leaves ends at the upstream", arguments: Way.allCases)
    func clientLeft(way: Way) async throws {
        try await Self.run(ExpensiveRequest.documents) { world in
            let name = try Self.sendSlow(way, world).1
            #expect(try world.ends(name))
        }
    }

    @Test("killSessions ends the command of a client's session at the upstream")
    func killSessions() async throws {
        try await Self.run(ExpensiveRequest.documents) { world in
            let client = try ServerClient(port: world.port, database: "shop", user: "one")
            let session = ServerSession(7).document
            var command = ExpensiveRequest.aggregate(ExpensiveRequest.joins)
            command.append("lsid", .document(session))
            client.send(command)
            try world.waits(for: "aggregate")
            let other = try ServerClient(port: world.port, database: "shop", user: "one")
            try other.run(["killSessions": [.document(session)]], on: "admin")
            #expect(
                ServerRefusal(reply: try client.answer(within: LoadedGateway.allowed)).code
                    == 11_601)
            #expect(try world.ends("aggregate"))
        }
    }

    @Test("SIGTERM ends a command at the upstream, and the gateway", arguments: Way.allCases)
    func stop(way: Way) async throws {
        try await Self.run(ExpensiveRequest.documents) { world in
            let (client, name) = try Self.sendSlow(way, world)
            #expect(world.stopsGateway(within: StopLimit.usual))
            #expect(try world.ends(name))
            withExtendedLifetime(client) {}
        }
    }

    @Test("SIGTERM ends a gateway whose upstream does not answer")
    func stopBeforeSilentUpstream() async throws {
        try await Self.run(ExpensiveRequest.documents) { world in
            let (client, _) = try Self.sendSlow(.command, world)
            kill(world.processes.upstream, SIGSTOP)
            defer { kill(world.processes.upstream, SIGCONT) }
            #expect(world.stopsGateway(within: StopLimit.ofSilentUpstream))
            withExtendedLifetime(client) {}
        }
    }

    @Test("A command ends at the upstream at the client's time limit", arguments: [false, true])
    func timeLimit(isInTransaction: Bool) async throws {
        try await Self.run(ExpensiveRequest.documents) { world in
            let client = try ServerClient(port: world.port, database: "shop", user: "one")
            var command = ExpensiveRequest.aggregate(ExpensiveRequest.joins, limitMS: 200)
            if isInTransaction {
                command = ServerSession(2).transaction(1, starts: true, command)
            }
            let reply = try client.reply(command)
            #expect(reply["code"] == 50, "\(reply)")
            #expect(try world.ends("aggregate"))
        }
    }

    @Test("A document that is nested too deeply is named by an error that is not retried")
    func deepDocument() async throws {
        try await Self.run([]) { world in
            let deep = (0..<90).reduce(BSONValue.int32(1)) { inner, _ in ["d": inner] }
            let one = try ServerClient(port: world.port, database: "shop", user: "one")
            try one.insert([["_id": "shallow"], ["_id": "deep", "d": deep]], into: "items")
            let wrapped = (0..<40).reduce(BSONValue.string("$d")) { inner, _ in ["w": inner] }
            let reply = try one.reply(
                ExpensiveRequest.aggregate([["$project": ["w": wrapped]], ["$sort": ["_id": 1]]]))
            let refusal = ServerRefusal(reply: reply)
            #expect(refusal.code == 15, "\(refusal)")
            #expect(refusal.message.contains(#"the document of shop.items with _id "deep""#))
        }
    }
}
