import BSONStore
import Testing

@testable import StitchServer

/// The fields of `writeConcern` are checked as MongoDB checks them, whatever the command.
///
/// Source: MongoDB manual, "Write Concern", and the server's `write_concern_options.cpp`.
@Suite struct WriteConcernTests {
    private static let commands: [BSONDocument] = [
        ["insert": "items", "documents": [["x": 1]]],
        ["findAndModify": "items", "query": [:], "remove": true],
        ["createIndexes": "items", "indexes": [["key": ["x": 1], "name": "x"]]],
        ["collMod": "items"],
        ["dropDatabase": 1],
    ]

    private static func answers(_ concern: BSONDocument) throws -> [BSONDocument?] {
        let server = try OfflineServer(requiresSignIn: false)
        _ = server.answer(command: ["create": "items", "$db": "shop"])
        return commands.map { command in
            var command = command
            command.append("$db", "shop")
            command.append("writeConcern", .document(concern))
            return server.answer(command: command)
        }
    }

    @Test(
        "A wrong field is refused",
        arguments: [
            (["w": -1], 9), (["w": 51], 9), (["w": 2_147_483_647], 9), (["w": true], 9),
            (["w": []], 9), (["w": .minKey], 9),
            (["w": .decimal128(BSONDecimal128(123))], 9), (["w": .double(.infinity)], 9),
            (["w": .double(.nan)], 9),
            (["w": [:]], 9), (["w": ["a": "x"]], 9),
            (["j": "true"], 14), (["j": []], 14), (["j": [:]], 14), (["fsync": "true"], 14),
            (["j": true, "fsync": 1], 9),
            (["wtimeout": 2_147_483_648], 9), (["wtimeout": .double(.infinity)], 9),
            (["wtimeout": .decimal128(.infinity)], 9),
            (["bogus": 1], 40415),
        ] as [(BSONDocument, BSONValue)])
    func refused(concern: BSONDocument, code: BSONValue) throws {
        for answer in try Self.answers(concern) {
            #expect(answer?["code"] == code, "\(concern)")
        }
    }

    @Test(
        "Numbers lose their fraction, a time may be anything that is not too large",
        arguments: [
            [:], ["w": 0], ["w": 1.5], ["w": .decimal128(BSONDecimal128(1))], ["w": "majority"],
            ["w": ["a": 1]],
            ["j": 1.5], ["j": .null], ["fsync": true], ["j": false, "fsync": true],
            ["wtimeout": -5], ["wtimeout": "later"], ["wtimeout": .null], ["wtimeout": [1]],
            ["wtimeout": .double(.nan)], ["wtimeout": .double(-.infinity)],
            ["wtimeout": .int64(.min)], ["wtimeout": 2_147_483_647],
        ] as [BSONDocument])
    func accepted(concern: BSONDocument) throws {
        for answer in try Self.answers(concern) {
            #expect(answer?["ok"] == 1.0, "\(concern)")
            #expect(answer?["writeConcernError"] == nil, "\(concern)")
        }
    }

    @Test(
        "What the only member cannot satisfy is reported beside the answer",
        arguments: [
            (["w": .null], 79), (["w": ""], 79), (["w": "tag"], 79), (["w": 50], 100),
            (["w": 2.5], 100), (["w": .decimal128(BSONDecimal128(5))], 100),
        ] as [(BSONDocument, BSONValue)])
    func unsatisfied(concern: BSONDocument, code: BSONValue) throws {
        for answer in try Self.answers(concern) {
            #expect(answer?["ok"] == 1.0, "\(concern)")
            let error = answer?["writeConcernError"]?.documentValue
            #expect(error?["code"] == code, "\(concern)")
        }
    }

    @Test("The end of a transaction checks the fields before it looks for the transaction")
    func endOfTransaction() throws {
        let server = try OfflineServer(requiresSignIn: false)
        for name in ["commitTransaction", "abortTransaction"] {
            let answer = server.answer(command: [
                name: 1, "$db": "admin", "writeConcern": ["j": "true"],
            ])
            #expect(answer?["code"] == 14, "\(name)")
        }
    }
}
