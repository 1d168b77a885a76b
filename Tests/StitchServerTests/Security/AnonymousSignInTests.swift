import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// A person without an account must find the own documents again, and no one else's.
@Suite(.timeLimit(.minutes(30))) struct AnonymousSignInTests {
    private static let secret = [UInt8](1...16)

    private static func user(_ client: ServerClient) throws -> BSONDocument {
        let status = try client.run(["connectionStatus": 1], on: "admin")
        let users = status["authInfo"]?.documentValue?["authenticatedUsers"]?.arrayValue
        return try #require(users?.first { _ in true }?.documentValue)
    }

    /// Connects a device and returns its id in rules.
    private static func device(
        _ port: Int, _ secret: [UInt8]
    ) throws -> (client: ServerClient, id: BSONValue) {
        let client = try ServerClient(port: port, database: "app")
        let answer = try client.signInAnonymously(secret)
        #expect(answer["ok"] == 1.0 && answer["done"] == true, "\(answer)")
        let user = try user(client)
        #expect(user["db"] == "$anonymous")
        return (client, .string(":$anonymous.\(user["user"]?.stringValue ?? "")"))
    }

    @Test("The same secret is the same user, also after a restart, and no other")
    func sameUser() async throws {
        try await OpenRules.lend { rules in
            let arguments = ["--auth", "--rules", rules, "--anonymous"]
            try await ServerProcess.run(arguments) { server in
                let (ann, id) = try Self.device(server.port, Self.secret)
                let hello = try ann.run(["hello": 1], on: "admin")
                #expect(hello["stitchsync"]?.documentValue?["anonymous"] == 1)
                try ann.insert([["_id": 1, "owner": id]], into: "notes")
                let (ben, other) = try Self.device(server.port, Self.secret + [17])
                #expect(other != id)
                #expect(try ben.documents(["find": "notes"]).isEmpty)
                let forged = try ben.reply([
                    "insert": "notes", "documents": [["_id": 2, "owner": id]],
                ])
                #expect(ServerRefusal.error(of: forged)?["code"] == 13, "\(forged)")
                try server.restart(SIGTERM, arguments)
                let (again, same) = try Self.device(server.port, Self.secret)
                #expect(same == id)
                #expect(try again.documents(["find": "notes"]).count == 1)
                // A change of users concerns no anonymous one.
                try ServerClient(port: server.port, database: "app").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                #expect(try again.documents(["find": "notes"]).count == 1)
                try Self.cannotReachOthers(again, server.port)
            }
        }
    }

    /// Tries what only users with roles may do, and to become the user by another way.
    private static func cannotReachOthers(_ client: ServerClient, _ port: Int) throws {
        let root = try ServerClient(port: port, database: "app", user: "root")
        try root.insert([["_id": 1]], into: "closed")
        #expect(try client.documents(["find": "closed"]).isEmpty)
        for command: BSONDocument in [["find": "system.users"], ["usersInfo": 1]] {
            #expect(try client.reply(command, on: "admin")["code"] == 13)
        }
        let databases = try client.run(["listDatabases": 1], on: "admin")["databases"]
        #expect(databases?.arrayValue?.isEmpty == true)
        let name = try AnonymousSignIn.name(ofSecret: secret)
        let create: BSONDocument = ["createUser": .string(name), "pwd": "pw", "roles": []]
        #expect(try root.reply(create, on: "$anonymous")["code"] == 73)
        let sameID: BSONDocument = [
            "createUser": .string(":$anonymous.\(name)"), "pwd": "pw", "roles": [],
        ]
        #expect(try root.reply(sameID, on: "admin")["code"] == 2)
    }

    @Test("A secret that is too short or too long is refused, and each further one later")
    func wrongSecrets() async throws {
        try await OpenRules.lend { rules in
            var settings = ServerSettings()
            settings.requiresSignIn = true
            settings.rules = try ReloadableRules(folder: rules)
            let start: (Int) -> BSONDocument = { count in
                [
                    "saslStart": 1, "mechanism": .string(AnonymousSignIn.mechanism),
                    "$db": "admin",
                    "payload": .binary(BSONBinary(Array(repeating: 7, count: count))),
                ]
            }
            let closed = try OfflineServer(settings, isLoopback: true)
            #expect(closed.answer(command: start(16))?["code"] == 334, "it is off by default")
            settings.allowsAnonymous = true
            let open = try OfflineServer(settings, isLoopback: true)
            for count in [0, 15, 257] { #expect(open.answer(command: start(count))?["code"] == 18) }
            for count in [16, 256] { #expect(open.answer(command: start(count))?["ok"] == 1.0) }
            let remote = try OfflineServer(settings)
            #expect(remote.answer(command: start(16))?["code"] == 334, "without TLS")
        }
    }

    @Test("Wrong secrets are counted like wrong passwords")
    func delays() throws {
        var settings = ServerSettings()
        settings.allowsAnonymous = true
        let server = ServerContext(settings: settings)
        let connection = ClientConnection(id: 1, peer: "192.0.2.1:1", local: "localhost:1")
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
        let backend = try StoreBackend(store: store, server: server)
        let signIn = AnonymousSignIn(users: backend.users)
        for _ in 0...SignInDelay.freeAttempts {
            #expect(throws: DelayedFailure.self) {
                try signIn.signIn(.binary(BSONBinary([1])), connection)
            }
        }
        let key = SignInDelay.key(user: "", database: "$anonymous", peer: connection.peer)
        #expect(server.signIns.opening(key) > server.signIns.now)
        try signIn.signIn(.binary(BSONBinary(Self.secret)), connection)
        #expect(connection.state.withLock { $0.user }?.isAnonymous == true)
        backend.close()
    }

    @Test("Without rules strangers are not let in", arguments: ["--anonymous", "--sign-up"])
    func needsRules(flag: String) async throws {
        for arguments in [[flag], [flag, "--auth"]] {
            let answer = try await Program.run(
                Program.tool, ["serve", "--port", "0"] + arguments, limit: .seconds(300))
            #expect(answer.code == 64, "\(answer.output)")
            #expect(answer.output.contains("needs --auth and --rules"), "\(answer.output)")
        }
        var settings = ServerSettings()
        settings.port = 0
        settings.requiresSignIn = true
        settings.allowsAnonymous = flag == "--anonymous"
        settings.signUps = flag == "--sign-up" ? SignUpLimits() : nil
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
        await #expect(throws: UnsafeSettings.self) {
            try await Server.start(store, settings: settings)
        }
        store.close()
    }
}
