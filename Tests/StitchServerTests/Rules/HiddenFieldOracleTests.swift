import BSONStore
import TestProcesses
import Testing

@testable import StitchServer

/// A write that is refused because of a hidden field could tell its value by how it is refused.
@Suite(.timeLimit(.minutes(60))) struct HiddenFieldOracleTests {
    /// A write that only a hidden field stands in the way of.
    struct Write: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let command: BSONDocument
        /// Whether it leaves the hidden field out, so that it repeats no key for who sees it.
        var replaces = false

        init(_ name: String, _ command: BSONDocument, replaces: Bool = false) {
            testDescription = name
            self.command = command
            self.replaces = replaces
        }

        static func one(_ name: String, _ update: BSONValue, replaces: Bool = false) -> Write {
            Write(name, ["update": "items", "updates": [update]], replaces: replaces)
        }

        static func bulk(_ name: String, _ operation: BSONValue) -> Write {
            Write(name, ["bulkWrite": 1, "nsInfo": [["ns": "shop.items"]], "ops": [operation]])
        }
    }

    private static let change: BSONValue = ["$set": ["title": "one"]]
    private static let whole: BSONValue = [
        "owner": "ben", "tenant": "a", "title": "one", "n": 2, "address": ["city": "Bonn"],
    ]
    /// Without the hidden field: the validator wants it, and the unique index has its absence.
    private static let bare: BSONValue = ["tenant": "a", "title": "bare", "n": 1]
    private static let new: BSONValue = ["_id": "x", "tenant": "a", "title": "bare", "n": 1]

    static let writes: [Write] = [
        .one("update", ["q": ["_id": "other"], "u": change]),
        .one("update by a pipeline", ["q": ["_id": "other"], "u": [change]]),
        .one("update of many", ["q": ["_id": "other"], "u": change, "multi": true]),
        .one("replacement", ["q": ["_id": "other"], "u": whole], replaces: true),
        Write(
            "findAndModify",
            ["findAndModify": "items", "query": ["_id": "other"], "update": change]),
        Write(
            "findAndModify that replaces",
            ["findAndModify": "items", "query": ["_id": "other"], "update": whole],
            replaces: true),
        .bulk(
            "update in bulk", ["update": 0, "filter": ["_id": "other"], "updateMods": change]),
        Write("insert", ["insert": "items", "documents": [new]]),
        .one("upsert", ["q": ["_id": "x"], "u": ["$set": bare], "upsert": true]),
        Write(
            "findAndModify that inserts",
            [
                "findAndModify": "items", "query": ["_id": "x"], "update": ["$set": bare],
                "upsert": true,
            ]),
        .bulk("insert in bulk", ["insert": 0, "document": new]),
        .bulk(
            "upsert in bulk",
            [
                "update": 0, "filter": ["_id": "x"], "updateMods": ["$set": bare],
                "upsert": true,
            ]),
    ]

    @Test(
        "A write that a hidden field refuses tells nothing of it, whichever write it is",
        arguments: RuledWorld.Place.allCases)
    func everyWrite(_ place: RuledWorld.Place) async throws {
        try await RuledWorld.lend(place) { ports in
            let root = try RuledWorld.prepare(ports[0])
            let clerk = try RuledWorld.client(ports[0], "fay")
            for write in Self.writes { try Self.check(write, root, clerk) }
        }
    }

    private static func check(
        _ write: Write, _ root: ServerClient, _ clerk: ServerClient
    ) throws {
        // Nothing but the hidden field stands in the way.
        try fill(root, salary: 20)
        #expect(try error(of: write, by: clerk) == nil, "\(write.testDescription)")
        var errors: [BSONDocument?] = []
        func refuse() throws {
            let before = try root.documents(["find": "items"])
            errors.append(try error(of: write, by: clerk))
            #expect(try root.documents(["find": "items"]) == before)
        }
        try root.run(["collMod": "items", "validator": ["salary": ["$lt": 100]]])
        for salary: BSONValue in [100, 500, 1_000_000_000_000] {
            try fill(root, salary: salary)
            try refuse()
        }
        #expect(try error(of: write, by: root)?["code"] == 121, "\(write.testDescription)")
        try root.run(["collMod": "items", "validator": [:]])
        try fill(root, salary: 10)
        let key: BSONValue = ["title": 1, "salary": 1]
        try root.run([
            "createIndexes": "items",
            "indexes": [["key": key, "name": "both", "unique": true]],
        ])
        try refuse()
        if !write.replaces {
            #expect(try error(of: write, by: root)?["code"] == 11_000, "\(write.testDescription)")
        }
        try root.run(["dropIndexes": "items", "index": "both"])
        let first = try #require(errors[0], "\(write.testDescription)")
        #expect(first["code"] == 13)
        #expect(first["errmsg"]?.stringValue?.contains("not allowed") == true)
        #expect(!first.extendedJSON().contains("salary"))
        #expect(errors.count == 4 && errors.allSatisfy { $0 == first }, "\(errors)")
    }

    private static func fill(_ root: ServerClient, salary: BSONValue) throws {
        var documents = RuledWorld.documents
        documents.append(["_id": "bare", "owner": "ben", "tenant": "a", "title": "bare", "n": 1])
        try RuledWorld.fill(root, with: documents)
        try root.update("other", ["$set": ["salary": salary]])
    }

    /// The error of a write that is refused; `nil` when it is done.
    private static func error(
        of write: Write, by client: ServerClient
    ) throws -> BSONDocument? {
        let isBulk = write.command["bulkWrite"] != nil
        let reply = try client.reply(write.command, on: isBulk ? "admin" : "shop")
        if let entries = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue {
            let entry = entries.first { _ in true }?.documentValue
            return entry?["ok"]?.wholeNumber == 1 ? nil : entry
        }
        guard let error = ServerRefusal.error(of: reply) else { return nil }
        guard error == reply else { return error }
        return BSONDocument(
            ["code", "errmsg", "errInfo"].compactMap { key in error[key].map { (key, $0) } })
    }
}
