#if Remote
    import BSONStore
    import Foundation
    import StitchCommands
    import StitchSync
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// An account can change while the app runs: the app must not have to build a new engine.
    @Suite(.timeLimit(.minutes(30))) struct AccountCallTests {
        private static let notes = Namespace("app", "notes")
        private static let first = "first password"
        private static let second = "second password"

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

        /// Lends the URI of a server where users register.
        private static func serve(_ body: (String) async throws -> Void) async throws {
            let root = FileManager.default.temporaryDirectory.appending(
                path: "stitchaccount-\(UUID())")
            let folder = root.appending(path: "data_sources/mongodb-atlas/app/notes")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(rules.utf8).write(to: folder.appending(path: "rules.json"))
            let result: Result<Void, any Error>
            let arguments = ["--auth", "--rules", root.path, "--sign-up", "--anonymous"]
            do {
                result = .success(
                    try await ServerProcess.run(arguments) { process in
                        try await body("stitchsync://127.0.0.1:\(process.port)/app")
                    })
            } catch {
                result = .failure(error)
            }
            try FileManager.default.removeItem(at: root)
            try result.get()
        }

        private static func remote(_ uri: String, _ signIn: SignIn) throws -> ServerRemote {
            try ServerRemote(uri, signIn: signIn, options: .patient)
        }

        private static func device(_ remote: ServerRemote) async throws -> SyncEngine {
            let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
            await engine.collection(notes).configure(conflictHandler: .remoteWins)
            try await engine.collection(notes).subscribe(waitForSync: .never)
            return engine
        }

        private static func errors(_ engine: SyncEngine) async throws -> Set<SyncError.Code> {
            Set(try await engine.syncUntilQuiet().0.errors)
        }

        private static func ids(_ engine: SyncEngine) throws -> [BSONValue] {
            try engine.collection(notes).find().fetch().compactMap { $0["_id"] }
        }

        @Test func `an engine goes on after the password changed, here and elsewhere`() async throws
        {
            try await Self.serve { uri in
                let signIn = try await ServerRemote.register(
                    "ann", password: Self.first, at: uri, options: .patient)
                let (own, other) = (
                    try Self.remote(uri, signIn), try Self.remote(uri, signIn)
                )
                let (device, tablet) = (
                    try await Self.device(own), try await Self.device(other)
                )
                let notes = device.collection(Self.notes)
                try await notes.insertOne(["_id": 1, "owner": ":app.ann"])
                #expect(try await Self.errors(device) == [])
                #expect(try await Self.errors(tablet) == [])
                let wrong = await #expect(throws: RemoteError.self) {
                    try await own.changePassword(from: "wrong password", to: Self.second)
                }
                #expect(wrong?.errorClass == .unauthenticated)
                try await own.changePassword(
                    from: Self.first, to: Self.second, signingOutOthers: true)
                // As after an answer that was lost.
                try await own.changePassword(from: Self.first, to: Self.second)
                try await notes.insertOne(["_id": 2, "owner": ":app.ann"])
                #expect(try await Self.errors(device) == [])
                #expect(try await Self.errors(tablet) == [.authRequired])
                try other.use(.user("ann", password: Self.second, database: "app"))
                tablet.noteSignIn()
                #expect(try await Self.errors(tablet) == [])
                #expect(try Self.ids(tablet) == [1, 2])
                let sessions = try await own.sessions()
                #expect(sessions.count >= 2 && sessions.count { $0.isThisOne } == 1)
                #expect(sessions.allSatisfy { $0.driver == "StitchRemote" })
                for session in sessions where !session.isThisOne {
                    try await own.endSession(session.id)
                }
                #expect(try await own.sessions().count == 1)
                // Both know the password, so both sign in again.
                try await own.signOutEverywhere()
                try await notes.insertOne(["_id": 3, "owner": ":app.ann"])
                #expect(try await Self.errors(device) == [])
                #expect(try await Self.errors(tablet) == [])
                #expect(try Self.ids(tablet) == [1, 2, 3])
                try await own.deleteAccount(password: Self.second)
                #expect(try await Self.errors(device) == [.authRequired])
                #expect(try await Self.errors(tablet) == [.authRequired])
                await own.close()
                await other.close()
            }
        }

        @Test func `an anonymous user registers, and keeps the documents`() async throws {
            try await Self.serve { uri in
                let guest = SignIn.anonymous(secret: Array(1...32))
                let own = try Self.remote(uri, guest)
                let device = try await Self.device(own)
                try await own.register("ann", password: Self.first)
                #expect(try await Self.errors(device) == [])
                await #expect(throws: RemoteError.self) {
                    try await own.register("ida", password: Self.first)
                }
                // A second device whose answer was lost tries again.
                let lost = try Self.remote(uri, guest)
                let signIn = try await lost.register("ann", password: Self.first)
                let found = try await Self.device(lost).syncUntilQuiet().0.errors
                #expect(found == [], "\(found)")
                let again = try Self.remote(uri, guest)
                let refused = await #expect(throws: RemoteError.self) {
                    try await again.register("ida", password: Self.first)
                }
                #expect(refused?.errorClass == .unauthenticated)
                #expect(refused?.message.contains("registered now") == true)
                #expect(
                    try await Self.errors(try await Self.device(again)) == [.authRequired])
                let next = try Self.remote(uri, signIn)
                #expect(try await Self.errors(try await Self.device(next)) == [])
                for remote in [own, lost, again, next] { await remote.close() }
            }
        }

        @Test func `a token of an administrator sets a forgotten password`() async throws {
            try await Self.serve { uri in
                let door = try Self.remote(uri, .none)
                _ = try await door.connections.run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin", .write)
                await door.close()
                let signIn = try await ServerRemote.register(
                    "ann", password: Self.first, at: uri, options: .patient)
                let own = try Self.remote(uri, signIn)
                let device = try await Self.device(own)
                #expect(try await Self.errors(device) == [])
                let root = try Self.remote(uri, .user("root", password: "pw"))
                let token = try await root.makePasswordToken(for: "ann", on: "app")
                let wrong = await #expect(throws: RemoteError.self) {
                    try await ServerRemote.setPassword(
                        "ann", token: "wrong", to: Self.second, at: uri, options: .patient)
                }
                #expect(wrong?.errorClass == .unauthenticated)
                let unknown = await #expect(throws: RemoteError.self) {
                    try await root.makePasswordToken(for: "ben", on: "app")
                }
                #expect(unknown?.errorClass == .rejected && unknown?.code == 11)
                let next = try await ServerRemote.setPassword(
                    "ann", token: token.text, to: Self.second, at: uri, options: .patient)
                #expect(try await Self.errors(device) == [.authRequired])
                try own.use(next)
                #expect(try await Self.errors(device) == [])
                await own.close()
                await root.close()
            }
        }

        @Test func `the server tells a user's id, and whether a password is right`() async throws {
            try await Self.serve { uri in
                let signIn = try await ServerRemote.register(
                    "ann", password: Self.first, at: uri, options: .patient)
                let remote = try Self.remote(uri, signIn)
                #expect(try await remote.userID() == ":app.ann")
                let wrong = SignIn.user("ann", password: Self.second, database: "app")
                for signIn in [wrong, .none] {
                    let stranger = try Self.remote(uri, signIn)
                    let error = await #expect(throws: RemoteError.self) {
                        try await stranger.userID()
                    }
                    #expect(error?.errorClass == .unauthenticated, "\(signIn)")
                    await stranger.close()
                }
                let secret = [UInt8](repeating: 7, count: 32)
                let guest = try Self.remote(uri, .anonymous(secret: secret))
                let id = try await guest.userID()
                try await guest.register("bea", password: Self.first)
                #expect(try await guest.userID() == id)
                await remote.close()
                await guest.close()
            }
        }

        /// A pass without collections asks nothing, so it says nothing about a password.
        @Test func `a store is bound only to a password that the server accepted`() async throws {
            try await Self.serve { uri in
                _ = try await ServerRemote.register(
                    "ann", password: Self.first, at: uri, options: .patient)
                let folder = FileManager.default.temporaryDirectory.appending(
                    path: "stitchusers-\(UUID())")
                let stores = UserStores(directory: folder.path) { name in
                    try Self.remote(
                        uri, .user(name, password: Self.first, database: "app"))
                }
                let wrong = await #expect(throws: RemoteError.self) {
                    try await Self.signIn("ann", Self.second, uri, stores)
                }
                #expect(wrong?.errorClass == .unauthenticated)
                let engine = try await Self.signIn("ann", Self.first, uri, stores)
                #expect(try await Self.errors(engine) == [])
                let other = #expect(throws: SyncError.self) {
                    try stores.signIn("ann", secret: Self.second)
                }
                #expect(other?.code == .wrongSecret)
                try await stores.close("ann")
                try FileManager.default.removeItem(at: folder)
            }
        }

        /// Signs in as `Docs/USERS.md` does, "Several users of one device".
        private static func signIn(
            _ name: String, _ password: String, _ uri: String, _ stores: UserStores
        ) async throws -> SyncEngine {
            let server = try remote(uri, .user(name, password: password, database: "app"))
            let result: Result<Void, any Error>
            do {
                _ = try await server.userID()
                result = .success(try stores.bindSecret(password, to: name))
            } catch {
                result = .failure(error)
            }
            await server.close()
            try result.get()
            return try stores.signIn(name, secret: password)
        }

        /// The snippets of `Docs/ACCOUNTS.md`, so that they are compiled.
        private func page(
            _ engine: SyncEngine, _ operators: ServerRemote, _ secret: [UInt8], _ old: String,
            _ new: String, _ typed: String, _ password: String
        ) async throws {
            let uri = "stitchsync://sync.example.com/app?tls=true"
            let signIn = try await ServerRemote.register("ann", password: password, at: uri)
            let remote = try ServerRemote(uri, signIn: signIn)
            let owner = try await remote.userID()
            let guest = try ServerRemote(uri, signIn: .anonymous(secret: secret))
            let registered = try await guest.register("ann", password: password)
            let changed = try await remote.changePassword(
                from: old, to: new, signingOutOthers: true)
            try remote.use(.user("ann", password: typed, database: "app"))
            engine.noteSignIn()
            let token = try await operators.makePasswordToken(for: "ann", on: "app")
            try await ServerRemote.requestPasswordToken(for: "ann", at: uri)
            let reset = try await ServerRemote.setPassword(
                "ann", token: token.text, to: new, at: uri)
            let sessions = try await remote.sessions()
            for session in sessions where !session.isThisOne {
                try await remote.endSession(session.id)
            }
            try await remote.deleteAccount(password: password)
            _ = (owner, registered, changed, reset)
        }

        /// The snippets of `Docs/ACCOUNTS.md` with `UserStores`.
        private func page(
            _ stores: UserStores, _ running: Task<Void, any Error>, _ old: String, _ new: String
        ) async throws {
            running.cancel()
            _ = await running.result
            try await stores.signOut("ann", waitingForUpload: nil)
            if let remote = stores.remote(of: "ann") as? ServerRemote {
                try await remote.changePassword(from: old, to: new)
                try stores.bindSecret(new, to: "ann")
            }
        }

        @Test func `secrets leave the machine only encrypted`() async throws {
            let remote = try ServerRemote("stitchsync://203.0.113.1/app", signIn: .none)
            for call in [
                { try await remote.changePassword(from: "a", to: "b") },
                { try await remote.register("ann", password: "b") },
                {
                    try await ServerRemote.setPassword(
                        "ann", token: "a", to: "b", at: "stitchsync://203.0.113.1/app")
                },
            ] as [@Sendable () async throws -> SignIn] {
                let error = await #expect(throws: RemoteError.self) { _ = try await call() }
                #expect(error?.errorClass == .rejected)
            }
            #expect(throws: RemoteError.self) {
                try remote.use(.anonymous(secret: Array(1...32)))
            }
            await remote.close()
        }
    }
#endif
