import BSONStore
import Testing

@testable import StitchServer

/// A gateway sends commands upstream with its own rights, also those that it cannot read itself, so
/// nobody may get by one what the user's roles do not grant.
@Suite struct GatewayRightsTests {
    private static func pipeline(_ stages: BSONValue..., collation: String? = nil) -> BSONDocument {
        var command: BSONDocument = [
            "aggregate": "items", "pipeline": .array(BSONArray(stages)), "cursor": [:],
        ]
        if let collation { command.append("collation", ["locale": .string(collation)]) }
        return command
    }

    private static let bank: BSONValue = ["db": "bank", "coll": "items"]

    /// The answer to a user who may read and write `shop`, where no rules are.
    private static func answer(
        _ command: BSONDocument, on database: String = "shop"
    ) throws -> (code: String, sent: [String]) {
        try CommandProbe(command, on: database).gatewayAnswer(to: .ben, isUnderRules: false)
    }

    @Test(
        "A pipeline that cannot be parsed here needs the rights for the places that it names",
        arguments: [
            pipeline(["$out": ["db": "bank", "coll": "x", "timeseries": ["timeField": "t"]]]),
            pipeline(["$merge": ["into": bank]], collation: "xx"),
            pipeline(["$search": ["index": "a"]], ["$out": bank]),
            pipeline(["$search": ["index": "a"]], ["$merge": bank]),
            pipeline(["$facet": ["a": [["$new": 1], ["$out": bank]]]]),
            pipeline(["$lookup": ["from": ["db": "local", "coll": "oplog.rs"], "as": "x"]]),
            pipeline(["$unionWith": bank]),
            ["create": "v", "viewOn": "items", "pipeline": [["$unionWith": bank]]],
            ["explain": .document(pipeline(["$new": 1], ["$out": bank]))],
        ] as [BSONDocument])
    func places(command: BSONDocument) throws {
        let (code, sent) = try Self.answer(command)
        #expect(code == "13" && sent.isEmpty, "\(sent)")
    }

    @Test(
        "A command whose other places cannot be read is answered why, and not sent upstream",
        arguments: [
            (["bulkWrite": 1, "nsInfo": [["ns": "bank.items"], ["ns": "none"]], "ops": []], "73"),
            (["bulkWrite": 1, "nsInfo": [["ns": 1]], "ops": []], "40414"),
            (["renameCollection": "bank.items", "to": "none"], "73"),
            (["explain": ["frob": 1]], "59"),
            (
                [
                    "mapReduce": "items", "map": "x", "reduce": "x",
                    "out": ["merge": "items", "db": "bank", "new": 1],
                ], "2"
            ),
        ] as [(BSONDocument, String)])
    func unreadable(command: BSONDocument, expected: String) throws {
        let isOfShop = command.keys.first == "mapReduce" || command.keys.first == "explain"
        let (code, sent) = try Self.answer(command, on: isOfShop ? "shop" : "admin")
        #expect(code == expected && sent.isEmpty, "\(sent)")
    }

    @Test(
        "What the upstream alone knows is sent to it, into the user's own database",
        arguments: [
            pipeline(["$search": ["index": "a"]]),
            pipeline(["$search": ["index": "a"]], ["$out": "copy"]),
            pipeline(["$out": ["db": "shop", "coll": "x", "timeseries": ["timeField": "t"]]]),
            ["create": "v", "viewOn": "items", "pipeline": [["$unionWith": "others"]]],
        ] as [BSONDocument])
    func own(command: BSONDocument) throws {
        let (code, sent) = try Self.answer(command)
        let name = command.keys.first ?? ""
        #expect(code == "ok" && sent.contains("\(name)@shop"), "\(code) \(sent)")
    }
}
