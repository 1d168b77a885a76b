#if Remote
    import BSONStore
    import StitchCommands
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// A request must reach the primary, wherever it is, once and no more often.
    @Suite(.timeLimit(.minutes(20))) struct PrimaryTests {
        private static let ping: BSONDocument = ["ping": 1]
        private static let insert: BSONDocument = ["insert": "a", "documents": [["_id": 1]]]

        /// A port at which no process listens.
        private static func deadPort() async throws -> Int {
            try await ScriptedPeer.run { _ in
            } _: {
                $0.port
            }
        }

        @Test func `of two hosts the first may be dead`() async throws {
            let dead = try await Self.deadPort()
            try await ScriptedPeer.run { client in
                while let next = try client.greet() { client.reply(["ok": 1], to: next.id) }
            } _: { peer in
                let uri = "mongodb://127.0.0.1:\(dead),127.0.0.1:\(peer.port)"
                try await ServerConnections.run(uri) { server in
                    try await server.read(Self.ping)
                }
            }
        }

        @Test func `a secondary names the primary`() async throws {
            try await ScriptedPeer.run { client in
                while let next = try client.greet() { client.reply(["ok": 1], to: next.id) }
            } _: { primary in
                let address = BSONValue.string("127.0.0.1:\(primary.port)")
                let other: BSONDocument = [
                    "isWritablePrimary": false, "setName": "rs", "hosts": [address],
                    "primary": address, "ok": 1,
                ]
                try await ScriptedPeer.run { client in
                    _ = try client.greet(other)
                } _: { secondary in
                    let uri = "mongodb://127.0.0.1:\(secondary.port)/?replicaSet=rs"
                    try await ServerConnections.run(uri) { server in
                        try await server.read(Self.ping)
                    }
                    #expect(primary.connectionCount == 1)
                }
            }
        }

        @Test func `without a primary each host is named with its error`() async throws {
            let dead = try await Self.deadPort()
            let hello: BSONDocument = ["isWritablePrimary": true, "setName": "other", "ok": 1]
            try await ScriptedPeer.run { client in
                _ = try client.greet(hello)
            } _: { peer in
                let uri =
                    "mongodb://127.0.0.1:\(dead),127.0.0.1:\(peer.port)/?replicaSet=rs"
                    + "&serverSelectionTimeoutMS=1000"
                try await ServerConnections.run(uri) { server in
                    let failure = await server.informedFailure(of: Self.ping)
                    #expect(failure?.kind == .network)
                    let text = failure?.message ?? ""
                    #expect(text.contains("within 1000 ms"), "\(text)")
                    #expect(
                        text.contains("127.0.0.1:\(dead): cannot connect: Connection refused;"),
                        "\(text)")
                    #expect(
                        text.contains(
                            "127.0.0.1:\(peer.port): it belongs to the replica set other, not to rs"
                        ), "\(text)")
                }
            }
        }

        /// The transaction numbers of the writes that a peer got.
        private func numbers(
            of command: BSONDocument, _ kind: MongoCommandKind, set: String? = "rs",
            _ first: BSONDocument?
        ) async throws -> (failure: MongoFailure?, commands: [BSONDocument]) {
            let seen = Locked<[BSONDocument]>([])
            let failure = try await ScriptedPeer.run { client in
                while let next = try client.greet(ScriptedPeer.hello(set: set)) {
                    let isFirst = seen.withLock { seen in
                        seen.append(next.command)
                        return seen.count == 1
                    }
                    if !isFirst {
                        client.reply(["ok": 1], to: next.id)
                    } else if let first {
                        client.reply(first, to: next.id)
                    } else {
                        return
                    }
                }
            } _: { peer in
                try await ServerConnections.run("mongodb://127.0.0.1:\(peer.port)") { server in
                    await server.failure(of: command, on: "shop", kind)
                }
            }
            return (failure, seen.withLock { $0 })
        }

        private static func error(_ code: Int32, _ labels: String...) -> BSONDocument {
            [
                "ok": 0, "code": .int32(code), "errmsg": "no",
                "errorLabels": .array(BSONArray(labels.map { .string($0) })),
            ]
        }

        @Test func `a write is repeated once with the same number`() async throws {
            for first in [nil, Self.error(10_107, "RetryableWriteError")] {
                let (failure, commands) = try await numbers(of: Self.insert, .write, first)
                #expect(failure == nil)
                #expect(commands.count == 2)
                #expect(commands.first?["txnNumber"] == .int64(1))
                #expect(commands.first?["lsid"]?.documentValue?["id"] != nil)
                #expect(commands.first?["$db"] == "shop")
                #expect(commands.first == commands.last)
            }
        }

        @Test func `a write that a repetition could apply twice is not repeated`() async throws {
            let many: BSONDocument = [
                "update": "a", "updates": [["q": [:], "u": ["$set": ["a": 1]], "multi": true]],
            ]
            for (command, set) in [(many, "rs"), (Self.insert, nil)] {
                let (failure, commands) = try await numbers(of: command, .write, set: set, nil)
                #expect(failure?.kind == .network)
                #expect(commands.count == 1)
                #expect(commands.first?["txnNumber"] == nil)
            }
            let (failure, commands) = try await numbers(
                of: Self.insert, .write, Self.error(11_000))
            #expect(failure?.code == 11_000)
            #expect(commands.count == 1)
        }

        @Test func `a read is repeated once`() async throws {
            for first in [nil, Self.error(189)] {
                let (failure, commands) = try await numbers(of: Self.ping, .read, first)
                #expect(failure == nil)
                #expect(commands.count == 2)
            }
            let (failure, commands) = try await numbers(of: Self.ping, .read, Self.error(2))
            #expect(failure?.code == 2)
            #expect(commands.count == 1)
        }

        @Test func `a read that fails twice fails`() async throws {
            try await ScriptedPeer.run { client in
                _ = try client.greet()
            } _: { peer in
                try await ServerConnections.run("mongodb://127.0.0.1:\(peer.port)") { server in
                    let failure = await server.failure(of: Self.ping)
                    #expect(failure?.kind == .network)
                    #expect(peer.connectionCount == 2)
                }
            }
        }

        @Test(arguments: [
            ("insert", true), ("findAndModify", true), ("find", false), ("createUser", false),
        ])
        func `only writes of single documents take a number`(_ name: String, _ takes: Bool) {
            #expect(RetryRules.takesNumber(MongoRequest([(name, "a")].document)) == takes)
            #expect(
                RetryRules.takesNumber(
                    MongoRequest(["delete": "a", "deletes": [["q": [:], "limit": 1]]])))
            #expect(
                !RetryRules.takesNumber(
                    MongoRequest(["delete": "a", "deletes": [["q": [:], "limit": 0]]])))
            #expect(
                !RetryRules.takesNumber(
                    MongoRequest(["bulkWrite": 1, "ops": [["update": 0, "multi": true]]])))
            #expect(!RetryRules.takesNumber(MongoRequest([:])))
        }

        @Test func `reachability follows the primary`() async throws {
            try await ServerProcess.run { process in
                let proxy = try CuttingProxy(to: process.port)
                let uri = "stitchsync://127.0.0.1:\(proxy.port)/?serverSelectionTimeoutMS=300"
                try await ServerConnections.run(uri) { server in
                    var states = server.reachability().makeAsyncIterator()
                    // Beside many other tests the server may answer later than the limit.
                    while await server.failure(of: Self.ping) != nil {}
                    while await states.next() == false {}
                    let dead = try await Self.deadPort()
                    proxy.redirect(to: dead)
                    proxy.cut(afterBytes: 0)
                    #expect(await server.failure(of: Self.ping)?.kind == .network)
                    #expect(await states.next() == false)
                    proxy.redirect(to: process.port)
                    proxy.cut(afterBytes: .max)
                    // No request: the listener itself looks for the server.
                    #expect(await states.next() == true)
                    server.close()
                    #expect(await states.next() == nil)
                }
                proxy.close()
            }
        }
    }

    extension [(String, BSONValue)] {
        fileprivate var document: BSONDocument { BSONDocument(self) }
    }
#endif
