import BSONStore
import Testing

@testable import StitchServer

/// What is authorised is what is carried out: a command is read once for both.
@Suite struct AuthorizationTests {
    private static func server() throws -> OfflineServer {
        var settings = ServerSettings()
        settings.requiresSignIn = true
        let server = try OfflineServer(settings)
        server.become(user("root", [("root", "admin")]))
        for database in ["shop", "bank"] {
            let answer = server.answer(command: [
                "insert": "items", "$db": .string(database), "documents": [["_id": 1]],
            ])
            #expect(answer?["ok"] == 1.0)
        }
        return server
    }

    private static func user(_ name: String, _ roles: [(String, String)]) -> SignedInUser {
        SignedInUser(
            name: Name(name), database: "admin",
            roles: roles.map { Role(name: $0.0, database: $0.1) }, generation: 1)
    }

    private static func run(
        _ command: BSONDocument, on database: String, _ server: OfflineServer,
        as roles: [(String, String)]
    ) -> BSONDocument? {
        var command = command
        if command["$db"] == nil { command.append("$db", .string(database)) }
        server.become(user("ann", roles))
        return server.answer(command: command)
    }

    private static func isDenied(_ answer: BSONDocument?) -> Bool {
        answer?["code"] == 13
            && answer?["errmsg"]?.stringValue?.hasPrefix("not authorized on ") == true
    }

    private static func pipeline(_ stages: BSONValue...) -> BSONDocument {
        ["aggregate": "items", "pipeline": .array(BSONArray(stages)), "cursor": [:]]
    }

    @Test(
        "Who writes one database writes no other, wherever a command names it",
        arguments: [
            pipeline(["$out": ["db": "bank", "coll": "items"]]),
            pipeline(["$match": [:]], ["$out": ["coll": "items", "db": "bank"]]),
            pipeline(["$merge": ["into": ["db": "bank", "coll": "items"]]]),
            pipeline(["$merge": ["whenMatched": "fail", "into": ["coll": "x", "db": "bank"]]]),
            ["explain": .document(pipeline(["$out": ["db": "bank", "coll": "items"]]))],
            [
                "mapReduce": "items", "map": "function() { emit(1, 1) }",
                "reduce": "function(k, v) { return 1 }", "out": ["merge": "items", "db": "bank"],
            ],
            ["createUser": "x", "pwd": "x", "roles": [["role": "read", "db": "bank"]]],
            ["grantRolesToUser": "x", "roles": ["read", ["role": "read", "db": "bank"]]],
            ["usersInfo": ["user": "x", "db": "bank"]], ["usersInfo": ["forAllDBs": true]],
            ["usersInfo": ["x", ["user": "x", "db": "bank"]]],
        ] as [BSONDocument])
    func others(command: BSONDocument) throws {
        let server = try Self.server()
        let own = [("readWrite", "shop"), ("userAdmin", "shop")]
        #expect(Self.isDenied(Self.run(command, on: "shop", server, as: own)))
        let bank = Self.run(
            ["find": "items"], on: "bank", server, as: [("root", "admin")])
        #expect(bank?["cursor"]?.documentValue?["firstBatch"] == [["_id": 1]])
        // With the rights it goes on, to an answer or an error of its own.
        let all = own + [("readWrite", "bank"), ("userAdmin", "bank"), ("root", "admin")]
        #expect(!Self.isDenied(Self.run(command, on: "shop", server, as: all)))
    }

    @Test(
        "Commands of the database admin need rights on the databases that they name",
        arguments: [
            ["bulkWrite": 1, "nsInfo": [["ns": "shop.items"], ["ns": "bank.items"]], "ops": []],
            ["renameCollection": "shop.items", "to": "bank.items", "dropTarget": true],
            ["renameCollection": "bank.items", "to": "shop.items", "dropTarget": true],
            [
                "aggregate": 1, "cursor": [:],
                "pipeline": [["$changeStream": ["allChangesForCluster": true]]],
            ],
        ] as [BSONDocument])
    func atAdmin(command: BSONDocument) throws {
        let server = try Self.server()
        let own = [("readWrite", "shop"), ("read", "admin")]
        #expect(Self.isDenied(Self.run(command, on: "admin", server, as: own)))
        let all = own + [("readWrite", "bank"), ("readAnyDatabase", "admin")]
        #expect(!Self.isDenied(Self.run(command, on: "admin", server, as: all)))
    }

    @Test(
        "Who explains a command needs the rights of the command",
        arguments: [
            ["update": "items", "updates": [["q": [:], "u": ["$set": ["a": 1]]]]],
            ["delete": "items", "deletes": [["q": [:], "limit": 0]]],
            ["findAndModify": "items", "query": [:], "remove": true],
            pipeline(["$out": "items"]), pipeline(["$merge": "items"]),
        ] as [BSONDocument])
    func explained(command: BSONDocument) throws {
        let server = try Self.server()
        let explain: BSONDocument = ["explain": .document(command), "verbosity": "queryPlanner"]
        #expect(Self.isDenied(Self.run(explain, on: "shop", server, as: [("read", "shop")])))
        let done = Self.run(explain, on: "shop", server, as: [("readWrite", "shop")])
        #expect(done?["ok"] == 1.0, "\(done ?? [:])")
    }

    @Test("Plans of queries on the users tell of them, and are for who administrates them")
    func users() throws {
        let server = try Self.server()
        for command: BSONDocument in [
            ["find": "system.users", "filter": ["user": "root"]],
            ["count": "system.users", "query": [:]],
            ["aggregate": "system.users", "pipeline": [], "cursor": [:]],
        ] {
            let explain: BSONDocument = ["explain": .document(command)]
            let answer = Self.run(explain, on: "admin", server, as: [("read", "admin")])
            #expect(Self.isDenied(answer), "\(command)")
            let done = Self.run(
                explain, on: "admin", server, as: [("read", "admin"), ("userAdmin", "admin")])
            #expect(done?["ok"] == 1.0, "\(command)")
        }
        // As everybody who may read, who explains a read may.
        let explain: BSONDocument = ["explain": ["find": "items"]]
        #expect(Self.run(explain, on: "shop", server, as: [("read", "shop")])?["ok"] == 1.0)
        #expect(Self.isDenied(Self.run(explain, on: "bank", server, as: [("read", "shop")])))
    }

    @Test("A command that cannot be read is answered why, and strangers are told nothing")
    func unreadable() throws {
        let server = try Self.server()
        let broken: [(BSONDocument, String, BSONValue)] = [
            (Self.pipeline(["$nothing": 1]), "shop", 40324),
            (Self.pipeline(["$changeStream": 1]), "shop", 6_188_500),
            (Self.pipeline(["$match": [:]], ["$changeStream": [:]]), "shop", 40602),
            (["mapReduce": "items", "map": "x", "reduce": "x", "out": 1], "shop", 2),
            (["bulkWrite": 1, "nsInfo": [[:]], "ops": []], "admin", 40414),
            (["renameCollection": "items", "to": "a.b"], "admin", 73),
            (["explain": ["frob": 1]], "shop", 59),
            (["explain": ["explain": ["find": "items"]]], "shop", 20),
        ]
        let roles = [("readWrite", "shop"), ("readWrite", "admin")]
        for (command, database, code) in broken {
            let answer = Self.run(command, on: database, server, as: roles)
            #expect(answer?["code"] == code, "\(command): \(answer ?? [:])")
            server.become(nil)
            var asked = command
            asked.append("$db", .string(database))
            #expect(server.answer(command: asked)?["code"] == 13, "\(command)")
        }
    }
}
