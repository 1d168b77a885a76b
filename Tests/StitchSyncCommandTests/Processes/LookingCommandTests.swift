import BSONStore
import Foundation
import StitchSync
import Testing

@testable import StitchSyncCommand

/// Who looks at a store, perhaps because its disk is full or damaged, must not change it.
@Suite(.timeLimit(.minutes(30))) struct LookingCommandTests {
    private static let things = Namespace("app", "things")

    /// The commands that look at a store, without its path.
    private static let commands = [
        ["status"], ["status", "--json"], ["verify"], ["verify", "--json"], ["inspect", "--json"],
        ["inspect", "--out", "-"],
    ]

    /// Names, times and bytes of what lies in a folder.
    private struct Listing: Equatable {
        var files: [String: [String]] = [:]

        /// - Parameter ignoring: the ends of names whose bytes and times may change.
        init(_ folder: String, ignoring: [String] = []) throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let path = folder + "/" + name
                var status = stat()
                guard stat(path, &status) == 0 else { throw CommandError("\(path): \(errno)") }
                guard !ignoring.contains(where: name.hasSuffix) else {
                    files[name] = []
                    continue
                }
                #if canImport(Darwin)
                    let time = status.st_mtimespec
                #else
                    let time = status.st_mtim
                #endif
                files[name] = [
                    "\(time.tv_sec).\(time.tv_nsec)", "\(status.st_ino)",
                    try Data(contentsOf: URL(filePath: path)).base64EncodedString(),
                ]
            }
        }
    }

    /// Runs all commands over a file, and gives what they wrote.
    @discardableResult
    private static func look(at path: String) async throws -> [[String]] {
        try await withTemporaryFolder { folder in
            var output: [[String]] = []
            for command in commands {
                let arguments = [command[0], path] + command.dropFirst()
                let answer = try await Tool.run(arguments: arguments, in: folder)
                #expect(answer.code == 0, "\(command): \(answer.complaints) \(answer.output)")
                output.append(answer.output)
            }
            return output
        }
    }

    /// A store with synced documents, a change that waits, and a log.
    private static func makeStore(_ path: String) async throws -> (DocumentStore, SyncEngine) {
        let store = try DocumentStore(at: .file(path))
        let engine = try SyncEngine(store: store, remote: try InProcessRemote(at: .inMemory))
        let collection = engine.collection(things)
        for id in 0..<20 as Range<Int32> { try await collection.insertOne(["_id": .int32(id)]) }
        try await engine.syncUntilQuiet()
        try await collection.insertOne(["_id": "waits"])
        return (store, engine)
    }

    /// Puts four copies of a store beside each other: at rest, and with what a killed process leaves.
    ///
    /// - Returns: their names.
    private static func copies(into target: String) async throws -> [String] {
        try await withTemporaryFolder { folder in
            let path = folder.path("store")
            let (store, engine) = try await makeStore(path)
            func copy(_ ends: [String], _ name: String) throws {
                for end in ends {
                    try FileManager.default.copyItem(
                        atPath: path + end, toPath: "\(target)/\(name)\(end)")
                }
            }
            try copy(["", "-wal", "-shm"], "killed")
            try copy(["", "-wal"], "noindex")
            await engine.close()
            store.close()
            try copy([""], "rest")
            let plain = folder.path("plain")
            try DocumentStore(at: .file(plain)).close()
            try FileManager.default.copyItem(atPath: plain, toPath: target + "/plain")
            return ["killed", "noindex", "rest", "plain"]
        }
    }

    /// Whether the commands told of all documents, also those in the log.
    private static func expectAll(_ output: [[String]], of name: String) throws {
        guard name != "plain" else {
            #expect(output[0].last?.hasPrefix("never synced") == true)
            return
        }
        let status = try BSONDocument(extendedJSON: try #require(output[1].first))
        #expect(status["documents"]?.int64Value == 21, "\(name)")
        #expect(status["synced"]?.int64Value == 21, "\(name)")
        #expect(status["pending"]?.int64Value == 1, "\(name)")
    }

    @Test func `a store that nobody has open stays as it is, byte for byte`() async throws {
        try await withTemporaryFolder { folder in
            let names = try await Self.copies(into: folder.url.path)
            let before = try Listing(folder.url.path)
            for name in names {
                try Self.expectAll(try await Self.look(at: folder.path(name)), of: name)
            }
            #expect(try Listing(folder.url.path) == before)
        }
    }

    @Test func `a store that another process has open stays as it is`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path("store")
            let (store, engine) = try await Self.makeStore(path)
            let before = try Listing(folder.url.path, ignoring: ["-shm"])
            try Self.expectAll(try await Self.look(at: path), of: "store")
            #expect(try Listing(folder.url.path, ignoring: ["-shm"]) == before)
            await engine.close()
            store.close()
        }
    }

    /// Inserts documents until it is told to end; tells how many.
    private static func write(
        into collection: SyncCollection<BSONDocument>, until isOver: @Sendable () -> Bool
    ) async throws -> Int {
        var id: Int32 = 100
        while !isOver() {
            try await collection.insertOne(["_id": .int32(id)])
            id += 1
        }
        return Int(id - 100)
    }

    @Test func `a store that another process writes can be looked at`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path("store")
            let (store, engine) = try await Self.makeStore(path)
            let collection = engine.collection(Self.things)
            let isOver = Locked(false)
            async let writer = Self.write(into: collection) { isOver.withLock { $0 } }
            do {
                defer { isOver.withLock { $0 = true } }
                try await Self.look(at: path)
            }
            let count = try await writer
            #expect(try collection.find([:]).count() == 21 + count)
            #expect(try store.verify().isSound)
            await engine.close()
            store.close()
        }
    }

    #if os(Linux)
        @Test(.enabled(if: MountedFolder.isAllowed, "this process may not mount a file system"))
        func `stores on a file system for reading only can be looked at`() async throws {
            try await MountedFolder.lend { folder in
                let names = try await Self.copies(into: folder.path)
                let before = try Listing(folder.path)
                try folder.makeReadOnly()
                for name in names {
                    let output = try await Self.look(at: folder.path + "/" + name)
                    try Self.expectAll(output, of: name)
                }
                #expect(try Listing(folder.path) == before)
            }
        }

        @Test(.enabled(if: MountedFolder.isAllowed, "this process may not mount a file system"))
        func `stores on a full disk can be looked at`() async throws {
            try await MountedFolder.lend { folder in
                let names = try await Self.copies(into: folder.path)
                try folder.fill()
                let before = try Listing(folder.path)
                for name in names {
                    let output = try await Self.look(at: folder.path + "/" + name)
                    try Self.expectAll(output, of: name)
                }
                #expect(try Listing(folder.path) == before)
            }
        }

        @Test(.enabled(if: MountedFolder.isAllowed, "this process may not mount a file system"))
        func `a store whose writer has filled the disk can be looked at`() async throws {
            try await MountedFolder.lend { folder in
                let path = folder.path + "/store"
                let (store, engine) = try await Self.makeStore(path)
                try folder.fill()
                let before = try Listing(folder.path, ignoring: ["-shm"])
                try Self.expectAll(try await Self.look(at: path), of: "store")
                #expect(try Listing(folder.path, ignoring: ["-shm"]) == before)
                await engine.close()
                store.close()
            }
        }
    #endif
}
