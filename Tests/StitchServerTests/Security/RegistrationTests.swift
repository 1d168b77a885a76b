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

    private static func anonymous(
        _ port: Int, _ secret: [UInt8] = secret
    ) throws -> ServerClient {
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
            // A gateway may see the mark of the other registration before its account.
            #expect(answers.count { [391, 112].contains($0["code"]) } == 1, "\(answers)")
            let users = try root.run(["usersInfo": 1])["users"]?.arrayValue ?? []
            #expect(users.count == 1)
        }
    }

    @Test(
        "Of two anonymous users who register one name, the other one can register another name",
        arguments: RuledWorld.Place.allCases)
    func sameName(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, _ in
            for round in 0..<3 {
                let secrets = (0..<2).map { number in
                    (1...32).map { UInt8($0 + 2 * round + number) }
                }
                let guests = try zip(ports, secrets).map { try Self.anonymous($0, $1) }
                for guest in guests { guest.send(Self.register("name\(round)")) }
                let answers = try guests.map { try $0.answer() }
                #expect(answers.count { $0["ok"] == 1.0 } == 1, "\(answers)")
                let other = try #require(answers.firstIndex { $0["code"] == 51_003 })
                try guests[other].run(["find": "notes"])
                try Self.anonymous(ports[1 - other], secrets[other]).run(["find": "notes"])
                try guests[other].run(Self.register("other\(round)"))
                #expect(try guests[other].reply(["find": "notes"])["code"] == 391)
            }
        }
    }

    /// Lends the ports of two gateways, and a client of the database behind them.
    private static func lendGateways(
        _ body: @escaping @Sendable (_ ports: [Int], _ upstream: ServerClient) throws -> Void
    ) async throws {
        try await OpenRules.lend { rules in
            // Each attempt of a gateway to store a user counts as a sign-up.
            let arguments = [
                "--auth", "--rules", rules, "--sign-up", "--anonymous",
                "--sign-ups-per-address", "100",
            ]
            try await GatewayProcesses.run(2, arguments) { processes in
                let (ports, upstream) = (processes.ports, processes.upstream.port)
                try await BlockingThread.run {
                    try body(
                        ports, ServerClient(port: upstream, database: GatewayDatabase.name))
                }
            }
        }
    }

    /// Returns what a gateway stores about the anonymous user first when the user registers.
    private static func mark(_ account: String, at time: BSONDatetime) throws -> User {
        var mark = User(
            name: try AnonymousSignIn.name(ofSecret: secret), database: AnonymousSignIn.database)
        mark.registeredAs = account
        mark.registeredAt = time
        return mark
    }

    @Test("A registration whose account the upstream refuses leaves no mark of the anonymous user")
    func refusedAccount() async throws {
        try await Self.lendGateways { ports, upstream in
            // The mark is stored, and the account never is.
            let index: BSONDocument = ["key": ["user": 1], "name": "user_1", "unique": true]
            try upstream.run(["createIndexes": "users", "indexes": [.document(index)]])
            try upstream.insert([["_id": "other", "user": "ann"]], into: "users")
            let guest = try Self.anonymous(ports[0])
            #expect(try guest.reply(Self.register("ann"))["code"] == 112)
            let marks: BSONDocument = [
                "find": "users", "filter": ["db": .string(AnonymousSignIn.database)],
            ]
            #expect(try upstream.documents(marks).isEmpty)
            for port in ports { try Self.anonymous(port).run(["find": "notes"]) }
            try guest.run(Self.register("ida"))
            #expect(try upstream.documents(marks).count == 1)
            #expect(try guest.reply(["find": "notes"])["code"] == 391)
            try Self.user("ida", ports[1]).run(["find": "notes"])
        }
    }

    @Test("After a gateway ended between the mark and the account, the anonymous user goes on")
    func lostAccount() async throws {
        try await Self.lendGateways { ports, upstream in
            let account = String(repeating: "0a", count: 16)
            let mark = try Self.mark(account, at: .now)
            let own: BSONDocument = ["_id": .string(mark.id)]
            try upstream.insert([mark.stored], into: "users")
            let guests = try ports.map { try Self.anonymous($0) }
            for guest in guests { try guest.run(["find": "notes"]) }
            // The other gateway may still be about to store the account.
            let early = try guests[0].reply(Self.register("ann"))
            #expect(early["code"] == 112, "\(early)")
            let old = BSONDatetime(milliseconds: BSONDatetime.now.milliseconds - 200_000)
            func set(_ fields: BSONDocument) throws {
                try upstream.run([
                    "update": "users",
                    "updates": [["q": .document(own), "u": ["$set": .document(fields)]]],
                ])
            }
            try set(["registeredAt": .datetime(old)])
            try guests[0].run(Self.register("ann"))
            #expect(try guests[0].reply(["find": "notes"])["code"] == 391)
            for port in ports {
                let refused = try ServerClient(port: port, database: "app")
                    .signInAnonymously(Self.secret)
                #expect(refused["code"] == 18, "\(refused)")
                #expect(try Self.user("ann", port).run(["find": "notes"])["ok"] == 1.0)
            }
            // The mark of an earlier version does not tell the account, and counts.
            try set(["registeredAs": "app.zoe"])
            let refused = try ServerClient(port: ports[1], database: "app")
                .signInAnonymously(Self.secret)
            #expect(refused["code"] == 18, "\(refused)")
        }
    }

    @Test("An anonymous user whose registration failed can delete the account")
    func deletesAfterLostAccount() async throws {
        try await Self.lendGateways { ports, upstream in
            let mark = try Self.mark(String(repeating: "0a", count: 16), at: .now)
            try upstream.insert([mark.stored], into: "users")
            try Self.anonymous(ports[0]).run(["stitchsyncDeleteAccount": 1])
            let refused = try ServerClient(port: ports[1], database: "app")
                .signInAnonymously(Self.secret)
            #expect(refused["errmsg"]?.stringValue?.contains("was deleted") == true)
            let stored = try upstream.documents(["find": "users"])
            #expect(stored.first?["registeredAs"] == nil && stored.count == 1, "\(stored)")
        }
    }

    @Test("A gateway reads the user of a name before the record that the name was in use")
    func recordAfterUser() async throws {
        try await Self.lendGateways { ports, upstream in
            try upstream.run(["profile": 2])
            try ServerClient(port: ports[0], database: "app").run([
                "stitchsyncSignUp": "ann", "pwd": "first password",
            ])
            let commands = try upstream.documents(["find": "system.profile"])
                .compactMap { $0["command"]?.documentValue }
            let both = commands.filter {
                $0["find"] == "users"
                    && $0["filter"]?.documentValue?["_id"]?.documentValue?["$in"] != nil
            }
            // In another order a removal in between would be seen as that of no user at all.
            #expect(!both.isEmpty && both.allSatisfy { $0["sort"] == ["_id": 1] }, "\(commands)")
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
