import BSONStore
import Foundation
import TestProcesses
import Testing

/// Without these a write could be carried out twice, or long after it was answered: a gateway and its
/// connections end at any moment, and the client repeats the write elsewhere.
@Suite(.timeLimit(.minutes(60))) struct GatewayRetryTests {
    /// Two gateways, and what an administrator and a user see of them.
    private struct World {
        /// At the database behind the gateways.
        let upstream: ServerClient
        let ports: [Int]
        /// The processes of the gateways.
        let gateways: [pid_t]
        /// The user ann at each gateway.
        let anns: [ServerClient]

        /// Has the next commands with a name fail at the upstream, before they are carried out.
        ///
        /// - Returns: how many have failed so.
        @discardableResult
        func fail(_ command: String, times: Int32 = 1, _ how: BSONDocument) throws -> Int {
            var data: BSONDocument = ["failCommands": [.string(command)]]
            for (name, value) in how { data.append(name, value) }
            let reply = try upstream.run(
                [
                    "configureFailPoint": "failCommand", "mode": ["times": .int32(times)],
                    "data": .document(data),
                ], on: "admin")
            return Int(reply["count"]?.int64Value ?? 0)
        }

        /// Sends a command, whose next command with a name waits at the upstream, for longer than
        /// what the test does meanwhile takes.
        func block(_ command: String, by send: () -> Void) throws {
            let wait: BSONDocument = ["blockConnection": true, "blockTimeMS": 4_000]
            try fail(command, wait)
            send()
            let end = ContinuousClock.now + .seconds(60)
            while try fail(command, wait) == 0 {
                guard .now < end else { throw ProgramFailure(reason: "no \(command) came") }
            }
            try upstream.run(["configureFailPoint": "failCommand", "mode": "off"], on: "admin")
        }

        /// Changes documents at the upstream, past the fail points for other commands.
        func change(_ field: String, of ids: [BSONValue], to value: BSONValue) throws {
            for id in ids {
                try upstream.run([
                    "findAndModify": "items", "query": ["_id": id],
                    "update": ["$set": [field: value]],
                ])
            }
        }

        func stored(_ id: BSONValue) throws -> BSONDocument? {
            try upstream.documents(["find": "items", "filter": ["_id": id]]).first
        }
    }

    private static func run(_ body: @escaping @Sendable (World) throws -> Void) async throws {
        try await GatewayProcesses.run(
            2, RuledWorld.arguments, upstreamArguments: ["--test-commands"]
        ) { processes in
            let (port, ports) = (processes.upstream.port, processes.ports)
            let gateways = processes.gateways.map(\.processID)
            try await BlockingThread.run {
                _ = try RuledWorld.prepare(ports[0])
                try body(
                    World(
                        upstream: ServerClient(port: port, database: "shop"), ports: ports,
                        gateways: gateways, anns: ports.map { try RuledWorld.client($0, "ann") }))
            }
        }
    }

    private static let session = ServerSession(5)

    /// Inserts a document of ann's.
    private static func insert(_ id: BSONValue) -> BSONDocument {
        ["insert": "items", "documents": [["_id": id, "owner": "ann", "tenant": "a"]]]
    }

    private static let delete: BSONDocument = [
        "delete": "items", "deletes": [["q": ["_id": "new"], "limit": 1]],
    ]

    @Test(
        "A write that reaches the upstream after its copy was answered is not carried out",
        arguments: ["insert", "update", "commitTransaction"])
    func lateWrite(blocked command: String) async throws {
        try await Self.run { world in
            let insert = Self.session.retryable(3, Self.insert("new"))
            try world.block(command) { world.anns[0].send(insert) }
            #expect(try world.anns[1].run(insert)["n"] == 1)
            #expect(try world.anns[1].run(ServerSession(6).retryable(1, Self.delete))["n"] == 1)
            let late = try world.anns[0].answer()
            #expect(late["n"] == 1, "\(late)")
            #expect(try world.stored("new") == nil)
        }
    }

    @Test("A write that changed nothing is not carried out when its copy comes later")
    func repeatedIdleWrite() async throws {
        try await Self.run { world in
            let delete = Self.session.retryable(3, Self.delete)
            #expect(try world.anns[0].run(delete)["n"] == 0)
            try world.anns[0].run(Self.insert("new"))
            #expect(try world.anns[1].run(delete)["n"] == 0)
            #expect(try world.stored("new") != nil)
        }
    }

    @Test("A write whose gateway dies before the answer is carried out once")
    func killedGateway() async throws {
        try await Self.run { world in
            let add = Self.session.retryable(3, updating("own", ["$inc": ["n": 1]]))
            try world.block("commitTransaction") { world.anns[0].send(add) }
            kill(world.gateways[0], SIGKILL)
            #expect(try world.anns[1].run(add)["nModified"] == 1)
            #expect(try world.anns[1].run(add)["nModified"] == 1)
            #expect(try world.stored("own")?["n"] == 2)
        }
    }

    @Test(
        "A write goes on after its connection to the upstream broke",
        arguments: ["insert", "update", "commitTransaction"])
    func brokenConnection(at command: String) async throws {
        try await Self.run { world in
            try world.fail(command, ["closeConnection": true])
            let insert = Self.session.retryable(3, Self.insert("new"))
            #expect(try world.anns[0].run(insert)["n"] == 1)
            #expect(try world.anns[1].run(insert)["n"] == 1)
            #expect(try world.stored("new") != nil)
        }
    }

    @Test(
        "A write whose commit was carried out, but not answered, is not carried out again",
        arguments: [true, false])
    func lostCommit(isUnderRules: Bool) async throws {
        try await ServerProcess.run { upstream in
            let proxy = try CuttingProxy(to: upstream.port)
            defer { proxy.close() }
            let uri = "mongodb://127.0.0.1:\(proxy.port)/?directConnection=true"
            let arguments = ["--upstream", uri] + RuledWorld.arguments
            try await ServerProcess.run(arguments, hasFile: false) { gateway in
                let port = gateway.port
                try await BlockingThread.run {
                    let root = try RuledWorld.prepare(port)
                    let client = isUnderRules ? try RuledWorld.client(port, "ann") : root
                    // libmongoc itself sends it a second time.
                    proxy.lose(.answer, of: "commitTransaction", times: 2)
                    let insert = Self.session.retryable(3, Self.insert("new"))
                    #expect(try client.run(insert)["n"] == 1)
                    #expect(proxy.lossCount == 2)
                    #expect(try client.run(insert)["n"] == 1)
                    proxy.lose(.answer, of: "commitTransaction", times: 2)
                    let add = Self.session.retryable(4, updating("own", ["$inc": ["n": 1]]))
                    #expect(try client.run(add)["nModified"] == 1)
                    #expect(proxy.lossCount == 4)
                    let own = try root.documents(["find": "items", "filter": ["_id": "own"]])
                    #expect(own.map { $0["n"] } == [2])
                }
            }
        }
    }

    @Test("A copy of a batch with a refused part, which comes late, does nothing of it again")
    func lateBatch() async throws {
        try await Self.run { world in
            let root = try world.ports.map { try RuledWorld.client($0, "root") }
            let batch = Self.session.retryable(
                3,
                [
                    "update": "items",
                    "updates": [
                        ["q": ["_id": "own"], "u": ["$inc": ["n": 1]]],
                        [
                            "q": ["_id": "new", "kind": "a"], "u": ["$set": ["kind": "b"]],
                            "upsert": true,
                        ],
                    ],
                ])
            try world.block("update") { root[0].send(batch) }
            #expect(try root[1].run(batch)["n"] == 2)
            let late = try root[0].answer()
            #expect(late["n"] == 2, "\(late)")
            #expect(try world.stored("own")?["n"] == 2)
        }
    }

    @Test("An error after which nothing is decided tells drivers to send the write again")
    func labels() async throws {
        try await Self.run { world in
            try world.fail("insert", times: 3, ["closeConnection": true])
            let insert = Self.session.retryable(3, Self.insert("new"))
            let reply = try world.anns[0].reply(insert)
            #expect(reply["code"] == 6)
            #expect(reply["errorLabels"] == ["RetryableWriteError"], "\(reply)")
            #expect(try world.anns[1].run(insert)["n"] == 1)
        }
    }

    @Test("A batch with a taken id is answered as by one server, and again by another gateway")
    func batchWithErrors() async throws {
        try await Self.run { world in
            let session = Self.session
            let documents = ["a", "own", "b", "far", "c"].map { id -> BSONValue in
                ["_id": .string(id), "owner": "ann", "tenant": "a"]
            }
            let batch = session.retryable(
                3,
                ["insert": "items", "documents": .array(BSONArray(documents)), "ordered": false])
            for ann in world.anns {
                let reply = try ann.reply(batch)
                let errors = reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue) ?? []
                #expect(reply["n"] == 3)
                #expect(errors.map { $0["index"] } == [1, 3], "\(reply)")
            }
            for id in ["a", "b", "c"] { #expect(try world.stored(.string(id)) != nil) }
        }
    }

    @Test("A commit that another gateway was told of is known to have failed, or to have landed")
    func commitElsewhere() async throws {
        try await Self.run { world in
            let session = Self.session
            try world.anns[0].run(session.transaction(3, starts: true, Self.insert("new")))
            let commit = session.transaction(3, ["commitTransaction": 1])
            try world.block("commitTransaction") { world.anns[0].send(commit, on: "admin") }
            var other = try world.anns[1].reply(commit, on: "admin")
            // It cannot be known yet.
            for _ in 0..<100 where other["code"] == 6 {
                other = try world.anns[1].reply(commit, on: "admin")
            }
            let first = try world.anns[0].answer()
            let isThere = try world.stored("new") != nil
            for reply in [first, other] {
                #expect(isThere ? reply["ok"] == 1.0 : reply["code"] == 251, "\(reply)")
            }
        }
    }

    @Test("A commit whose connection to the upstream broke can be sent again")
    func brokenCommit() async throws {
        try await Self.run { world in
            let session = Self.session
            try world.anns[0].run(session.transaction(3, starts: true, Self.insert("new")))
            // libmongoc itself sends it a second time.
            try world.fail("commitTransaction", times: 2, ["closeConnection": true])
            let commit = session.transaction(3, ["commitTransaction": 1])
            var reply = try world.anns[0].reply(commit, on: "admin")
            for _ in 0..<100 where reply["code"] == 6 {
                reply = try world.anns[0].reply(commit, on: "admin")
            }
            let isThere = try world.stored("new") != nil
            #expect(isThere ? reply["ok"] == 1.0 : reply["code"] == 251, "\(reply)")
        }
    }

    @Test("An update of several documents that was done in part inserts none")
    func partlyDoneUpsert() async throws {
        try await Self.run { world in
            let documents = (0..<3).map { number -> BSONDocument in
                ["_id": .int32(number), "owner": "ann", "tenant": "a", "kind": "open"]
            }
            try world.anns[0].insert(documents, into: "items")
            try world.block("update") {
                world.anns[0].send([
                    "update": "items",
                    "updates": [
                        [
                            "q": ["owner": "ann", "tenant": "a", "kind": "open"],
                            "u": ["$set": ["kind": "closed"]], "multi": true, "upsert": true,
                        ]
                    ],
                ])
            }
            try world.change("kind", of: [1, 2], to: "paused")
            let reply = try world.anns[0].answer()
            #expect(reply["n"] == 1 && reply["upserted"] == nil, "\(reply)")
            let kinds = try world.upstream.documents([
                "find": "items", "filter": ["kind": ["$exists": true]], "sort": ["_id": 1],
            ]).map { $0["kind"] }
            #expect(kinds == ["closed", "paused", "paused"])
        }
    }

    @Test("A batch that goes on after another client's change names the documents that it inserted")
    func upsertedIDs() async throws {
        try await Self.run { world in
            try world.block("update") {
                world.anns[0].send(
                    [
                        "bulkWrite": 1, "nsInfo": [["ns": "shop.items"]],
                        "ops": [
                            [
                                "update": 0, "upsert": true, "multi": false,
                                "filter": ["owner": "ann", "tenant": "a", "kind": "new"],
                                "updateMods": ["$set": ["title": "made"]],
                            ],
                            [
                                "update": 0, "filter": ["_id": "own"], "multi": false,
                                "updateMods": ["$inc": ["n": 1]],
                            ],
                        ],
                    ], on: "admin")
            }
            try world.change("title", of: ["own"], to: "other")
            let reply = try world.anns[0].answer()
            let results = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue?
                .compactMap(\.documentValue)
            let told = results?.first?["upserted"]?.documentValue?["_id"]
            let made = try world.upstream.documents(["find": "items", "filter": ["kind": "new"]])
            #expect(made.map { $0["_id"] } == [told], "\(reply)")
            #expect(try world.stored("own")?["n"] == 2)
        }
    }

    @Test("Earlier documents are kept although the first attempt to have them kept failed")
    func keptImages() async throws {
        try await Self.run { world in
            func isOn() throws -> Bool {
                let reply = try world.upstream.run([
                    "listCollections": 1, "filter": ["name": "items"],
                ])
                let entry = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue?
                    .compactMap(\.documentValue).first
                return entry?["options"]?.documentValue?["changeStreamPreAndPostImages"] != nil
            }
            let stream: BSONDocument = [
                "aggregate": "items", "pipeline": [["$changeStream": [:]]], "cursor": [:],
            ]
            #expect(try !isOn())
            try world.fail("collMod", ["errorCode": 50])
            try world.anns[0].run(stream)
            #expect(try !isOn())
            try world.anns[0].run(stream)
            #expect(try isOn())
        }
    }

    @Test("Many users who change one document wait for each other")
    func contention() async throws {
        try await GatewayProcesses.run(2, RuledWorld.arguments) { processes in
            let ports = processes.ports
            try await BlockingThread.run { _ = try RuledWorld.prepare(ports[0]) }
            let conflicts = Locked(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 as Range<UInt8> {
                    group.addTask {
                        try await BlockingThread.run {
                            let ann = try RuledWorld.client(ports[Int(number) % 2], "ann")
                            let add = updating("own", ["$inc": ["n": 1]])
                            var (turn, done): (Int64, Int) = (0, 0)
                            while done < 20 {
                                turn += 1
                                let reply = try ann.reply(
                                    ServerSession(number + 10).retryable(turn, add))
                                guard let error = ServerRefusal.error(of: reply) else {
                                    done += 1
                                    continue
                                }
                                // Beside many other tests a write may wait for longer than it does.
                                guard error["code"] == 112 else {
                                    throw ServerRefusal(reply: reply)
                                }
                                conflicts.withLock { $0 += 1 }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let own = try await BlockingThread.run {
                try RuledWorld.client(ports[0], "root").documents(
                    ["find": "items", "filter": ["_id": "own"]])[0]
            }
            #expect(own["n"] == 121)
            #expect(conflicts.withLock { $0 } < 12)
        }
    }
}
