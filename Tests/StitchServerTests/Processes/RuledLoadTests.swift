#if MongoRemote
    import BSONStore
    import Foundation
    import TestProcesses
    import Testing

    /// Under rules a gateway does much of the work itself; none of it must go on once no client
    /// waits for it.
    @Suite(.timeLimit(.minutes(60))) struct RuledLoadTests {
        /// Lends a gateway under rules with documents of `ann`, for joins.
        private static func run(
            _ body: @escaping @Sendable (LoadedGateway) throws -> Void
        ) async throws {
            try await GatewayProcesses.run(1, RuledWorld.arguments) { processes in
                let (upstream, port) = (processes.upstream.port, processes.ports[0])
                let ids = (processes.upstream.processID, processes.gateways[0].processID)
                try await BlockingThread.run {
                    let root = try RuledWorld.prepare(port)
                    let documents = ExpensiveRequest.documents.map { document in
                        var document = document
                        document.append("tenant", "a")
                        document.append("owner", "ann")
                        return document
                    }
                    try RuledWorld.fill(root, with: documents)
                    let direct = try ServerClient(port: upstream, database: "shop")
                    // A server closes a connection that says nothing for 10 seconds at first.
                    try direct.run(["ping": 1])
                    try body(
                        LoadedGateway(upstream: direct, port: port, root: root, processes: ids))
                }
            }
        }

        /// Waits until no command of a kind runs here or at the upstream; returns whether it ended.
        private static func ends(_ way: Way, _ world: LoadedGateway) throws -> Bool {
            let end = ContinuousClock.now + LoadedGateway.allowed
            while .now < end {
                if try world.root.operations(way.name).isEmpty, try !world.runs(way.name) {
                    return true
                }
            }
            return false
        }

        /// The slow commands of a user under rules; a cursor's results are ready once it is open.
        enum Way: String, CaseIterable, Sendable {
            case aggregate, find, transaction, update, findAndModify, delete

            /// The field that names the command.
            var name: String { self == .transaction ? "aggregate" : rawValue }
        }

        /// An expression that takes seconds for each document.
        private static let slow: BSONValue = [
            "$reduce": [
                "input": ["$range": [0, ["$add": [5_000_000, "$_id"]]]], "initialValue": 0,
                "in": ["$add": ["$$this", "$$value"]],
            ]
        ]
        private static let isSlow: BSONDocument = ["$expr": ["$lt": [slow, 0]]]

        /// Returns a slow command.
        private static func command(_ way: Way) -> BSONDocument {
            let joins = ExpensiveRequest.aggregate(ExpensiveRequest.joins)
            switch way {
            case .aggregate: return joins
            case .find: return ["find": "items", "filter": .document(isSlow)]
            case .transaction:
                return ServerSession(2).transaction(1, starts: true, joins)
            case .update:
                return [
                    "update": "items",
                    "updates": [["q": ["_id": 1], "u": [["$set": ["x": endless]]]]],
                ]
            case .findAndModify:
                return [
                    "findAndModify": "items", "query": .document(isSlow),
                    "update": ["$set": ["x": 1]],
                ]
            case .delete:
                return ["delete": "items", "deletes": [["q": .document(isSlow), "limit": 0]]]
            }
        }

        /// An expression of minutes.
        private static let endless: BSONValue = [
            "$size": [
                "$filter": [
                    "input": ["$range": [0, 3_000_000]],
                    "cond": ["$in": ["$$this", ["$range": [["$min": [0, 1]], 100_000]]]],
                ]
            ]
        ]

        /// Has a new client of `ann` send a slow command, and waits until the gateway runs it.
        ///
        /// - Returns: the client, and the number of the operation.
        private static func send(_ way: Way, _ world: LoadedGateway) throws -> (
            ServerClient, BSONValue
        ) {
            let client = try RuledWorld.client(world.port, "ann")
            client.send(command(way))
            return (client, try world.root.running(way.name))
        }

        @Test("killOp ends a command of a user under rules", arguments: Way.allCases)
        func killOp(way: Way) async throws {
            try await Self.run { world in
                let (client, operation) = try Self.send(way, world)
                try world.root.run(["killOp": 1, "op": operation], on: "admin")
                let answer = try client.answer(within: LoadedGateway.allowed)
                #expect(ServerRefusal(reply: answer).code == 11_601)
                #expect(try Self.ends(way, world))
                #expect(try client.run(["count": "items"])["n"] == 200)
            }
        }

        @Test("A command of a user under rules ends with its client", arguments: Way.allCases)
        func clientLeft(way: Way) async throws {
            try await Self.run { world in
                _ = try Self.send(way, world)
                #expect(try Self.ends(way, world))
            }
        }

        @Test("A command of a user under rules ends at its time limit", arguments: Way.allCases)
        func timeLimit(way: Way) async throws {
            try await Self.run { world in
                let client = try RuledWorld.client(world.port, "ann")
                var command = Self.command(way)
                command.append("maxTimeMS", 200)
                client.send(command)
                let answer = try client.answer(within: LoadedGateway.allowed)
                #expect(ServerRefusal(reply: answer).code == 50)
                #expect(try Self.ends(way, world))
            }
        }

        @Test("SIGTERM ends a gateway and a command under rules", arguments: Way.allCases)
        func stop(way: Way) async throws {
            try await Self.run { world in
                let (client, _) = try Self.send(way, world)
                #expect(world.stopsGateway(within: StopLimit.usual))
                let end = ContinuousClock.now + LoadedGateway.allowed
                while try world.runs(way.name), .now < end {}
                #expect(try !world.runs(way.name))
                withExtendedLifetime(client) {}
            }
        }
    }
#endif
