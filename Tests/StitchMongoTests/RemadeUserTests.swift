#if MongoRemote
    import BSONStore
    import Foundation
    import StitchCommands
    import StitchSync
    import TestProcesses
    import Testing

    @testable import StitchMongo

    /// Users are dropped and made anew when somebody sets a server up again: a device that has the same
    /// name and password must not need a restart for that.
    @Suite(.timeLimit(.minutes(30))) struct RemadeUserTests {
        private static let items = Namespace("shop", "items")

        /// A server with the user `ann`, and a device of hers that is in step.
        private struct Shop {
            let port: Int
            let root: MongoClientPool
            let store: DocumentStore

            init(_ server: ServerProcess) throws {
                port = server.port
                let door = try Self.pool("", server.port)
                try Self.run(
                    door, ["createUser": "root", "pwd": "pw", "roles": ["root"]])
                root = try Self.pool("root:pw@", server.port)
                store = try DocumentStore(at: .inMemory)
                try makeAnn()
            }

            private static func pool(_ user: String, _ port: Int) throws -> MongoClientPool {
                try MongoClientPool(
                    uri: "mongodb://\(user)127.0.0.1:\(port)/?authSource=admin",
                    settings: .init(
                        applicationName: "tests", serverSelectionTimeout: .seconds(60),
                        socketTimeout: .seconds(60), clients: .undivided(2)),
                    onTopologyChange: { _ in })
            }

            private static func run(_ pool: MongoClientPool, _ command: BSONDocument) throws {
                _ = try pool.withClient { (client) throws(MongoFailure) in
                    try client.run(command, on: "admin", .write)
                }
            }

            func makeAnn() throws {
                try Self.run(
                    root,
                    [
                        "createUser": "ann", "pwd": "secret",
                        "roles": [["role": "readWrite", "db": "shop"]],
                    ])
            }

            func dropAnn() throws { try Self.run(root, ["dropUser": "ann"]) }

            func remote() throws -> MongoRemote {
                try MongoRemote(uri: "mongodb://ann:secret@127.0.0.1:\(port)/?authSource=admin")
            }

            func engine(_ remote: MongoRemote) async throws -> SyncEngine {
                let engine = try SyncEngine(store: store, remote: remote)
                await engine.collection(RemadeUserTests.items).configure(
                    conflictHandler: .remoteWins)
                return engine
            }

            /// Inserts at the server, by root.
            func insert(_ id: String) throws {
                _ = try root.withClient { (client) throws(MongoFailure) in
                    try client.run(
                        ["insert": "items", "documents": [["_id": .string(id), "at": "server"]]],
                        on: "shop", .write)
                }
            }

            /// The ids that the server has.
            func ids() throws -> [String] {
                let reply = try root.withClient { (client) throws(MongoFailure) in
                    try client.run(
                        ["distinct": "items", "key": "_id", "query": [:]], on: "shop", .read)
                }
                return (reply["values"]?.arrayValue?.compactMap(\.stringValue) ?? []).sorted()
            }
        }

        private func expectInStep(_ engine: SyncEngine, _ shop: Shop, _ ids: [String]) async throws
        {
            let items = engine.collection(Self.items)
            let (report, _) = try await engine.syncUntilQuiet()
            #expect(report.errors == [] && report.paused == 0)
            #expect(try items.find().fetch().compactMap { $0["_id"]?.stringValue }.sorted() == ids)
            #expect(try shop.ids() == ids)
            #expect(try await items.status() == SyncStatus(synced: ids.count))
        }

        /// Drops the user and makes it again, with or without a pass in between.
        @Test(arguments: [false, true])
        func `a device that is connected recovers`(_ syncsBetween: Bool) async throws {
            try await ServerProcess.run(["--auth"]) { server in
                let shop = try Shop(server)
                let remote = try shop.remote()
                let engine = try await shop.engine(remote)
                let items = engine.collection(Self.items)
                try await items.subscribe(waitForSync: .never)
                try await items.insertOne(["_id": "first"])
                try await expectInStep(engine, shop, ["first"])
                try shop.dropAnn()
                try await items.insertOne(["_id": "here"])
                try shop.insert("there")
                if syncsBetween {
                    let (report, _) = try await engine.syncUntilQuiet()
                    #expect(report.errors.contains(.authRequired), "\(report.errors)")
                    #expect(!report.errors.contains(.remoteUnavailable), "\(report.errors)")
                    #expect(try await items.status().pending == 1)
                }
                try shop.makeAnn()
                try await expectInStep(engine, shop, ["first", "here", "there"])
                await remote.close()
            }
        }

        @Test func `a device that is not connected recovers`() async throws {
            try await ServerProcess.run(["--auth"]) { server in
                let shop = try Shop(server)
                let before = try shop.remote()
                let first = try await shop.engine(before)
                try await first.collection(Self.items).subscribe(waitForSync: .never)
                try await first.collection(Self.items).insertOne(["_id": "first"])
                try await expectInStep(first, shop, ["first"])
                await first.close()
                await before.close()
                try shop.dropAnn()
                try shop.insert("there")
                let remote = try shop.remote()
                let engine = try await shop.engine(remote)
                let items = engine.collection(Self.items)
                try await items.insertOne(["_id": "here"])
                let (report, _) = try await engine.syncUntilQuiet()
                #expect(report.errors.contains(.authRequired), "\(report.errors)")
                try shop.makeAnn()
                try await expectInStep(engine, shop, ["first", "here", "there"])
                await remote.close()
            }
        }
    }
#endif
