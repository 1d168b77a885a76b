import BSONStore
import Foundation
import Testing

@testable import StitchServer

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Without these the results that clients do not read would fill the memory or the disk.
@Suite struct CursorMemoryTests {
    private static func user(_ name: String) -> SignedInUser {
        SignedInUser(
            name: Name(name), database: "admin", roles: [Role(name: "root", database: "admin")],
            generation: 1)
    }

    /// A server with documents of a size in `shop.items`.
    private static func server(
        _ count: Int32, of byteCount: Int, _ change: (inout ServerSettings) -> Void = { _ in }
    ) throws -> OfflineServer {
        var settings = ServerSettings()
        change(&settings)
        let server = try OfflineServer(settings)
        server.become(user("root"))
        for number in 0..<count {
            let document: BSONDocument = [
                "_id": .int32(number), "n": .int32(-number),
                "t": .string(String(repeating: "x", count: byteCount)),
            ]
            let answer = server.answer(command: [
                "insert": "items", "documents": [.document(document)], "$db": "shop",
            ])
            #expect(answer?["n"] == 1)
        }
        return server
    }

    private static func find(_ server: OfflineServer, limit: Int32 = 0) -> BSONDocument {
        server.answer(command: [
            "find": "items", "sort": ["n": 1], "batchSize": 1, "limit": .int32(limit),
            "$db": "shop",
        ]) ?? [:]
    }

    private static func open(_ server: OfflineServer) throws -> BSONValue {
        let reply = find(server)
        return try #require(reply["cursor"]?.documentValue?["id"], "\(reply)")
    }

    private static func next(_ server: OfflineServer, _ id: BSONValue) -> BSONDocument {
        server.answer(command: [
            "getMore": id, "collection": "items", "batchSize": 3, "$db": "shop",
        ]) ?? [:]
    }

    private static func ids(_ reply: BSONDocument, _ batch: String) -> [Int] {
        let documents = reply["cursor"]?.documentValue?[batch]?.arrayValue?.values ?? []
        return documents.compactMap { $0.documentValue?["_id"]?.int64Value.map { Int($0) } }
    }

    @Test func `the oldest cursors of the user with the largest results end`() throws {
        let server = try Self.server(10, of: 64 << 10) { $0.cursorBytesMax = 2 << 20 }
        server.become(Self.user("bob"))
        let other = try Self.open(server)
        server.become(Self.user("ann"))
        let cursors = try (0..<6).map { _ in try Self.open(server) }
        #expect(server.cursorUse.memoryBytes <= 2 << 20)
        let first = Self.next(server, cursors[0])
        #expect(first["code"] == 237)
        #expect(first["errmsg"]?.stringValue?.contains("2097152 bytes in memory") == true)
        #expect(Self.next(server, cursors[0])["code"] == 43)
        #expect(Self.ids(Self.next(server, cursors[5]), "nextBatch") == [8, 7, 6])
        server.become(Self.user("bob"))
        #expect(Self.ids(Self.next(server, other), "nextBatch") == [8, 7, 6])
    }

    /// A query stays in memory as long as its cursor, however little the cursor returns.
    @Test(
        "large queries of open cursors end the oldest ones of their user",
        arguments: [
            ["find": "items", "filter": ["z": ["$ne": .string(large)]], "batchSize": 1],
            [
                "aggregate": "items", "cursor": [:],
                "pipeline": [
                    ["$changeStream": [:]], ["$match": ["fullDocument.z": .string(large)]],
                ],
            ],
        ] as [BSONDocument])
    func queries(command: BSONDocument) throws {
        let server = try Self.server(5, of: 10) { $0.cursorBytesMax = 32 << 20 }
        func open(_ command: BSONDocument) throws -> BSONValue {
            var command = command
            command.append("$db", "shop")
            let reply = server.answer(command: command) ?? [:]
            return try #require(reply["cursor"]?.documentValue?["id"], "\(reply)")
        }
        server.become(Self.user("bob"))
        let small: BSONDocument = ["find": "items", "batchSize": 1]
        let other = try open(small)
        #expect(server.cursorUse.memoryBytes < 4 << 10)
        server.become(Self.user("eve"))
        let cursors = try (0..<20).map { _ in try open(command) }
        #expect(server.cursorUse.memoryBytes <= 32 << 20 && server.cursorUse.memoryBytes > 8 << 20)
        #expect(Self.next(server, cursors[0])["code"] == 237)
        #expect(Self.next(server, cursors[19])["ok"] == 1.0)
        server.become(Self.user("bob"))
        #expect(Self.ids(Self.next(server, other), "nextBatch") == [1, 2, 3])
    }

    private static let large = String(repeating: "x", count: 2 << 20)

    @Test func `a large result is read from a file, which ends with it`() throws {
        let server = try Self.server(10, of: 1 << 20)
        for command: BSONDocument in [
            ["find": "items", "sort": ["n": 1], "batchSize": 1, "$db": "shop"],
            [
                "aggregate": "items", "pipeline": [["$sort": ["n": 1]]],
                "cursor": ["batchSize": 1], "$db": "shop",
            ],
        ] {
            let reply = server.answer(command: command) ?? [:]
            let id = try #require(reply["cursor"]?.documentValue?["id"], "\(reply)")
            var ids = Self.ids(reply, "firstBatch")
            #expect(server.cursorUse.files == 1 && server.cursorUse.fileBytes > 10 << 20)
            #expect(server.cursorUse.memoryBytes < 4 << 10)
            for _ in 0..<3 { ids += Self.ids(Self.next(server, id), "nextBatch") }
            #expect(ids == Array(0..<10).reversed())
            let end = Self.next(server, id)
            #expect(end["cursor"]?.documentValue?["id"] == .int64(0), "\(end)")
            #expect(server.cursorUse.files == 0 && server.cursorUse.fileBytes == 0)
        }
    }

    @Test func `a small result stays in memory until it is read`() throws {
        let server = try Self.server(4, of: 1 << 10)
        let id = try Self.open(server)
        #expect(server.cursorUse.files == 0 && server.cursorUse.memoryBytes > 3 << 10)
        #expect(Self.ids(Self.next(server, id), "nextBatch").count == 3)
        _ = Self.next(server, id)
        #expect(server.cursorUse.memoryBytes == 0)
    }

    @Test func `a user has half of the files' total, and a new result ends the oldest`() throws {
        let server = try Self.server(6, of: 1 << 20) { $0.spoolBytesMax = 20 << 20 }
        let (first, second) = (try Self.open(server), try Self.open(server))
        #expect(server.cursorUse.files == 1)
        #expect(Self.next(server, first)["code"] == 237)
        #expect(Self.ids(Self.next(server, second), "nextBatch") == [4, 3, 2])
        let tight = try Self.server(6, of: 1 << 20) { $0.spoolBytesMax = 8 << 20 }
        let refused = Self.find(tight)
        #expect(refused["code"] == 292)
        let message = refused["errmsg"]?.stringValue ?? ""
        #expect(message.contains("results of one user may take 4194304 bytes on disk"))
        #expect(tight.cursorUse.files == 0 && tight.cursorUse.fileBytes == 0)
    }

    @Test func `results under rules are counted and kept in files as well`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID())")
        let place = folder.appending(path: "data_sources/a/shop/items")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { removeRules(folder) }
        let role = #"{"name": "all", "apply_when": {}, "read": true, "write": true}"#
        try Data(#"{"roles": [\#(role)]}"#.utf8).write(to: place.appending(path: "rules.json"))
        let rules = try ReloadableRules(folder: folder.path)
        let server = try Self.server(6, of: 1 << 20) { settings in
            settings.requiresSignIn = true
            settings.rules = rules
        }
        server.become(
            SignedInUser(
                name: "ann", database: "admin", roles: [Role(name: "readWrite", database: "shop")],
                generation: 1))
        let id = try Self.open(server)
        #expect(server.cursorUse.files == 1 && server.cursorUse.memoryBytes < 4 << 10)
        #expect(Self.ids(Self.next(server, id), "nextBatch") == [4, 3, 2])
        let small = Self.find(server, limit: 3)
        #expect(Self.ids(small, "firstBatch") == [5])
        #expect(server.cursorUse.memoryBytes > 1 << 20)
    }

    private func removeRules(_ folder: URL) {
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
    }

    @Test func `the number of files is bounded for a user and for all`() {
        let budget = SpoolBudget(bytesMax: 100, filesMax: 4)
        let owners = ["ann", "bob", "eve"].map {
            CursorOwner(Self.user($0), share: Array($0.utf8))
        }
        for owner in owners.prefix(2) {
            #expect(budget.take(files: 1, of: owner) == nil)
            #expect(budget.take(files: 1, of: owner) == nil)
        }
        #expect(budget.take(files: 1, of: owners[0]) == "one user may have 2 large unread results")
        #expect(
            budget.take(files: 1, of: owners[2])
                == "all users together may have 4 large unread results")
        // Another name does not help an anonymous user.
        let other = CursorOwner(Self.user("other"), share: owners[0].share)
        #expect(budget.take(files: 1, of: other) == "one user may have 2 large unread results")
        budget.give(bytes: 0, of: owners[0])
        #expect(budget.take(files: 1, of: owners[2]) == nil)
        #expect(SpoolBudget.usualFilesMax >= 8 && SpoolBudget.usualFilesMax <= 1_024)
    }

    @Test func `a file has no name`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "spool-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { removeRules(folder) }
        let file = try SpoolFile(in: folder.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        try file.append([1, 2, 3])
        try file.append([4, 5])
        #expect(file.byteCount == 5)
        #expect(try file.read(at: 1, count: 100) == [2, 3, 4, 5])
        let missing = #expect(throws: StoreError.self) { try SpoolFile(in: "/no/such/folder") }
        #expect(missing?.code.rawValue == 39)
    }

    #if os(Linux)
        @Test func `a full disk is an error`() throws {
            let file = SpoolFile(owning: Glibc.open("/dev/full", O_RDWR))
            let error = #expect(throws: StoreError.self) { try file.append([1]) }
            #expect(error?.code.rawValue == 14031)
            #expect(error?.message.contains("No space left on device") == true)
        }
    #endif
}
