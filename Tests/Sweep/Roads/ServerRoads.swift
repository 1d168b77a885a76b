import BSONStore
import StitchRemote
import StitchSync

/// The commands of a server, and devices that sync with it, by the time of both processes.
struct ServerRoads {
    /// The server.
    let servers: SweptServers

    /// The roads.
    var all: [Road] { commands + cursors + users + remotes }

    private func road(
        _ name: String, _ growth: Road.Growth = .documents, from: Int = 100, upTo: Int = 8_000,
        reason: String? = nil, _ prepare: @escaping (SweptClient, Int) throws -> Void = { _, _ in },
        _ run: @escaping (SweptClient, Int) throws -> Void
    ) -> Road {
        let servers = servers
        return Road(once: "server: \(name)", growth, from: from, upTo: upTo, reason: reason) { n in
            let client = try servers.client()
            try prepare(client, n)
            return Trip(end: { try client.end() }) { try run(client, n) }
        }
    }

    /// A command on a collection of n documents.
    private func filled(
        _ name: String, upTo: Int = 8_000, _ command: @escaping (Int) -> BSONDocument
    ) -> Road {
        road(name, from: min(500, upTo / 8), upTo: upTo) { client, n in
            try client.insert(Sample.documents(n))
        } _: { client, n in
            try client.readAll(command(n))
        }
    }

    private var commands: [Road] {
        [
            road("insert of many") { client, n in try client.insert(Sample.documents(n)) },
            road("insert of one each", .writes, upTo: 4_000) { client, n in
                for number in 0..<n { try client.insert([Sample.document(number)]) }
            },
            road("update of many statements", .statements) { client, n in
                try client.insert(Sample.documents(n))
            } _: { client, n in
                try client.run([
                    "update": "items",
                    "updates": Sample.array(n) {
                        ["q": ["_id": .int($0)], "u": ["$inc": ["n": 1]]]
                    },
                ])
            },
            road("delete of many statements", .statements) { client, n in
                try client.insert(Sample.documents(n))
            } _: { client, n in
                try client.run([
                    "delete": "items",
                    "deletes": Sample.array(n) { ["q": ["_id": .int($0)], "limit": 1] },
                ])
            },
            road("bulkWrite over collections", .statements) { client, n in
                let spaces = (0..<10).map { number -> BSONValue in
                    ["ns": .string("\(client.database).c\(number)")]
                }
                try client.run(
                    [
                        "bulkWrite": 1,
                        "ops": Sample.array(n) {
                            ["insert": .int($0 % 10), "document": ["_id": .int($0)]]
                        }, "nsInfo": .array(BSONArray(spaces)),
                    ], on: "admin")
            },
            road("findAndModify of each", .writes, upTo: 2_000) { client, n in
                try client.insert(Sample.documents(n))
            } _: { client, n in
                for number in 0..<n {
                    try client.run([
                        "findAndModify": "items", "query": ["_id": .int(number)],
                        "update": ["$inc": ["n": 1]],
                    ])
                }
            },
            filled("find") { _ in ["find": "items"] },
            filled("find in small batches", upTo: 4_000) { _ in
                ["find": "items", "batchSize": 2]
            },
            filled("find with a sort") { _ in ["find": "items", "sort": ["shuffled": 1]] },
            filled("aggregate") { _ in
                [
                    "aggregate": "items", "cursor": [:],
                    "pipeline": [["$group": ["_id": "$shuffled", "n": ["$sum": 1]]]],
                ]
            },
            filled("count") { _ in ["count": "items", "query": ["half": 1]] },
            filled("distinct") { _ in ["distinct": "items", "key": "shuffled"] },
            filled("createIndexes", upTo: 4_000) { _ in
                [
                    "createIndexes": "items",
                    "indexes": [["key": ["shuffled": 1], "name": "shuffled_1"]],
                ]
            },
            filled("validate", upTo: 4_000) { _ in ["validate": "items"] },
            filled("dbHash") { _ in ["dbHash": 1] },
            filled("collStats") { _ in ["collStats": "items"] },
            filled("explain") { _ in ["explain": ["find": "items", "filter": ["half": 1]]] },
            filled("mapReduce", upTo: 2_000) { _ in
                [
                    "mapReduce": "items", "map": "function () { emit(this.half, 1) }",
                    "reduce": "function (key, values) { return Array.sum(values) }",
                    "out": ["inline": 1],
                ]
            },
            road("listCollections", .collections, upTo: 800) { client, n in
                for name in Sample.names(n) { try client.run(["create": .string(name)]) }
            } _: { client, _ in
                try client.readAll(["listCollections": 1])
            },
            road(
                "create of many", .collections, from: 50, upTo: 800,
                reason: "SQLite looks through its list of tables for each CREATE TABLE"
            ) { client, n in
                for name in Sample.names(n) { try client.run(["create": .string(name)]) }
            },
            road("dbStats", .collections, upTo: 800) { client, n in
                for name in Sample.names(n) { try client.run(["create": .string(name)]) }
            } _: { client, _ in
                try client.run(["dbStats": 1])
            },
            road("a transaction of writes", .writes, upTo: 4_000) { client, _ in
                try client.run(["create": "items"])
            } _: { client, n in
                let session = try client.run(["startSession": 1], on: "admin")["id"] ?? .null
                for number in 0..<n {
                    var insert: BSONDocument = [
                        "insert": "items", "documents": [.document(Sample.document(number))],
                        "lsid": session, "txnNumber": .int64(1), "autocommit": false,
                    ]
                    if number == 0 { insert.append("startTransaction", true) }
                    try client.run(insert)
                }
                try client.run(
                    [
                        "commitTransaction": 1, "lsid": session, "txnNumber": .int64(1),
                        "autocommit": false,
                    ], on: "admin")
            },
            road("retryable writes of one session", .writes, upTo: 4_000) { client, n in
                let session = try client.run(["startSession": 1], on: "admin")["id"] ?? .null
                for number in 0..<n {
                    try client.run([
                        "insert": "items", "documents": [.document(Sample.document(number))],
                        "lsid": session, "txnNumber": .int64(Int64(number + 1)),
                    ])
                }
            },
            road("ping by many connections", .devices, from: 25, upTo: 800) { client, n in
                var connections: [SweptClient] = []
                for _ in 0..<n {
                    let other = try SweptClient(port: client.port, database: client.database)
                    try other.run(["ping": 1])
                    connections.append(other)
                }
                for other in connections { try other.run(["hello": 1]) }
            },
        ]
    }

    private static let feed: BSONDocument = [
        "aggregate": "items", "pipeline": [["$changeStream": [:]]], "cursor": [:],
    ]

    private var cursors: [Road] {
        [
            road("open cursors", .cursors, from: 50, upTo: 800) { client, _ in
                try client.insert(Sample.documents(200))
            } _: { client, n in
                for _ in 0..<n { _ = try client.open(["find": "items", "batchSize": 1]) }
            },
            road("open cursors, killed", .cursors, from: 50, upTo: 800) { client, _ in
                try client.insert(Sample.documents(200))
            } _: { client, n in
                var ids: [BSONValue] = []
                for _ in 0..<n {
                    ids.append(.int64(try client.open(["find": "items", "batchSize": 1])))
                }
                try client.run(["killCursors": "items", "cursors": .array(BSONArray(ids))])
            },
            road(
                "sessions started, refreshed and ended, each with a cursor", .sessions, upTo: 4_000
            ) { client, _ in
                try client.insert(Sample.documents(2))
            } _: { client, n in
                var ids: [BSONValue] = []
                for _ in 0..<n {
                    ids.append(try client.run(["startSession": 1], on: "admin")["id"] ?? .null)
                    _ = try client.open([
                        "find": "items", "batchSize": 1, "lsid": ids.last ?? .null,
                    ])
                }
                try client.run(["refreshSessions": .array(BSONArray(ids))], on: "admin")
                try client.run(["endSessions": .array(BSONArray(ids))], on: "admin")
            },
            road("a change stream", .events, upTo: 4_000) { client, _ in
                try client.run(["create": "items"])
            } _: { client, n in
                let id = try client.open(Self.feed)
                try client.insert(Sample.documents(n))
                var count = 0
                while count < n {
                    let reply = try client.run(["getMore": .int64(id), "collection": "items"])
                    let batch = reply["cursor"]?.documentValue?["nextBatch"]?.arrayValue
                    count += batch?.count ?? 0
                }
                try client.run(["killCursors": "items", "cursors": [.int64(id)]])
            },
            road("a change stream with looked up documents", .events, upTo: 2_000) { client, n in
                try client.insert(Sample.documents(n))
            } _: { client, n in
                let id = try client.open([
                    "aggregate": "items", "cursor": [:],
                    "pipeline": [["$changeStream": ["fullDocument": "updateLookup"]]],
                ])
                try client.run([
                    "update": "items",
                    "updates": [["q": [:], "u": ["$set": ["x": 1]], "multi": true]],
                ])
                var count = 0
                while count < n {
                    let reply = try client.run(["getMore": .int64(id), "collection": "items"])
                    let batch = reply["cursor"]?.documentValue?["nextBatch"]?.arrayValue
                    count += batch?.count ?? 0
                }
                try client.run(["killCursors": "items", "cursors": [.int64(id)]])
            },
            road("open change streams that see one write", .streams, from: 10, upTo: 320) {
                client, _ in
                try client.run(["create": "items"])
            } _: { client, n in
                var ids: [Int64] = []
                for _ in 0..<n { ids.append(try client.open(Self.feed)) }
                try client.insert([["_id": 1]])
                for id in ids {
                    try client.run(["getMore": .int64(id), "collection": "items"])
                }
                try client.run([
                    "killCursors": "items", "cursors": .array(BSONArray(ids.map { .int64($0) })),
                ])
            },
        ]
    }

    private var users: [Road] {
        [
            road("createUser", .users, from: 5, upTo: 80) { client, n in
                for name in Sample.names(n) { try Self.create(name, client) }
                try Self.dropUsers(client)
            },
            road("usersInfo", .users, from: 10, upTo: 80) { client, n in
                for name in Sample.names(n) { try Self.create(name, client) }
            } _: { client, _ in
                for _ in 0..<20 { try client.run(["usersInfo": 1]) }
            },
        ]
    }

    private static func create(_ name: String, _ client: SweptClient) throws {
        try client.run([
            "createUser": .string(name), "pwd": "secret", "roles": ["readWrite"],
            "mechanisms": ["SCRAM-SHA-256"],
        ])
    }

    private static func dropUsers(_ client: SweptClient) throws {
        try client.run(["dropAllUsersFromDatabase": 1])
    }
}

#if Remote
    extension ServerRoads {
        private func synced(
            _ name: String, _ growth: Road.Growth = .documents, from: Int = 100, upTo: Int = 4_000,
            _ prepare: @escaping (SweptClient, ServedDevice, Int) async throws -> Void,
            count: @escaping (Int) -> Int,
            _ run: @escaping (SweptClient, ServedDevice, Int) async throws -> Void
        ) -> Road {
            let servers = servers
            return Road(once: "server: \(name)", growth, from: from, upTo: upTo) { n in
                let client = try servers.client()
                let device = try await ServedDevice(client)
                try await prepare(client, device, n)
                return Trip(
                    end: {
                        try await device.end(count: count(n))
                        try client.end()
                    }
                ) { try await run(client, device, n) }
            }
        }

        private static func versioned(_ count: Int) -> [BSONDocument] {
            Sample.documents(count).map(SweptDevice.versioned)
        }

        private var remotes: [Road] {
            [
                synced("ServerRemote, first download of a subscription", from: 500) {
                    client, device, n in
                    try client.insert(Self.versioned(n))
                    try await device.items.subscribe(waitForSync: .never)
                } count: {
                    $0
                } _: { _, device, _ in
                    try await device.sync()
                },
                synced("ServerRemote, first download of ids", from: 500) { client, device, n in
                    try client.insert(Self.versioned(n))
                    try await device.items.sync(ids: (0..<n).map { .int($0) })
                } count: {
                    $0
                } _: { _, device, _ in
                    try await device.sync()
                },
                synced("ServerRemote, upload of inserts", .changes) { _, device, n in
                    try await device.items.subscribe(waitForSync: .never)
                    try await device.sync()
                    try await device.items.insertMany(Sample.documents(n))
                } count: {
                    $0
                } _: { _, device, _ in
                    try await device.sync()
                },
                synced("ServerRemote, upload of updates", .changes) { client, device, n in
                    try client.insert(Self.versioned(n))
                    try await device.items.subscribe(waitForSync: .never)
                    try await device.sync()
                    try await device.items.updateMany([:], ["$set": ["x": 1]])
                } count: {
                    $0
                } _: { _, device, _ in
                    try await device.sync()
                },
                synced("ServerRemote, download of changes", .changes) { client, device, n in
                    try client.insert(Self.versioned(n))
                    try await device.items.subscribe(waitForSync: .never)
                    try await device.sync()
                    try client.run([
                        "update": "items",
                        "updates": [
                            [
                                "q": [:], "multi": true,
                                "u": ["$inc": ["x": 1, "__stitch_sync_version.v": 1]],
                            ]
                        ],
                    ])
                } count: {
                    $0
                } _: { _, device, _ in
                    try await device.sync()
                },
                synced("ServerRemote, writes that each sync", .writes, from: 50, upTo: 800) {
                    _, device, _ in
                    try await device.items.subscribe(waitForSync: .never)
                    try await device.sync()
                } count: {
                    $0
                } _: { _, device, n in
                    for number in 0..<n {
                        try await device.items.insertOne(Sample.document(number))
                        try await device.sync()
                    }
                },
                devices("ServerRemote, devices download") { device in try await device.sync() },
                devices("ServerRemote, users sign in and download", signIn: true) { device in
                    try await device.sync()
                },
            ]
        }

        private func devices(
            _ name: String, signIn: Bool = false,
            _ run: @escaping (ServedDevice) async throws -> Void
        ) -> Road {
            let servers = servers
            return Road(once: "server: \(name)", .devices, from: 5, upTo: 80) { n in
                let client = try servers.client()
                try client.insert(Self.versioned(20))
                var devices: [ServedDevice] = []
                for name in Sample.names(n) {
                    if signIn { try Self.create(name, client) }
                    let device = try await ServedDevice(client, user: signIn ? name : nil)
                    try await device.items.subscribe(waitForSync: .never)
                    devices.append(device)
                }
                let all = devices
                return Trip(
                    end: {
                        for device in all { try await device.end(count: 20) }
                        if signIn { try Self.dropUsers(client) }
                        try client.end()
                    }
                ) { for device in all { try await run(device) } }
            }
        }
    }

    /// A device that syncs with the server process.
    struct ServedDevice {
        private let store: DocumentStore
        private let engine: SyncEngine
        private let remote: ServerRemote
        /// The collection of most roads.
        let items: SyncCollection<BSONDocument>

        /// Makes a device of a client's database, which a user of that database may sign in to.
        init(_ client: SweptClient, user: String? = nil) async throws {
            store = try Sample.store()
            remote = try ServerRemote(
                "stitchsync://127.0.0.1:\(client.port)",
                signIn: user.map { .user($0, password: "secret", database: client.database) }
                    ?? .none)
            engine = try SyncEngine(store: store, remote: remote)
            items = engine.collection(Namespace(client.database, "items"))
            await items.configure(conflictHandler: .remoteWins)
        }

        /// Runs passes until nothing is left to do.
        func sync() async throws {
            let (report, _) = try await engine.syncUntilQuiet()
            if let error = report.errors.first { throw SweptFailure("the pass failed: \(error)") }
        }

        /// Closes the device; fails unless it has so many documents.
        func end(count: Int) async throws {
            let found = try items.find().count()
            await engine.close()
            await remote.close()
            store.close()
            guard found == count else { throw SweptFailure("\(found) documents, not \(count)") }
        }
    }
#else
    extension ServerRoads {
        private var remotes: [Road] { [] }
    }
#endif
