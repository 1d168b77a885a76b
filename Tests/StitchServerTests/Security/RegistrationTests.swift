import BSONStore
import TestProcesses
import Testing

@testable import StitchServer

/// A user who tries an app first must not lose the documents with the first real account.
@Suite(.timeLimit(.minutes(30))) struct RegistrationTests {
    private static let secret = [UInt8](1...32)
    /// Users see their own notes of their own type only.
    ///
    /// The write filter has the type, too: who may write a document may read it.
    private static let typed = [
        "data_sources/mongodb-atlas/app/notes/rules.json": """
        {"database": "app", "collection": "notes", "roles": [
            {"name": "own", "apply_when": {}, "insert": true, "delete": true,
             "document_filters": {
                "read": {"owner": "%%user.id", "type": "%%user.type"},
                "write": {"owner": "%%user.id", "type": "%%user.type"}},
             "read": true, "write": true}]}
        """
    ]

    /// Lends the first and the last port of servers, with an administrator.
    private static func lend(
        _ place: RuledWorld.Place, _ files: [String: String] = [:],
        _ body: @escaping @Sendable (_ ports: [Int], _ root: ServerClient) throws -> Void
    ) async throws {
        try await OpenRules.lend(files) { rules in
            let arguments = ["--auth", "--rules", rules, "--sign-up", "--anonymous"]
            try await RuledWorld.lend(place, arguments) { ports in
                try ServerClient(port: ports[0], database: "app").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                let root = try ServerClient(port: ports[0], database: "app", user: "root")
                try body([ports[0], ports[ports.count - 1]], root)
            }
        }
    }

    private static func anonymous(_ port: Int) throws -> ServerClient {
        let client = try ServerClient(port: port, database: "app")
        let reply = try client.signInAnonymously(secret)
        guard reply["ok"] == 1.0 else { throw ServerRefusal(reply: reply) }
        return client
    }

    private static func register(_ name: String) -> BSONDocument {
        ["stitchsyncRegister": .string(name), "pwd": "first password"]
    }

    private static func user(_ name: String, _ port: Int) throws -> ServerClient {
        try ServerClient(
            port: port, database: "app", user: name, password: "first password", of: "app")
    }

    @Test(
        "A registered user keeps the id in rules, and the secret is of no more use",
        arguments: RuledWorld.Place.allCases)
    func keepsDocuments(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, root in
            let (own, other) = (try Self.anonymous(ports[0]), try Self.anonymous(ports[1]))
            let id = BSONValue.string(
                ":$anonymous." + (try AnonymousSignIn.name(ofSecret: Self.secret)))
            try root.insert(
                [
                    ["_id": 1, "owner": id], ["_id": 2, "owner": id], ["_id": 3, "owner": "ben"],
                ], into: "notes")
            func ids(_ client: ServerClient) throws -> [BSONValue?] {
                try client.documents(["find": "notes"]).map { $0["_id"] }
            }
            #expect(try ids(own) == [1, 2])
            try ServerClient(port: ports[0], database: "app").run([
                "stitchsyncSignUp": "zoe", "pwd": "first password",
            ])
            let taken = try own.reply(Self.register("zoe"))
            #expect(taken["code"] == 51_003)
            #expect(taken["errmsg"]?.stringValue?.hasPrefix("the name \"zoe\" is taken") == true)
            #expect(try Self.user("zoe", ports[0]).reply(Self.register("ann"))["code"] == 20)
            try own.run(Self.register("ann"))
            #expect(try own.reply(["find": "notes"])["code"] == 391)
            let end = ContinuousClock.now + .seconds(60)
            var code: BSONValue?
            while code == nil, ContinuousClock.now < end {
                code = try other.reply(["find": "notes"])["code"]
            }
            #expect(code == 391)
            let stranger = try ServerClient(port: ports[1], database: "app")
            let refused = try stranger.signInAnonymously(Self.secret)
            #expect(refused["code"] == 18, "\(refused)")
            #expect(refused["errmsg"]?.stringValue?.contains("is registered now") == true)
            for port in ports {
                let ann = try Self.user("ann", port)
                // Only users with an account read all.
                #expect(try ids(ann) == [1, 2, 3])
                #expect(try ann.reply(Self.register("ida"))["code"] == 20)
            }
            try Self.user("ann", ports[1]).run(
                ["insert": "notes", "documents": [["_id": 4, "owner": id]]])
        }
    }

    @Test(
        "With the registration the user's type changes in the filters of rules, too",
        arguments: RuledWorld.Place.allCases)
    func changesType(place: RuledWorld.Place) async throws {
        try await Self.lend(place, Self.typed) { ports, root in
            let own = try Self.anonymous(ports[0])
            let id = BSONValue.string(
                ":$anonymous." + (try AnonymousSignIn.name(ofSecret: Self.secret)))
            try root.insert(
                [
                    ["_id": 1, "owner": id, "type": "anonymous"],
                    ["_id": 2, "owner": id, "type": "normal"],
                    ["_id": 3, "owner": "ben", "type": "normal"],
                ], into: "notes")
            func ids(_ client: ServerClient) throws -> [BSONValue?] {
                try client.documents(["find": "notes"]).map { $0["_id"] }
            }
            #expect(try ids(own) == [1])
            try own.run(Self.register("ann"))
            for port in ports {
                let ann = try Self.user("ann", port)
                #expect(try ids(ann) == [2])
            }
        }
    }

    @Test(
        "Of two registrations of one anonymous user one succeeds",
        arguments: RuledWorld.Place.allCases)
    func race(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, root in
            let clients = try ports.map { try Self.anonymous($0) }
            clients[0].send(Self.register("ann"))
            clients[1].send(Self.register("ida"))
            let answers = try clients.map { try $0.answer() }
            #expect(answers.count { $0["ok"] == 1.0 } == 1, "\(answers)")
            #expect(answers.count { $0["code"] == 391 } == 1, "\(answers)")
            let users = try root.run(["usersInfo": 1])["users"]?.arrayValue ?? []
            #expect(users.count == 1)
        }
    }

    @Test("Without --sign-up no anonymous user registers")
    func needsSignUp() async throws {
        try await OpenRules.lend() { rules in
            try await RuledWorld.lend(.file, ["--auth", "--rules", rules, "--anonymous"]) { ports in
                let reply = try Self.anonymous(ports[0]).reply(Self.register("ann"))
                #expect(reply["code"] == 59)
            }
        }
    }
}
