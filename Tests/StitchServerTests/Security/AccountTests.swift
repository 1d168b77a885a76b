import BSONStore
import Foundation
import StitchWire
import TestProcesses
import Testing

@testable import StitchServer

/// A user who cannot change a stolen password, or leave with all documents, is at the mercy of others.
@Suite(.timeLimit(.minutes(30))) struct AccountTests {
    private static let files = [
        "auth/account_deletion.json": """
        {"collections": [
            {"database": "app", "collection": "notes", "owner_field": "owner",
             "action": "delete"},
            {"database": "app", "collection": "posts", "owner_field": "by.id",
             "action": "hand_over", "to": "ghost"},
            {"database": "app", "collection": "bills", "owner_field": "owner",
             "action": "keep"}
        ]}
        """,
        "auth/custom_user_data.json": """
        {"enabled": true, "database_name": "app", "collection_name": "profiles",
         "user_id_field": "user"}
        """,
    ]

    /// Lends the first and the last port of servers, with an administrator and the user `ann`.
    private static func lend(
        _ place: RuledWorld.Place, _ files: [String: String] = files,
        _ body: @escaping @Sendable (_ ports: [Int], _ root: ServerClient) throws -> Void
    ) async throws {
        try await OpenRules.lend(files) { rules in
            let arguments = ["--auth", "--rules", rules, "--sign-up", "--anonymous"]
            try await RuledWorld.lend(place, arguments) { ports in
                try ServerClient(port: ports[0], database: "app").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                let root = try ServerClient(port: ports[0], database: "app", user: "root")
                try signUp(ports[0])
                try body([ports[0], ports[ports.count - 1]], root)
            }
        }
    }

    private static func signUp(_ port: Int) throws {
        try ServerClient(port: port, database: "app").run([
            "stitchsyncSignUp": "ann", "pwd": "first password",
        ])
    }

    private static func ann(
        _ port: Int, _ password: String = "first password"
    ) throws -> ServerClient {
        try ServerClient(port: port, database: "app", user: "ann", password: password, of: "app")
    }

    private static func change(
        _ old: String, _ new: String, signOutOthers: Bool = false
    ) -> BSONDocument {
        [
            "stitchsyncChangePassword": 1, "old": .string(old), "pwd": .string(new),
            "signOutOthers": .bool(signOutOthers),
        ]
    }

    /// Sends a command until it is refused, which another gateway does once it learns of the change.
    private static func refusal(_ client: ServerClient) throws -> Int? {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let refusal = ServerRefusal(reply: try client.reply(["find": "notes"]))
            if let code = refusal.code { return code }
        }
        return nil
    }

    @Test func `the record of deleted accounts forgets a failed deletion and the oldest`() {
        let deleted = DeletedAccounts()
        deleted.begin("app.ann")
        deleted.begin("app.ben")
        deleted.cancel("app.ben")
        #expect(deleted.contains("app.ann") && !deleted.contains("app.ben"))
        for number in 0..<DeletedAccounts.countMax { deleted.begin(.string("app.\(number)")) }
        #expect(!deleted.contains("app.ann") && deleted.contains("app.0"))
    }

    @Test(
        "The new password counts, and the other connections are signed out if asked for",
        arguments: RuledWorld.Place.allCases)
    func changePassword(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, root in
            let (own, other) = (try Self.ann(ports[0]), try Self.ann(ports[1]))
            let wrong = try own.reply(Self.change("wrong password", "second password"))
            #expect(wrong["code"] == 18 && !wrong.extendedJSON().contains("password"), "\(wrong)")
            #expect(try own.reply(Self.change("first password", "7 bytes"))["code"] == 2)
            try own.run(Self.change("first password", "second password"))
            try own.run(["find": "notes"])
            try other.run(["find": "notes"])
            #expect(throws: ServerRefusal.self) { try Self.ann(ports[1]) }
            try own.run(Self.change("second password", "third password", signOutOthers: true))
            try own.run(["find": "notes"])
            #expect(try Self.refusal(other) == 391)
            let again = try Self.ann(ports[1], "third password")
            try again.run(["find": "notes"])
            try own.run(["stitchsyncSignOutEverywhere": 1])
            #expect(try own.reply(["find": "notes"])["code"] == 391)
            #expect(try Self.refusal(again) == 391)
            // Users with roles may do so as well; those without a password may not.
            try root.run(Self.change("pw", "root password"))
            let anonymous = try ServerClient(port: ports[0], database: "app")
            _ = try anonymous.signInAnonymously(Array(1...32))
            #expect(try anonymous.reply(Self.change("first password", "some more"))["code"] == 20)
            #expect(try anonymous.reply(["stitchsyncSignOutEverywhere": 1])["code"] == 20)
        }
    }

    @Test(
        "A disabled user is signed out and signs in no more, until enabled",
        arguments: RuledWorld.Place.allCases)
    func disable(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, root in
            let clients = try ports.map { try Self.ann($0) }
            #expect(try clients[0].reply(["updateUser": "ann", "disabled": true])["code"] == 13)
            try root.run(["updateUser": "ann", "disabled": true])
            for client in clients { #expect(try Self.refusal(client) == 391) }
            for port in ports {
                let refused = #expect(throws: ServerRefusal.self) { try Self.ann(port) }
                #expect(refused?.code == 18)
            }
            try root.run(["updateUser": "ann", "disabled": false])
            #expect(try Self.refusal(clients[0]) == 391)
            try Self.ann(ports[0]).run(["find": "notes"])
        }
    }

    @Test(
        "A token sets a password once, unless a newer one replaced it",
        arguments: RuledWorld.Place.allCases)
    func passwordToken(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, root in
            let other = try Self.ann(ports[1])
            func token() throws -> BSONValue {
                let made = try root.run(["stitchsyncMakePasswordToken": "ann", "minutes": 5])
                return made["token"] ?? .null
            }
            let stranger = try ServerClient(port: ports[1], database: "app")
            func set(_ token: BSONValue, of user: String = "ann") throws -> BSONDocument {
                try stranger.reply([
                    "stitchsyncSetPassword": .string(user), "token": token,
                    "pwd": "second password",
                ])
            }
            #expect(try other.reply(["stitchsyncMakePasswordToken": "ann"])["code"] == 13)
            #expect(try root.reply(["stitchsyncMakePasswordToken": "zoe"])["code"] == 11)
            let older = try token()
            let newer = try token()
            let told = try root.run(["usersInfo": "ann", "showCredentials": true]).extendedJSON()
            #expect(!told.contains("passwordToken"))
            let unknown = try set(newer, of: "zoe")
            #expect(unknown["code"] == 18)
            let void = try set(older)
            #expect(void["code"] == 18 && void["errmsg"] == unknown["errmsg"])
            let done = try set(newer)
            #expect(done["ok"] == 1.0, "\(done)")
            #expect(try set(newer)["code"] == 18)
            #expect(try Self.refusal(other) == 391)
            #expect(throws: ServerRefusal.self) { try Self.ann(ports[0]) }
            try Self.ann(ports[0], "second password").run(["find": "notes"])
        }
    }

    @Test(
        "A deleted account leaves the documents that the rules keep, and no sign-in",
        arguments: RuledWorld.Place.allCases)
    func deleteAccount(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, root in
            let id: BSONValue = ":app.ann"
            try root.insert(
                [
                    ["_id": 1, "owner": id], ["_id": 2, "owner": "ben"], ["_id": 3, "owner": [id]],
                ], into: "notes")
            try root.insert([["_id": 1, "by": ["id": id], "n": 1]], into: "posts")
            try root.insert([["_id": 1, "owner": id]], into: "bills")
            try root.insert(
                [["_id": 1, "user": id], ["_id": 2, "user": "ben"]], into: "profiles")
            let (own, other) = (try Self.ann(ports[0]), try Self.ann(ports[1]))
            #expect(try own.reply(["stitchsyncDeleteAccount": 1])["code"] == 40_414)
            let delete: BSONDocument = ["stitchsyncDeleteAccount": 1, "pwd": "first password"]
            let wrong: BSONDocument = ["stitchsyncDeleteAccount": 1, "pwd": "wrong password"]
            #expect(try own.reply(wrong)["code"] == 18)
            try own.run(delete)
            #expect(try own.reply(["find": "notes"])["code"] == 13)
            #expect(try Self.refusal(other) == 13)
            #expect(throws: ServerRefusal.self) { try Self.ann(ports[1]) }
            func ids(_ collection: String) throws -> [BSONValue?] {
                try root.documents(["find": .string(collection), "sort": ["_id": 1]])
                    .map { $0["_id"] }
            }
            #expect(try ids("notes") == [2, 3] && ids("bills") == [1] && ids("profiles") == [2])
            let post: BSONDocument = ["_id": 1, "by": ["id": "ghost"], "n": 1]
            #expect(try root.documents(["find": "posts"]) == [post])
            // The name is free; a connection of the former user is not signed in as the new one.
            let former = try ServerClient(port: ports[1], database: "app")
            #expect(try former.reply(["find": "notes"])["code"] == 13)
            try Self.signUp(ports[1])
            #expect(try other.reply(["find": "notes"])["code"] == 13)
            try Self.ann(ports[1]).run(["find": "notes"])
        }
    }

    @Test(
        "Of two deletions one is done, and no write of the user outlives them",
        arguments: RuledWorld.Place.allCases)
    func deletionRace(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, root in
            let clients = try (0..<2).map { _ in try Self.ann(ports[0]) }
            let writer = try Self.ann(ports[0])
            for number in 0..<40 {
                writer.send([
                    "insert": "notes",
                    "documents": [["_id": .int32(Int32(number)), "owner": ":app.ann"]],
                ])
            }
            for client in clients {
                client.send(["stitchsyncDeleteAccount": 1, "pwd": "first password"])
            }
            let answers = try clients.map { try $0.answer() }
            #expect(answers.count { $0["ok"] == 1.0 } == 1, "\(answers)")
            let refused = answers.first { $0["ok"] != 1.0 }
            #expect([11, 13, 11_601].contains(refused?["code"]?.wholeNumber), "\(answers)")
            for _ in 0..<40 { _ = try writer.answer() }
            #expect(try root.documents(["find": "notes"]).isEmpty)
        }
    }

    @Test("After a deletion at one gateway another one refuses the user, and all that follows")
    func deletionElsewhere() async throws {
        try await Self.lend(.gateways, Self.files) { ports, root in
            let (own, writer) = try (Self.ann(ports[0]), Self.ann(ports[1]))
            for number in 0..<100 {
                writer.send([
                    "insert": "notes",
                    "documents": [["_id": .int32(Int32(number)), "owner": ":app.ann"]],
                ])
            }
            try own.run(["stitchsyncDeleteAccount": 1, "pwd": "first password"])
            let isStored = try (0..<100).map { _ in
                ServerRefusal.error(of: try writer.answer()) == nil
            }
            let end = isStored.firstIndex(of: false) ?? isStored.count
            #expect(!isStored[end...].contains(true), "\(isStored)")
            #expect(try Self.refusal(writer) == 13)
            func left() throws -> [Int] {
                try root.documents(["find": "notes", "sort": ["_id": 1]])
                    .compactMap { $0["_id"]?.wholeNumber }
            }
            let before = try left()
            #expect(before.allSatisfy { isStored[$0] }, "\(before)")
            let late = try writer.reply([
                "insert": "notes", "documents": [["_id": 100, "owner": ":app.ann"]],
            ])
            #expect(late["code"] == 13, "\(late)")
            #expect(try left() == before)
            try Self.signUp(ports[1])
            #expect(try Self.id(Self.ann(ports[1])) != ":app.ann")
        }
    }

    @Test(
        "What is stored about anonymous users does not end the exception for the first user",
        arguments: RuledWorld.Place.allCases)
    func firstUser(place: RuledWorld.Place) async throws {
        try await OpenRules.lend(Self.files) { rules in
            let arguments = ["--auth", "--rules", rules, "--anonymous"]
            try await RuledWorld.lend(place, arguments) { ports in
                let guest = try ServerClient(port: ports[0], database: "app")
                _ = try guest.signInAnonymously(Array(1...32))
                try guest.run(["stitchsyncDeleteAccount": 1])
                let create: BSONDocument = ["createUser": "root", "pwd": "pw", "roles": ["root"]]
                let last = ports[ports.count - 1]
                try ServerClient(port: last, database: "app").run(create, on: "admin")
                let second = try ServerClient(port: last, database: "app")
                    .reply(["createUser": "eve", "pwd": "pw", "roles": ["root"]], on: "admin")
                #expect(second["code"] == 13, "\(second)")
                _ = try ServerClient(port: ports[0], database: "app", user: "root")
            }
        }
    }

    @Test(
        "Users list and end the sessions of their own at a server or gateway, and no others",
        arguments: RuledWorld.Place.allCases)
    func sessions(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, _ in
            func ids(_ client: ServerClient) throws -> (own: BSONValue, all: [BSONValue]) {
                let sessions = try client.run(["stitchsyncSessions": 1])["sessions"]?.arrayValue
                let listed = (sessions ?? []).compactMap(\.documentValue)
                let own = listed.filter { $0["isThisOne"] == true }.compactMap { $0["id"] }
                #expect(own.count == 1, "\(listed)")
                return (own.first ?? .null, listed.compactMap { $0["id"] })
            }
            let (own, other) = try (Self.ann(ports[0]), Self.ann(ports[0]))
            let distant = try Self.ann(ports[1])
            try ServerClient(port: ports[0], database: "app").run([
                "stitchsyncSignUp": "ben", "pwd": "first password",
            ])
            let ben = try ServerClient(
                port: ports[0], database: "app", user: "ben", password: "first password", of: "app")
            let (ownID, otherID, benID) = try (ids(own).own, ids(other).own, ids(ben).own)
            let here = place == .file ? try [ids(distant).own] : []
            #expect(try ids(own).all == [ownID, otherID] + here)
            #expect(try ids(ben).all == [benID])
            let foreign = try own.reply(["stitchsyncEndSession": benID])
            let unknown = try own.reply(["stitchsyncEndSession": 1_000_000])
            #expect(foreign["code"] == 206 && foreign["errmsg"] == unknown["errmsg"], "\(foreign)")
            try ben.run(["find": "notes"])
            try own.run(["stitchsyncEndSession": otherID])
            #expect(try other.reply(["find": "notes"])["code"] == 391)
            #expect(try own.reply(["stitchsyncEndSession": otherID])["code"] == 206)
            #expect(try ids(own).all == [ownID] + here)
            for client in [own, distant] { try client.run(["find": "notes"]) }
        }
    }

    @Test(
        "Without a policy only the user is removed, and users without passwords need none",
        arguments: RuledWorld.Place.allCases)
    func withoutPolicy(place: RuledWorld.Place) async throws {
        try await Self.lend(place, [:]) { ports, root in
            let own = try Self.ann(ports[0])
            try own.insert([["_id": 1, "owner": ":app.ann"]], into: "notes")
            try own.run(["stitchsyncDeleteAccount": 1, "pwd": "first password"])
            #expect(try own.reply(["find": "notes"])["code"] == 13)
            #expect(try root.documents(["find": "notes"]).count == 1)
            let guests = try ports.map { port in
                let guest = try ServerClient(port: port, database: "app")
                _ = try guest.signInAnonymously(Array(1...32))
                return guest
            }
            try guests[1].run(["stitchsyncDeleteAccount": 1])
            #expect(try guests[1].reply(["find": "notes"])["code"] == 13)
            // Other devices of the anonymous user would else go on, and upload again.
            #expect(try Self.refusal(guests[0]) == 391)
            for port in ports {
                let again = try ServerClient(port: port, database: "app")
                    .signInAnonymously(Array(1...32))
                #expect(again["code"] == 18, "\(again)")
                #expect(again["errmsg"]?.stringValue?.contains("was deleted") == true)
            }
            let other = try ServerClient(port: ports[0], database: "app")
            _ = try other.signInAnonymously(Array(2...33))
            try other.run(["find": "notes"])
        }
    }

    @Test(
        "Of a guest who registered and deleted the account no name stays, and no secret is of use",
        arguments: RuledWorld.Place.allCases)
    func formerGuest(place: RuledWorld.Place) async throws {
        try await Self.lend(place, Self.bills) { ports, root in
            for (number, name) in ["ida", "zoe"].enumerated() {
                let secret = (1...32).map { UInt8($0 + number) }
                let guest = try ServerClient(port: ports[0], database: "app")
                _ = try guest.signInAnonymously(secret)
                try guest.run(["stitchsyncRegister": .string(name), "pwd": "first password"])
                let user = try ServerClient(
                    port: ports[1], database: "app", user: name, password: "first password",
                    of: "app")
                if name == "ida" {
                    try user.run(["stitchsyncDeleteAccount": 1, "pwd": "first password"])
                } else {
                    try root.run(["dropUser": .string(name)])
                }
                #expect(try !Self.isStored(name, place, root))
                let refused = try ServerClient(port: ports[1], database: "app")
                    .signInAnonymously(secret)
                #expect(refused["errmsg"]?.stringValue?.contains("was deleted") == true)
            }
        }
    }

    /// Who reads and writes the own bills only.
    private static let bills = [
        "data_sources/mongodb-atlas/app/bills/rules.json": """
        {"database": "app", "collection": "bills", "roles": [
            {"name": "own", "apply_when": {}, "insert": true, "delete": true,
             "document_filters": {
                "read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}},
             "read": true, "write": true}]}
        """
    ]

    /// Returns the id in rules of the user of a connection.
    private static func id(_ client: ServerClient) throws -> String {
        let status = try client.run(["connectionStatus": 1])["authInfo"]?.documentValue
        return status?["stitchsyncUserID"]?.stringValue ?? ""
    }

    /// Whether a name is in the stored users, or in what is stored with them.
    private static func isStored(
        _ user: String, _ place: RuledWorld.Place, _ root: ServerClient
    ) throws -> Bool {
        let (name, database) =
            switch place {
            case .file: (User.namespace.collection, User.namespace.database)
            case .gateways: (GatewayDatabase.users.collection, GatewayDatabase.users.database)
            }
        let text = try root.run(["find": .string(name), "batchSize": 1_000], on: database)
            .extendedJSON()
        #expect(text.contains("\"root\""))
        return text.contains("\"\(user)\"") || text.contains(".\(user)\"")
    }

    @Test(
        "The next user of a deleted user's name owns nothing that the former one left",
        arguments: RuledWorld.Place.allCases)
    func reusedName(place: RuledWorld.Place) async throws {
        try await Self.lend(place, Self.files.merging(Self.bills) { $1 }) { ports, root in
            let first = try Self.ann(ports[0])
            #expect(try Self.id(first) == ":app.ann")
            try first.insert([["_id": 1, "owner": ":app.ann"]], into: "bills")
            var ids = [":app.ann"]
            for port in [ports[1], ports[0]] {
                try Self.ann(ports[0]).run([
                    "stitchsyncDeleteAccount": 1, "pwd": "first password",
                ])
                #expect(try !Self.isStored("ann", place, root))
                try Self.signUp(port)
                let next = try Self.ann(port)
                let id = try Self.id(next)
                #expect(id.hasPrefix(":$account.") && !ids.contains(id))
                #expect(try next.documents(["find": "bills"]).isEmpty)
                let forged = try next.reply([
                    "insert": "bills", "documents": [["_id": 9, "owner": ":app.ann"]],
                ])
                #expect(ServerRefusal.error(of: forged)?["code"] == 13, "\(forged)")
                try next.insert(
                    [["_id": .string(id), "owner": .string(id)]], into: "bills")
                #expect(try next.documents(["find": "bills"]).count == 1)
                #expect(try Self.id(Self.ann(ports[0])) == id && Self.id(Self.ann(ports[1])) == id)
                ids.append(id)
            }
            // A name that no deleted user had keeps its usual id.
            try ServerClient(port: ports[1], database: "app").run([
                "stitchsyncSignUp": "ben", "pwd": "first password",
            ])
            let ben = try ServerClient(
                port: ports[0], database: "app", user: "ben", password: "first password", of: "app")
            #expect(try Self.id(ben) == ":app.ben")
        }
    }

    @Test(
        "A user whom an operator removes and creates again is another one, unless the id is named",
        arguments: RuledWorld.Place.allCases)
    func recreatedUser(place: RuledWorld.Place) async throws {
        try await Self.lend(place, Self.bills) { ports, root in
            try Self.ann(ports[0]).insert([["_id": 1, "owner": ":app.ann"]], into: "bills")
            let create: BSONDocument = [
                "createUser": "ann", "pwd": "first password",
                "roles": [["role": "readWrite", "db": "app"]],
            ]
            func creating(_ ruleID: String) -> BSONDocument {
                var command = create
                command.append("ruleID", .string(ruleID))
                return command
            }
            func bills() throws -> Int {
                try Self.ann(ports[1]).documents(["find": "bills"]).count
            }
            try root.run(["dropUser": "ann"])
            #expect(try root.reply(["dropUser": "ann"])["code"] == 11)
            try root.run(create)
            let id = try Self.id(Self.ann(ports[1]))
            #expect(try id.hasPrefix(":$account.") && bills() == 0)
            // The id stays with other changes of the user.
            try root.run(["updateUser": "ann", "customData": ["team": 1]])
            #expect(try Self.id(Self.ann(ports[1])) == id)
            try root.run(["dropAllUsersFromDatabase": 1])
            #expect(try root.reply(creating(":app.ben"))["code"] == 2)
            #expect(try root.reply(creating("ann"))["code"] == 2)
            // The user of a named token provider, and what no server makes.
            #expect(try root.reply(creating(":$external/corp.ann"))["code"] == 2)
            #expect(try root.reply(creating(":$accounts.1"))["code"] == 2)
            try root.run(creating(":$anonymous.1"))
            #expect(try Self.id(Self.ann(ports[1])) == ":$anonymous.1")
            try root.run(["dropAllUsersFromDatabase": 1])
            try root.run(creating(":app.ann"))
            #expect(try Self.id(Self.ann(ports[1])) == ":app.ann" && bills() == 1)
            try root.run(["dropAllUsersFromDatabase": 1])
            try root.run(creating(id))
            #expect(try Self.id(Self.ann(ports[1])) == id && bills() == 0)
        }
    }

    @Test("A store whose last user was removed has no users, so a first one can be created")
    func lastUser() throws {
        var settings = ServerSettings()
        settings.requiresSignIn = true
        let server = try OfflineServer(settings, isLoopback: true)
        func answer(_ command: BSONDocument) -> BSONValue? {
            var command = command
            command.append("$db", "admin")
            return server.answer(command: command)?["ok"]
        }
        for round in 1...2 {
            server.become(nil)
            #expect(answer(["createUser": "root", "pwd": "pw", "roles": ["root"]]) == 1.0)
            server.become(
                SignedInUser(
                    name: "root", database: "admin",
                    roles: [Role(name: "root", database: "admin")],
                    generation: 2 * round))
            #expect(answer(["dropUser": "root"]) == 1.0)
        }
    }

    @Test("A connection of a former user is not signed in as the next user of the name")
    func nameTakenAgain() async throws {
        try await Self.lend(.file) { ports, _ in
            let (own, other) = (try Self.ann(ports[0]), try Self.ann(ports[0]))
            try own.run(["stitchsyncDeleteAccount": 1, "pwd": "first password"])
            try Self.signUp(ports[0])
            #expect(try other.reply(["find": "notes"])["code"] == 391)
        }
    }

    /// A server without a network, with the user `ann` signed in.
    private struct LoneServer {
        let backend: StoreBackend
        let dispatcher: Dispatcher
        let connection: ClientConnection
        let store: DocumentStore

        init(isLoopback: Bool = true) throws {
            var settings = ServerSettings()
            settings.requiresSignIn = true
            let server = ServerContext(settings: settings)
            store = try DocumentStore(
                at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
            backend = try StoreBackend(store: store, server: server)
            dispatcher = Dispatcher(server: server, backend: backend)
            connection = ClientConnection(
                id: 1, peer: "192.0.2.1:1", local: "localhost:1", isLoopback: isLoopback)
            var user = User(name: "ann", database: "app")
            try user.setPassword("first password", ScramMechanism.allCases)
            try put(user)
            connection.become(user.signedIn(isUnderRules: false))
        }

        func put(_ user: User) throws {
            try store.write { _ = try $0.put(User.namespace, user.stored) }
        }

        func user() throws -> User? {
            try store.read { try $0.get(User.namespace, id: "app.ann") }.flatMap(User.init)
        }

        /// Returns the reply, and the time from which it may be sent; `nil` if that is at once.
        func answer(
            _ command: BSONDocument
        ) throws -> (reply: BSONDocument?, at: ContinuousClock.Instant?) {
            var command = command
            command.append("$db", "app")
            let request = WireRequest(requestID: 1, form: .message([]), body: command)
            var outcome = dispatcher.respond(to: request, on: connection)
            if case .blocking(let step) = outcome { outcome = step() }
            guard case .waiting(let wait) = outcome else {
                if case .reply(let reply) = outcome { return (reply, nil) }
                return (nil, nil)
            }
            if case .reply(let reply) = try wait.again(true) { return (reply, wait.deadline) }
            return (nil, wait.deadline)
        }
    }

    @Test("A stolen connection that guesses the password waits like one that signs in")
    func guessing() throws {
        let server = try LoneServer()
        for attempt in 1...SignInDelay.freeAttempts + 1 {
            let (reply, at) = try server.answer(Self.change("wrong \(attempt)", "new password"))
            #expect(reply?["code"] == 18)
            #expect((at != nil) == (attempt > SignInDelay.freeAttempts))
        }
        // Before the delay is over not even the right password is tried.
        let early = try server.answer(Self.change("first password", "new password"))
        #expect(early.reply?["code"] == 18 && early.at != nil)
        let delete: BSONDocument = ["stitchsyncDeleteAccount": 1, "pwd": "first password"]
        #expect(try server.answer(delete).reply?["code"] == 18)
        #expect(try server.user() != nil)
        server.backend.close()
    }

    @Test("A token ends at its time, and its answer comes late in any case")
    func endedToken() throws {
        let server = try LoneServer()
        server.connection.become(nil)
        let now = BSONDatetime.now.milliseconds
        for (end, code) in [(now - 1, 18 as BSONValue?), (now + 600_000, nil)] {
            let made = PasswordToken.make(until: BSONDatetime(milliseconds: end))
            #expect(made.text.utf8.count == 43)
            var user = try #require(try server.user())
            user.passwordToken = made.token
            try server.put(user)
            let start = ContinuousClock.now
            let (reply, at) = try server.answer([
                "stitchsyncSetPassword": "ann", "token": .string(made.text),
                "pwd": "second password",
            ])
            #expect(reply?["code"] == code, "\(reply ?? [:])")
            #expect(try #require(at) >= start + StitchsyncSignUpCommand.replyDelay)
        }
        server.backend.close()
    }

    @Test("A proof of the old password does not sign in after the change")
    func staleProof() throws {
        let server = try LoneServer()
        let stale = try #require(try server.user())
        #expect(stale.accepts(SignInOrigin(accountID: stale.accountID, marks: [nil])))
        _ = try server.answer(Self.change("first password", "second password", signOutOthers: true))
        let changed = try #require(try server.user())
        #expect(!changed.accepts(SignInOrigin(accountID: stale.accountID, marks: [nil])))
        #expect(Set(changed.credentials).isDisjoint(with: stale.credentials))
        let (reply, _) = try server.answer(["find": "notes"])
        // The connection is still signed in; the user has no roles.
        #expect(reply?["code"] == 13)
        #expect(try server.answer(["connectionStatus": 1]).reply?["ok"] == 1.0)
        server.backend.close()
    }

    @Test("Passwords and tokens are in no error, and cross no network in the clear")
    func secrets() throws {
        let server = try LoneServer(isLoopback: false)
        let make: BSONDocument = [
            "createUser": "zoe", "pwd": "s3cret-password", "roles": [],
        ]
        let refused = try server.answer(make).reply ?? [:]
        #expect(refused["code"] == 13 && !refused.extendedJSON().contains("s3cret"), "\(refused)")
        for command: BSONDocument in [
            Self.change("first password", "s3cret-password"),
            ["stitchsyncDeleteAccount": 1, "pwd": "first password"],
            ["stitchsyncSetPassword": "ann", "token": "s3cret", "pwd": "s3cret-password"],
        ] {
            let reply = try server.answer(command).reply ?? [:]
            #expect(reply["code"] == 13 && !reply.extendedJSON().contains("s3cret"), "\(reply)")
        }
        server.backend.close()
    }
}
