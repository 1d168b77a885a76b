#if Remote
    import BSONStore
    import StitchCommands
    import StitchSync
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// Many requests share a connection: each must get its own reply, and none must harm another.
    @Suite(.timeLimit(.minutes(20))) struct ConnectionTests {
        private static let ping: BSONDocument = ["ping": 1]

        private static func uri(_ port: Int, _ options: String = "") -> String {
            "stitchsync://127.0.0.1:\(port)/?serverSelectionTimeoutMS=240000&connectTimeoutMS=240000"
                + options
        }

        private static func echo(_ number: Int64) -> BSONDocument { ["echo": .int64(number)] }

        @Test func `a hundred requests share one connection`() async throws {
            let held = Locked<[(Int32, BSONValue)]>([])
            try await ScriptedPeer.run { client in
                // Answers once all have arrived, the last first.
                while let next = try client.greet() {
                    let all = held.withLock { held in
                        held.append((next.id, next.command["echo"] ?? .null))
                        return held
                    }
                    guard all.count == 100 else { continue }
                    for (id, value) in all.reversed() {
                        client.reply(["ok": 1, "echo": value], to: id)
                    }
                }
            } _: { peer in
                var options = ServerRemote.Options.patient
                options.requestsMax = 100
                try await ServerConnections.run(Self.uri(peer.port), options: options) { server in
                    try await withThrowingTaskGroup { group in
                        for number in 0..<Int64(100) {
                            group.addTask {
                                let reply = try await server.read(Self.echo(number))
                                #expect(reply["echo"] == .int64(number))
                            }
                        }
                        try await group.waitForAll()
                    }
                    #expect(peer.connectionCount == 1)
                }
            }
        }

        @Test func `the server gets a hundred requests over one connection`() async throws {
            try await ServerProcess.run { process in
                try await ServerConnections.run(Self.uri(process.port)) { server in
                    try await withThrowingTaskGroup { group in
                        for number in 0..<Int32(100) {
                            group.addTask {
                                let insert: BSONDocument = [
                                    "insert": "items", "documents": [["_id": .int32(number)]],
                                ]
                                _ = try await server.run(insert, on: "shop", .write)
                            }
                        }
                        try await group.waitForAll()
                    }
                    let count = try await server.read(["count": "items"], on: "shop")
                    #expect(count["n"] == 100)
                }
            }
        }

        @Test(arguments: [true, false])
        func `cancelling one request leaves the others alone`(_ isConcurrent: Bool) async throws {
            let arrived = Signal()
            try await ScriptedPeer.run { client in
                while let next = try client.greet(ScriptedPeer.hello(concurrent: isConcurrent)) {
                    if next.command["echo"] == .int64(0) {
                        arrived.notify()
                        continue
                    }
                    client.reply(["ok": 1, "echo": next.command["echo"] ?? .null], to: next.id)
                }
            } _: { peer in
                try await ServerConnections.run(Self.uri(peer.port)) { server in
                    let failure = try await withThrowingTaskGroup(of: MongoFailure?.self) {
                        group in
                        group.addTask { await server.failure(of: Self.echo(0)) }
                        await arrived.wait(after: 0)
                        for number in 1...Int64(20) {
                            let reply = try await server.read(Self.echo(number))
                            #expect(reply["echo"] == .int64(number))
                        }
                        group.cancelAll()
                        return try await group.next() ?? nil
                    }
                    #expect(failure == .cancelled)
                    try await server.read(Self.echo(21))
                    #expect(peer.connectionCount == (isConcurrent ? 1 : 2))
                }
            }
        }

        @Test func `the late reply to a cancelled request is dropped`() async throws {
            let arrived = Signal()
            try await ScriptedPeer.run { client in
                var held: Int32?
                while let next = try client.greet() {
                    if next.command["echo"] == .int64(0) {
                        held = next.id
                        arrived.notify()
                        continue
                    }
                    if let held { client.reply(["ok": 1, "echo": 0], to: held) }
                    held = nil
                    client.reply(["ok": 1, "echo": next.command["echo"] ?? .null], to: next.id)
                }
            } _: { peer in
                try await ServerConnections.run(Self.uri(peer.port)) { server in
                    await withTaskGroup { group in
                        group.addTask {
                            #expect(await server.failure(of: Self.echo(0)) == .cancelled)
                        }
                        await arrived.wait(after: 0)
                        group.cancelAll()
                    }
                    for number in [Int64(1), 2] {
                        let reply = try await server.read(Self.echo(number))
                        #expect(reply["echo"] == .int64(number))
                    }
                    #expect(peer.connectionCount == 1)
                }
            }
        }

        @Test func `after the end calls fail`() async throws {
            let arrived = Signal()
            try await ScriptedPeer.run { client in
                while try client.greet() != nil { arrived.notify() }
            } _: { peer in
                let remote = try ServerRemote(Self.uri(peer.port))
                let server = remote.connections
                let failure = await withTaskGroup(of: MongoFailure?.self) { group in
                    group.addTask { await server.failure(of: Self.ping) }
                    await arrived.wait(after: 0)
                    await remote.close()
                    return await group.next() ?? nil
                }
                #expect(failure == .closed)
                #expect(await server.failure(of: Self.ping) == .closed)
                #expect(MongoFailure.closed.remoteError.errorClass == .retryable)
                await #expect(throws: MongoFailure.closed) { try await server.startSession() }
            }
        }

        @Test func `a wait does not delay requests`() async throws {
            try await ServerProcess.run { process in
                try await ServerConnections.run(Self.uri(process.port)) { server in
                    let session = try await server.startSession()
                    let opened = try await session.run(
                        [
                            "aggregate": "items", "pipeline": [["$changeStream": [:]]],
                            "cursor": [:],
                        ], on: "shop", waits: false)
                    let cursor = opened["cursor"]?.documentValue?["id"]?.int64Value ?? 0
                    let more: BSONDocument = [
                        "getMore": .int64(cursor), "collection": "items", "maxTimeMS": 600_000,
                    ]
                    try await withThrowingTaskGroup(of: BSONDocument.self) { group in
                        group.addTask { try await session.run(more, on: "shop", waits: true) }
                        // Ends the wait; behind it the request would not arrive.
                        try await server.read(Self.ping)
                        _ = try await server.run(
                            ["insert": "items", "documents": [["_id": 1]]], on: "shop", .write)
                        let reply = try await group.next()
                        let batch = reply?["cursor"]?.documentValue?["nextBatch"]?.arrayValue
                        #expect(batch?.count == 1)
                    }
                    session.end(
                        killing: MongoCursorID(id: cursor, namespace: Namespace("shop", "items")))
                    // Carried out behind the end, on the same connection.
                    try await server.read(Self.ping)
                    let failure = await #expect(throws: MongoFailure.self) {
                        try await session.run(more, on: "shop", waits: false)
                    }
                    #expect(failure?.code == 43)
                }
            }
        }

        @Test func `requests take turns`() async throws {
            let inside = Locked((now: 0, most: 0))
            let gate = Gate(countMax: 3, bytesMax: 100)
            try await withThrowingTaskGroup { group in
                for index in 0..<50 {
                    group.addTask {
                        try await gate.pass(bytes: index % 10 == 0 ? 1_000 : 10) {
                            () async throws(MongoFailure) in
                            inside.withLock { inside in
                                inside.now += 1
                                inside.most = max(inside.most, inside.now)
                            }
                            await Task.yield()
                            inside.withLock { $0.now -= 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(inside.withLock { $0.most } <= 3)
            #expect(inside.withLock { $0.now } == 0)
            #expect(gate.waitingCount == 0)
            gate.close()
            await #expect(throws: MongoFailure.closed) {
                try await gate.pass { () async throws(MongoFailure) in }
            }
        }
    }
#endif
