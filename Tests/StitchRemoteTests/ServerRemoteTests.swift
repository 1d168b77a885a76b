#if Remote
    import BSONStore
    import Foundation
    import StitchSync
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// Two devices must be in step over the remote, whatever they sign in as.
    @Suite(.timeLimit(.minutes(30))) struct ServerRemoteTests {
        private static let notes = Namespace("app", "notes")

        /// Users see and write their own notes only.
        private static let rules = """
            {
              "database": "app", "collection": "notes",
              "roles": [
                {
                  "name": "own", "apply_when": {},
                  "document_filters": {
                    "read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}
                  },
                  "read": true, "write": true
                }
              ]
            }
            """

        /// Lends a server with rules.
        private static func serveRules<R>(
            _ arguments: [String], _ body: (ServerProcess) async throws -> R
        ) async throws -> R {
            let root = FileManager.default.temporaryDirectory.appending(
                path: "stitchremote-\(UUID())")
            let folder = root.appending(path: "data_sources/mongodb-atlas/app/notes")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(rules.utf8).write(to: folder.appending(path: "rules.json"))
            let result: Result<R, any Error>
            do {
                result = .success(
                    try await ServerProcess.run(
                        ["--auth", "--rules", root.path] + arguments, body))
            } catch {
                result = .failure(error)
            }
            try FileManager.default.removeItem(at: root)
            return try result.get()
        }

        private static func uri(_ port: Int) -> String {
            "stitchsync://127.0.0.1:\(port)/app?serverSelectionTimeoutMS=240000"
                + "&connectTimeoutMS=240000&socketTimeoutMS=240000"
        }

        private static func device(_ remote: ServerRemote) async throws -> SyncEngine {
            let engine = try SyncEngine(
                store: try DocumentStore(at: .inMemory), remote: remote)
            await engine.collection(notes).configure(conflictHandler: .remoteWins)
            try await engine.collection(notes).subscribe(waitForSync: .never)
            return engine
        }

        @Test func `two devices are in step`() async throws {
            try await ServerProcess.run { process in
                let remotes = try (0..<2).map { _ in try ServerRemote(Self.uri(process.port)) }
                let (ann, ben) = (
                    try await Self.device(remotes[0]), try await Self.device(remotes[1])
                )
                try await ann.collection(Self.notes).insertOne(["_id": 1, "text": "milk"])
                try await ben.collection(Self.notes).insertOne(["_id": 2, "text": "eggs"])
                for engine in [ann, ben, ann, ben] {
                    let (report, _) = try await engine.syncUntilQuiet()
                    #expect(report.errors == [])
                }
                for engine in [ann, ben] {
                    let found = try engine.collection(Self.notes).find().fetch()
                    #expect(Set(found.map { $0["text"] }) == ["milk", "eggs"])
                    #expect(
                        try await engine.collection(Self.notes).status() == SyncStatus(synced: 2))
                }
                let ids = try await remotes[0].ids(matching: ["text": "eggs"], in: Self.notes)
                #expect(ids == [2])
                for remote in remotes { await remote.close() }
            }
        }

        @Test func `a secret is a user without an account`() async throws {
            try await Self.serveRules(["--anonymous"]) { process in
                let secret = SignIn.newAnonymousSecret()
                #expect(secret.count == 32 && secret != SignIn.newAnonymousSecret())
                let uri = Self.uri(process.port)
                try await ServerConnections.run(uri, signIn: .anonymous(secret: secret)) { server in
                    let status = try await server.read(["connectionStatus": 1])
                    let users = status["authInfo"]?.documentValue?["authenticatedUsers"]?
                        .arrayValue?.compactMap(\.documentValue)
                    #expect(users?.count == 1)
                    #expect(users?.first?["db"] == "$anonymous")
                }
                for secret in [[], [UInt8](repeating: 1, count: 15)] {
                    let error = #expect(throws: RemoteError.self) {
                        try ServerRemote(uri, signIn: .anonymous(secret: secret))
                    }
                    #expect(error?.errorClass == .rejected)
                }
                let error = #expect(throws: RemoteError.self) {
                    try ServerRemote("stitchsync://h", signIn: .anonymous(secret: secret))
                }
                #expect(error?.message.contains("TLS only") == true)
            }
        }

        @Test func `a user signs up and in`() async throws {
            try await Self.serveRules(["--sign-up"]) { process in
                let uri = Self.uri(process.port)
                let ann = try await ServerRemote.register("ann", password: "long enough", at: uri)
                try await ServerConnections.run(uri, signIn: ann) { server in
                    try await server.read(["find": "notes"], on: "app")
                }
                let taken = await #expect(throws: RemoteError.self) {
                    try await ServerRemote.register("ann", password: "long enough", at: uri)
                }
                #expect(taken?.code == 51_003 && taken?.errorClass == .rejected)
                for (password, uri) in [
                    ("short", uri), ("long enough", "stitchsync://127.0.0.1:\(process.port)"),
                    ("long enough", "stitchsync://h/app"),
                    ("long enough", "stitchsync://u:p@127.0.0.1:\(process.port)/app"),
                ] {
                    let error = await #expect(throws: RemoteError.self) {
                        try await ServerRemote.register("ben", password: password, at: uri)
                    }
                    #expect(error?.errorClass == .rejected)
                }
            }
        }
    }
#endif
