import BSONStore
import Testing

@testable import StitchServer

/// A script of a user under rules can use the server's threads and see what is hidden.
@Suite struct RuledScriptTests {
    private static let script: BSONValue = [
        "$function": ["body": "function() { return 1 }", "args": [], "lang": "js"]
    ]

    private static func bulk(
        _ operation: BSONDocument, _ more: BSONDocument = [:]
    ) -> BSONDocument {
        var command: BSONDocument = [
            "bulkWrite": 1, "nsInfo": [["ns": "shop.items"]], "ops": [.document(operation)],
        ]
        for (name, value) in more { command.append(name, value) }
        return command
    }

    private static let update: BSONDocument = [
        "update": 0, "filter": ["_id": 1], "updateMods": [["$set": ["a": "$$a"]]],
    ]

    @Test(
        "A script in a bulkWrite is refused wherever it is evaluated",
        arguments: [
            bulk(update, ["let": ["a": script]]), bulk(update, ["let": ["document": script]]),
            bulk(update, ["let": ["a": ["document": script]]]),
            bulk(["update": 0, "filter": ["_id": 1], "updateMods": [], "document": script]),
            bulk(["delete": 0, "filter": ["$expr": script]]),
            bulk(["delete": 0, "filter": [:], "document": script]),
            bulk(["document": script, "insert": 0]),
            bulk(["insert": 0, "document": [:], "filter": script]),
        ])
    func scripts(command: BSONDocument) throws {
        #expect(try CommandProbe(command, on: "admin").fileAnswer(to: .ben) == "13")
    }

    @Test("A document to insert may have the names of scripts as fields")
    func documents() throws {
        let stored: BSONDocument = ["insert": 0, "document": ["_id": 1, "code": Self.script]]
        #expect(try CommandProbe(Self.bulk(stored), on: "admin").fileAnswer(to: .ben) == "ok")
        let insert: BSONDocument = [
            "insert": "items", "documents": [["_id": 1, "code": Self.script]],
        ]
        #expect(try CommandProbe(insert, on: "shop").fileAnswer(to: .ben) == "ok")
    }
}
