import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// A refused write ends its transaction; a client that was told only so would begin it again and
/// again.
@Suite(.timeLimit(.minutes(60))) struct TransactionErrorTests {
    /// A write in a transaction that has inserted the document "t", and the code of its error.
    private struct Refused {
        let write: BSONDocument
        let code: Int32
        var database = "shop"
    }

    private static func document(_ id: String, title: String) -> BSONValue {
        ["_id": .string(id), "owner": "ann", "tenant": "a", "n": 1, "title": .string(title)]
    }

    private static func inserting(_ documents: BSONValue...) -> BSONDocument {
        ["insert": "items", "documents": .array(BSONArray(documents))]
    }

    private static func modifying(_ title: String) -> BSONDocument {
        [
            "findAndModify": "items", "query": ["_id": "own"],
            "update": ["$set": ["title": .string(title)]],
        ]
    }

    private static let refused: [Refused] = [
        Refused(write: inserting(document("own", title: "u")), code: 11_000),
        Refused(write: inserting(document("far", title: "u")), code: 13),
        Refused(write: inserting(document("t", title: "u")), code: 11_000),
        Refused(
            write: inserting(document("u", title: "u"), document("u", title: "v")), code: 11_000),
        Refused(write: inserting(document("u", title: "one")), code: 11_000),
        Refused(
            write: inserting(document("u", title: "u"), document("v", title: "u")), code: 11_000),
        Refused(write: inserting(document("u", title: "secret")), code: 13),
        Refused(write: inserting(["_id": ["$x": 1]], document("u", title: "u")), code: 52),
        Refused(
            write: inserting(
                ["_id": .regularExpression(BSONRegularExpression("."))],
                document("u", title: "u")), code: 2),
        Refused(write: updating("own", ["$set": ["title": "two"]]), code: 11_000),
        Refused(write: updating("own", ["$set": ["title": "hush"]]), code: 13),
        Refused(write: updating("own", ["$set": ["n": 200]]), code: 121),
        Refused(write: updating("other", ["$set": ["owner": "zoe"]]), code: 13),
        Refused(write: modifying("two"), code: 11_000),
        Refused(write: modifying("hush"), code: 13),
        Refused(
            write: [
                "bulkWrite": 1, "nsInfo": [["ns": "shop.items"]],
                "ops": [
                    ["insert": 0, "document": document("u", title: "u")],
                    ["insert": 0, "document": document("own", title: "v")],
                ],
            ], code: 11_000, database: "admin"),
    ]

    @Test(arguments: RuledWorld.Place.allCases)
    func `a refused write is told, and ends its transaction`(
        _ place: RuledWorld.Place
    ) async throws {
        try await RuledClients.lend(place) { clients in
            try clients.root.run([
                "createIndexes": "items",
                "indexes": [["key": ["title": 1], "name": "title_1", "unique": true]],
            ])
            try clients.root.run(["collMod": "items", "validator": ["n": ["$lt": 100]]])
            let session = ServerSession(7)
            let insert = Self.inserting(Self.document("t", title: "t"))
            var number: Int64 = 0
            for refused in Self.refused {
                let reply = try undisturbed {
                    number += 1
                    let first = try clients.ann.reply(
                        session.transaction(number, starts: true, insert))
                    guard first["ok"] == 1.0 else { return first }
                    return try clients.ann.reply(
                        session.transaction(number, refused.write), on: refused.database)
                }
                #expect(Self.code(of: reply) == refused.code, "\(refused.write): \(reply)")
                try expectRefusal(
                    251, by: clients.ann,
                    session.transaction(number, ["commitTransaction": 1]), on: "admin")
                #expect(
                    try clients.root.documents(["find": "items"]).count
                        == RuledWorld.documents.count)
            }
        }
    }

    @Test(arguments: RuledWorld.Place.allCases)
    func `a document of another collection does not reveal what a write collides with`(
        _ place: RuledWorld.Place
    ) async throws {
        let rules = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID())")
        let source = Python.folder.appending(path: "fixtures/rules/app")
        try FileManager.default.copyItem(at: source, to: rules)
        let collections = rules.appending(path: "data_sources/mongodb-atlas/shop")
        let notes = collections.appending(path: "notes")
        try FileManager.default.createDirectory(at: notes, withIntermediateDirectories: true)
        let all = #"{"roles": [{"name": "all", "apply_when": {}, "read": true, "write": true}]}"#
        try Data(all.utf8).write(to: notes.appending(path: "rules.json"))
        try await RuledClients.lend(place, ["--auth", "--rules", rules.path]) { clients in
            try clients.root.run([
                "createIndexes": "items",
                "indexes": [["key": ["title": 1], "name": "title_1", "unique": true]],
            ])
            try clients.root.insert([["_id": 1]], into: "notes")
            let document = Self.document("u", title: "secret")
            let write: BSONDocument = [
                "bulkWrite": 1, "nsInfo": [["ns": "shop.notes"], ["ns": "shop.items"]],
                "ops": [
                    ["insert": 0, "document": document], ["insert": 1, "document": document],
                ],
            ]
            var number: Int64 = 0
            let reply = try undisturbed {
                number += 1
                return try clients.ann.reply(
                    ServerSession(7).transaction(number, starts: true, write), on: "admin")
            }
            #expect(Self.code(of: reply) == 13, "\(reply)")
        }
        try FileManager.default.removeItem(at: rules)
    }

    @Test(arguments: RuledWorld.Place.allCases)
    func `a transaction sees the collection that it creates`(
        _ place: RuledWorld.Place
    ) async throws {
        try await RuledClients.lend(place) { clients in
            try clients.root.run(["drop": "items"])
            let session = ServerSession(7)
            let insert = Self.inserting(Self.document("t", title: "t"))
            var number: Int64 = 0
            let reply = try undisturbed {
                number += 1
                let first = try clients.ann.reply(
                    session.transaction(number, starts: true, insert))
                guard first["ok"] == 1.0 else { return first }
                let found = try clients.ann.run(session.transaction(number, ["find": "items"]))
                let batch = found["cursor"]?.documentValue?["firstBatch"]?.arrayValue
                #expect(batch == [Self.document("t", title: "t")])
                return try clients.ann.reply(session.transaction(number, insert))
            }
            #expect(Self.code(of: reply) == 11_000, "\(reply)")
        }
    }

    /// The code of the error in a reply.
    private static func code(of reply: BSONDocument) -> Int32? {
        let results = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue ?? []
        let failed = results.compactMap(\.documentValue).first { $0["code"] != nil }
        let error = failed ?? ServerRefusal.error(of: reply)
        return error?["code"]?.wholeNumber.map { Int32(clamping: $0) }
    }
}
