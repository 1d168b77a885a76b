import BSONStore
import Testing

@testable import StitchServer

/// Two people with one name, or one id, are one to everything that asks who somebody is.
@Suite struct UserNameTests {
    /// A server whose client is root.
    private static func server() throws -> OfflineServer {
        let server = try OfflineServer(requiresSignIn: true)
        server.become(
            SignedInUser(
                name: "root", database: "admin", roles: [Role(name: "root", database: "admin")],
                generation: 1))
        return server
    }

    @Test("Two spellings of a name are two users, and of a database two roles")
    func spellings() {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        func user(_ name: String, _ database: String) -> SignedInUser {
            SignedInUser(name: Name(name), database: Name(database), roles: [])
        }
        #expect(user(composed, "a") == user(composed, "a"))
        #expect(user(composed, "a") != user(decomposed, "a"))
        #expect(user("a", composed) != user("a", decomposed))
        #expect(Role(name: "read", database: composed) != Role(name: "read", database: decomposed))
        #expect(!Role(name: "read", database: composed).gives(.read, on: decomposed))
    }

    @Test("No two users of different databases have one id, but for those of the whole server")
    func ids() {
        let places = ["admin", "$external", "other", "other2"]
        let names = ["ann", "other.ann", ".ann", "a.other.ann", "other", "ann@example.com"]
        var users: [String: SignedInUser] = [:]
        for place in places {
            for name in names where !User.isAmbiguous(name, place) {
                let user = SignedInUser(name: Name(name), database: Name(place), roles: [])
                if let known = users[user.ruleID] {
                    #expect(User.isOfServer(known.database.text) && User.isOfServer(place))
                    #expect(known.name == Name(name))
                }
                users[user.ruleID] = user
            }
        }
        #expect(users["ann@example.com"] != nil && users[":other.ann"]?.database == "other")
    }

    @Test(
        "Names that could be taken for somebody else's are refused",
        arguments: [
            ("admin", ":other.ann"), ("$external", ":x"), ("admin", "a\0b"), ("shop", "a\0b"),
            ("$external", "a\0"),
        ])
    func refused(database: String, name: String) throws {
        let server = try Self.server()
        var command: BSONDocument = [
            "createUser": .string(name), "roles": [], "$db": .string(database),
        ]
        if database != "$external" { command.append("pwd", "secret") }
        #expect(server.answer(command: command)?["code"] == 2)
        #expect(throws: CommandFailure.self) {
            try ScramConversation(
                Array("n,,n=a\0b,r=x".utf8), database: "admin", began: .now,
                skipsEmptyExchange: true
            ) { _ in throw CommandFailure(.badValue, "nobody is asked") }
        }
    }

    @Test("Who administers the users of one database gives nobody the id of another's user")
    func namedIDs() throws {
        let server = try OfflineServer(requiresSignIn: true)
        func create(
            _ id: BSONValue, _ roles: [Role], _ database: String = "shop", generation: Int = 1
        ) -> BSONValue? {
            server.become(
                SignedInUser(
                    name: "boss", database: "admin", roles: roles, generation: generation))
            return server.answer(command: [
                "createUser": "ann", "pwd": "secret", "roles": [], "ruleID": id,
                "$db": .string(database),
            ])?["code"]
        }
        let some = [Role(name: "userAdmin", database: "shop")]
        let all = [Role(name: "userAdminAnyDatabase", database: "admin")]
        let made: BSONValue = ":$account.00ff"
        for id in [made, ":other.ann", ":shop.ben", "ann", ""] {
            #expect(create(id, some) == 13, "\(id)")
        }
        for id in [":other.ann", ":shop.ben", "ann", "", ":$a\0"] as [BSONValue] {
            #expect(create(id, all) == 2, "\(id)")
        }
        #expect(create(1, all) == 14)
        #expect(create(":shop.ann", some) == nil)
        #expect(create(made, all, "other", generation: 2) == nil)
    }

    @Test("No name of a collection, an index or a database has a null character")
    func nullCharacters() throws {
        let server = try Self.server()
        let pipeline: [BSONValue] = [
            [["$out": "a\0b"]], [["$out": ["db": "a\0b", "coll": "c"]]],
            [["$merge": "a\0b"]], [["$merge": ["into": ["db": "a\0b", "coll": "c"]]]],
        ]
        let role: BSONValue = [["role": "read", "db": "a\0b"]]
        let indexes: BSONValue = [["key": ["a": 1], "name": "a\0b"]]
        let commands: [BSONDocument] =
            [
                ["insert": "a\0b", "documents": [[:]]], ["create": "a\0b"],
                ["createIndexes": "c", "indexes": indexes],
                ["createUser": "ann", "pwd": "x", "roles": role],
                ["grantRolesToUser": "ann", "roles": role],
                ["mapReduce": "c", "map": "m", "reduce": "r", "out": ["merge": "a\0b"]],
                [
                    "mapReduce": "c", "map": "m", "reduce": "r",
                    "out": ["merge": "x", "db": "a\0b"],
                ],
            ] + pipeline.map { ["aggregate": "c", "pipeline": $0, "cursor": [:]] }
        _ = server.answer(command: ["insert": "c", "documents": [["a": 1]], "$db": "shop"])
        for command in commands {
            var command = command
            command.append("$db", "shop")
            #expect(server.answer(command: command)?["ok"] == 0.0, "\(command)")
        }
        let rename: BSONDocument = [
            "renameCollection": "shop.c", "to": "shop.a\0b", "$db": "admin",
        ]
        #expect(server.answer(command: rename)?["ok"] == 0.0)
        #expect(server.answer(command: ["ping": 1, "$db": "a\0b"])?["ok"] == 0.0)
    }
}
