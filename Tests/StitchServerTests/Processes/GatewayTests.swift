import BSONStore
import Foundation
import TestProcesses
import Testing

/// A gateway stands between many users and a database: what it lets through, loses or tells of itself
/// concerns all of them.
@Suite(.timeLimit(.minutes(60))) struct GatewayTests {
    @Test("Two gateways before one upstream answer a driver as one server does")
    func driver() async throws {
        let answer = try await ServerProcess.run { upstream in
            let arguments =
                ["--upstream", GatewayProcesses.uri(port: upstream.port)] + RuledWorld.arguments
            let metrics = try Loopback.freePort()
            return try await ServerProcess.run(arguments, hasFile: false) { first in
                try await ServerProcess.run(
                    arguments + ["--metrics-port", String(metrics)], hasFile: false
                ) { second in
                    try await Python.run(
                        "gateway.py", String(upstream.port), String(first.port),
                        String(second.port), String(metrics), String(second.processID))
                }
            }
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("The upstream's password is in no argument, log, error, metric or answer")
    func secrets() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        try await ServerProcess.run(["--auth"]) { upstream in
            try ServerClient(port: upstream.port, database: "admin").run(
                ["createUser": "gate", "pwd": "s3cret-of-the-upstream", "roles": ["root"]])
            let uri =
                "mongodb://gate:s3cret-of-the-upstream@127.0.0.1:\(upstream.port)/"
                + "?replicaSet=rs0&authSource=admin"
            try await ServerProcess.run(
                ["--upstream", uri, "--auth", "--log-level", "debug"], hasFile: false, log: log
            ) { gateway in
                let client = try ServerClient(port: gateway.port, database: "admin")
                try client.run(["createUser": "root", "pwd": "pw", "roles": ["root"]])
                let root = try ServerClient(port: gateway.port, database: "admin", user: "root")
                var told: [String] = []
                for command: BSONDocument in [
                    ["getCmdLineOpts": 1], ["serverStatus": 1], ["hello": 1],
                    ["getLog": "global"], ["find": "none", "filter": ["$bad": 1]],
                ] { told.append(try root.reply(command).extendedJSON()) }
                let line = try Data(
                    contentsOf: URL(filePath: "/proc/\(gateway.processID)/cmdline"))
                told.append(String(decoding: line, as: UTF8.self))
                // Its failures are written down, too.
                _ = upstream.end(SIGKILL)
                told.append(try root.reply(["find": "items"], on: "shop").extendedJSON())
                told.append(try String(contentsOf: log, encoding: .utf8))
                for text in told { #expect(!text.contains("s3cret"), "\(text)") }
            }
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test("A write that comes again, also to another gateway, is not done again")
    func repeatedWrites() async throws {
        try await RuledWorld.lend(.gateways) { ports in
            let root = try RuledWorld.prepare(ports[0])
            let clients = try ports.map { try RuledWorld.client($0, "ann") }
            let session = ServerSession(9)
            let add = session.retryable(7, updating("own", ["$inc": ["n": 1]]))
            for client in clients + clients {
                #expect(try client.run(add)["nModified"] == 1)
            }
            #expect(try root.documents(["find": "items", "filter": ["_id": "own"]])[0]["n"] == 2)
            let older = session.retryable(6, updating("own", ["$inc": ["n": 1]]))
            for client in clients { try expectRefusal(225, by: client, older) }
        }
    }

    @Test("An upstream that is away is an error after which devices go on until it is back")
    func awayUpstream() async throws {
        let port = try Loopback.freePort()
        try await ServerProcess.run(["--port", String(port)]) { upstream in
            let arguments = ["--upstream", GatewayProcesses.uri(port: port)]
            try await ServerProcess.run(arguments, hasFile: false) { gateway in
                let client = try ServerClient(port: gateway.port, database: "shop")
                try client.insert([["_id": 1]], into: "items")
                try upstream.restart(SIGKILL, ["--port", String(port)]) {
                    let refusal = ServerRefusal(reply: try client.reply(["find": "items"]))
                    #expect(refusal.code == 6, "\(refusal)")
                }
                #expect(try client.documents(["find": "items"]) == [["_id": 1]])
            }
        }
    }

    /// Counts that the upstream answers, and counts that only an excerpt can.
    private static let counts: [BSONDocument] = [
        ["count": "items"], ["count": "items", "query": ["n": ["$gt": 1]]],
        ["count": "items", "query": ["n": ["$gt": 0]], "skip": 1, "limit": 2],
        ["count": "items", "limit": -1], ["count": "items", "skip": 9],
        ["count": "items", "skip": -1], ["count": "items", "query": ["$bad": 1]],
        ["count": "items", "query": ["_id": "far"]], ["count": "none"],
        ["count": "items", "query": ["salary": ["$gte": 30]]],
        ["count": "items", "query": ["salary": ["$gte": 30]], "hint": "salary_1"],
        ["count": "items", "query": ["$expr": ["$gt": ["$n", 2]]]],
        [
            "count": "items", "query": ["title": "ONE"],
            "collation": ["locale": "en", "strength": 2],
        ],
        ["count": "items", "query": ["title": "ONE"], "collation": ["locale": "simple"]],
        ["count": "items", "query": ["title": "ONE"], "collation": [:]],
        ["count": "items", "collation": ["locale": "simple"]],
        ["find": "items", "sort": ["title": 1], "limit": 2, "collation": ["locale": "simple"]],
        ["find": "items", "filter": ["title": ["$ne": "one"]], "collation": ["locale": "simple"]],
        ["find": "items", "filter": ["title": ["$lt": "p"]], "sort": ["_id": 1]],
        counting([["$match": ["$expr": ["$eq": ["$$USER_ROLES", []]]]], ["$count": "all"]]),
        counting([["$match": [:]], ["$group": ["_id": 1, "n": ["$sum": 1]]]]),
        counting([["$match": ["n": ["$lt": 4]]], ["$skip": 1], ["$limit": 1], ["$count": "all"]]),
        counting([["$match": ["n": 99]], ["$group": ["_id": .null, "n": ["$sum": 1]]]]),
        counting([["$count": "all"]]), counting([["$count": "$all"]]),
        counting([["$match": ["salary": 20]], ["$count": "all"]]),
        counting([["$limit": 0], ["$count": "all"]]),
        counting([["$group": ["_id": .null, "n": ["$sum": "$n"]]]]),
    ]

    private static func counting(_ stages: [BSONDocument]) -> BSONDocument {
        [
            "aggregate": "items", "cursor": [:],
            "pipeline": .array(BSONArray(stages.map(BSONValue.document))),
        ]
    }

    /// Makes a collection whose collation takes "A" for "a", where rules compare bytes.
    private static func fold(_ root: ServerClient) throws {
        try root.run(["drop": "items"])
        try root.run(["create": "items", "collation": ["locale": "en", "strength": 2]])
        try root.run([
            "createIndexes": "items", "indexes": [["key": ["salary": 1], "name": "salary_1"]],
        ])
        let others = RuledWorld.documents.map { document in
            var other = document
            for field in ["_id", "tenant", "owner", "title"] {
                other.set(field, to: .string((document[field]?.stringValue ?? "").uppercased()))
            }
            other.set("_id", to: .string("copy of \(document["_id"]?.stringValue ?? "")"))
            return other
        }
        try RuledWorld.fill(root, with: RuledWorld.documents + others)
    }

    @Test("The upstream counts only what the user sees", arguments: [false, true])
    func counts(folds: Bool) async throws {
        var answers: [[BSONDocument]] = []
        for place in RuledWorld.Place.allCases {
            let told = try await place.lend { ports in
                try await BlockingThread.run {
                    let root = try RuledWorld.prepare(ports[0])
                    if folds { try Self.fold(root) }
                    return try ["ann", "eve", "ron", "fay"].flatMap { user in
                        let client = try RuledWorld.client(ports[0], user)
                        return try Self.counts.map { Self.told(try client.reply($0)) }
                    }
                }
            }
            answers.append(told)
        }
        for index in answers[0].indices {
            let command = Self.counts[index % Self.counts.count]
            #expect(answers[0][index] == answers[1][index], "\(command)")
        }
        #expect(answers[0][0] == ["n": 3], "ann sees three of five, or of ten: \(answers[0])")
    }

    /// Returns what an answer says of the documents, or its error.
    private static func told(_ reply: BSONDocument) -> BSONDocument {
        var told = BSONDocument()
        for field in ["n", "code", "errmsg"] {
            if let value = reply[field] { told.append(field, value) }
        }
        if let batch = reply["cursor"]?.documentValue?["firstBatch"] { told.append("batch", batch) }
        return told
    }

    @Test(
        "An insert that meets another client's is refused as a duplicate, and never denied",
        arguments: ["_id", "slot"], [false, true])
    func racingInserts(field: String, isRetryable: Bool) async throws {
        try await GatewayProcesses.run(1, RuledWorld.arguments) { processes in
            let (port, gateway) = (processes.upstream.port, processes.ports[0])
            try await BlockingThread.run {
                _ = try RuledWorld.prepare(gateway).run([
                    "createIndexes": "items",
                    "indexes": [
                        ["key": ["slot": 1], "name": "slot", "unique": true, "sparse": true]
                    ],
                ])
            }
            let isOver = Locked(false)
            async let others: Void = BlockingThread.run {
                let upstream = try ServerClient(port: port, database: "shop")
                while !isOver.withLock({ $0 }) {
                    _ = try upstream.reply(Self.insert(field, "theirs"))
                    try upstream.run(
                        ["delete": "items", "deletes": [["q": ["slot": "one"], "limit": 0]]])
                }
            }
            let codes = try await BlockingThread.run {
                defer { isOver.withLock { $0 = true } }
                let ann = try RuledWorld.client(gateway, "ann")
                var codes: [Int64: Int] = [:]
                var number: Int64 = 0
                // Each of them often enough, however the two clients take turns.
                for _ in 0..<20_000 where (codes[0] ?? 0) < 100 || (codes[11_000] ?? 0) < 100 {
                    number += 1
                    let insert = Self.insert(field, "hers")
                    let reply = try ann.reply(
                        isRetryable ? ServerSession(8).retryable(number, insert) : insert)
                    let fault =
                        reply["writeErrors"]?.arrayValue?.values.first?.documentValue ?? reply
                    codes[fault["code"]?.int64Value ?? 0, default: 0] += 1
                }
                return codes
            }
            try await others
            #expect(Set(codes.keys) == [0, 11_000], "\(codes)")
        }
    }

    /// Returns the insert of a document of ann that is in the way of another by a field.
    private static func insert(_ field: String, _ id: BSONValue) -> BSONDocument {
        [
            "insert": "items",
            "documents": [
                [
                    "_id": field == "_id" ? "one" : id, "owner": "ann", "tenant": "a",
                    "slot": "one",
                ]
            ],
        ]
    }

    @Test("A batch in which many ids are taken is answered for each of them")
    func manyDuplicates() async throws {
        try await RuledWorld.lend(.gateways) { ports in
            _ = try RuledWorld.prepare(ports[0])
            let ann = try RuledWorld.client(ports[1], "ann")
            func ops(_ numbers: Range<Int>) -> BSONArray {
                BSONArray(
                    numbers.map { number in
                        [
                            "insert": 0,
                            "document": [
                                "_id": .string("m\(number)"), "owner": "ann", "tenant": "a",
                            ],
                        ]
                    })
            }
            func send(_ numbers: Range<Int>) throws -> BSONDocument {
                try ann.run(
                    [
                        "bulkWrite": 1, "ops": .array(ops(numbers)),
                        "nsInfo": [["ns": "shop.items"]],
                        "ordered": false, "errorsOnly": true,
                    ], on: "admin")
            }
            #expect(try send(0..<40)["nInserted"] == 40)
            let reply = try send(0..<41)
            #expect(reply["nInserted"] == 1)
            let errors = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue?.values
                .compactMap(\.documentValue)
            #expect(
                errors?.compactMap { $0["code"]?.int64Value }
                    == Array(repeating: 11_000, count: 40))
            #expect(errors?.compactMap { $0["idx"]?.int64Value } == Array(0..<40))
        }
    }

    @Test("A write that comes again while it runs is done once")
    func simultaneousCopies() async throws {
        try await ServerProcess.run(["--test-commands"]) { upstream in
            let uri = ["--upstream", GatewayProcesses.uri(port: upstream.port)]
            try await ServerProcess.run(uri + RuledWorld.arguments, hasFile: false) { gateway in
                try await Self.sendTwice(upstream.port, gateway.port)
            }
        }
    }

    /// Sends a write, and a copy of it while the first one is at the upstream.
    private static func sendTwice(_ upstream: Int, _ gateway: Int) async throws {
        let add = ServerSession(9).retryable(7, updating("own", ["$inc": ["n": 1]]))
        try await BlockingThread.run {
            _ = try RuledWorld.prepare(gateway)
            _ = try ServerClient(port: upstream, database: "admin").run([
                "configureFailPoint": "failCommand", "mode": ["times": 1],
                "data": [
                    "failCommands": ["update"], "blockConnection": true, "blockTimeMS": 1_000,
                ],
            ])
        }
        async let first = BlockingThread.run {
            try RuledWorld.client(gateway, "ann").run(add)["nModified"]
        }
        async let second = BlockingThread.run {
            try RuledWorld.client(gateway, "ann").run(add)["nModified"]
        }
        #expect(try await [first, second] == [1, 1])
        let own = try await BlockingThread.run {
            try RuledWorld.client(gateway, "root").documents(
                ["find": "items", "filter": ["_id": "own"]])[0]
        }
        #expect(own["n"] == 2)
    }

    @Test("Users and their custom data are read once, and again when they change elsewhere")
    func knownUsers() async throws {
        try await GatewayProcesses.run(2, RuledWorld.arguments) { processes in
            let (port, ports) = (processes.upstream.port, processes.ports)
            try await BlockingThread.run {
                let root = try RuledWorld.prepare(ports[0])
                let ann = try RuledWorld.client(ports[1], "ann")
                let upstream = try ServerClient(port: port, database: "shop")
                func queries() throws -> Int64 {
                    let metrics = try upstream.run(["serverStatus": 1])["metrics"]?.documentValue
                    let finds = metrics?["commands"]?.documentValue?["find"]?.documentValue
                    return finds?["total"]?.int64Value ?? -1
                }
                // The feeds are open once a hundred questions cost not much more than a hundred.
                let limit = ContinuousClock.now + .seconds(30)
                var cost: Int64
                repeat {
                    let before = try queries()
                    for _ in 0..<100 { _ = try ann.documents(["find": "items"]) }
                    cost = try queries() - before
                } while cost > 120 && ContinuousClock.now < limit
                #expect((100...120).contains(cost))
                #expect(try ann.documents(["find": "items"]).count == 3)
                try root.run([
                    "update": "profiles",
                    "updates": [["q": ["user": "ann"], "u": ["$set": ["tenant": "b"]]]],
                ])
                func sees(_ id: BSONValue) throws -> Bool {
                    let reply = try ann.reply(["find": "items"])
                    // The rules may change in the middle of a query.
                    guard reply["code"] != 175 else { return false }
                    let batch = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue
                    return batch?.contains { $0.documentValue?["_id"] == id } ?? false
                }
                while try !sees("far"), ContinuousClock.now < limit {}
                #expect(try sees("far"), "The other gateway did not learn of the new profile")
            }
        }
    }

    @Test(
        "A collection that was dropped at the upstream is listed no longer, and one made anew is it"
    )
    func droppedCollection() async throws {
        try await GatewayProcesses.run(1, RuledWorld.arguments) { processes in
            let (upstreamPort, port) = (processes.upstream.port, processes.ports[0])
            try await BlockingThread.run {
                _ = try RuledWorld.prepare(port)
                let ann = try RuledWorld.client(port, "ann")
                let upstream = try ServerClient(port: upstreamPort, database: "shop")
                func uuid(_ client: ServerClient) throws -> BSONValue? {
                    let found = try client.documents([
                        "listCollections": 1, "filter": ["name": "items"],
                    ])
                    return found.first?["info"]?.documentValue?["uuid"]
                }
                #expect(try ann.documents(["find": "items"]).count == 3)
                let before = try uuid(ann)
                #expect(try before != nil && before == uuid(upstream))
                try upstream.run(["drop": "items"])
                #expect(try uuid(ann) == nil)
                try upstream.run(["create": "items"])
                let after = try uuid(ann)
                #expect(try after != nil && after != before && after == uuid(upstream))
            }
        }
    }

    /// Asks for the next events of a stream, longer than a test waits for an answer.
    private static func ask(_ client: ServerClient, _ opened: BSONDocument) {
        client.send([
            "getMore": opened["cursor"]?.documentValue?["id"] ?? .null, "collection": "items",
            "maxTimeMS": 600_000,
        ])
    }

    private static func ids(_ reply: BSONDocument) -> [BSONValue?] {
        let batch = reply["cursor"]?.documentValue?["nextBatch"]?.arrayValue
        return batch?.map { $0.documentValue?["documentKey"]?.documentValue?["_id"] } ?? []
    }

    private static func stream(_ client: ServerClient, batchSize: Int32) throws -> BSONDocument {
        try client.run([
            "aggregate": "items", "pipeline": [["$changeStream": [:]]],
            "cursor": ["batchSize": .int32(batchSize)],
        ])
    }

    @Test("A waiting stream is told of the one change that it may show among hundreds")
    func changeAmongHidden() async throws {
        try await GatewayProcesses.run(1, RuledWorld.arguments) { processes in
            let (upstreamPort, port) = (processes.upstream.port, processes.ports[0])
            try await BlockingThread.run {
                let root = try RuledWorld.prepare(port)
                let ann = try RuledWorld.client(port, "ann")
                Self.ask(ann, try Self.stream(ann, batchSize: 10))
                _ = try root.running("getMore")
                let hidden = (0..<600).map { number -> BSONDocument in
                    ["_id": .int32(number), "owner": "eve", "tenant": "b"]
                }
                try ServerClient(port: upstreamPort, database: "shop")
                    .insert(
                        hidden + [["_id": "shown", "owner": "ann", "tenant": "a"]], into: "items")
                #expect(Self.ids(try ann.answer()) == ["shown"])
            }
        }
    }

    @Test("A stream that was opened without a batch is told of what has happened since")
    func openedEmpty() async throws {
        try await GatewayProcesses.run(1, RuledWorld.arguments) { processes in
            let port = processes.ports[0]
            try await BlockingThread.run {
                let root = try RuledWorld.prepare(port)
                let clients = try (0..<2).map { _ in try RuledWorld.client(port, "ann") }
                let streams = try clients.map { try Self.stream($0, batchSize: 0) }
                try root.insert([["_id": "new", "owner": "ann", "tenant": "a"]], into: "items")
                // The feed that both share has the change once the first one is told.
                for (client, opened) in zip(clients, streams) {
                    Self.ask(client, opened)
                    #expect(Self.ids(try client.answer()) == ["new"])
                }
            }
        }
    }
}
