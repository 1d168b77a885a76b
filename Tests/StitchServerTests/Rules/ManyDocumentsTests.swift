import BSONStore
import Testing

@testable import StitchServer

/// A gateway reads many documents in parts, and in an order of the upstream's: neither may show.
@Suite(.timeLimit(.minutes(60))) struct ManyDocumentsTests {
    private static func document(_ id: Int32) -> BSONDocument {
        ["_id": .int32(id), "owner": "ann", "tenant": "a", "n": .int32(id)]
    }

    private static func ids(_ documents: [BSONDocument]) -> [Int] {
        documents.compactMap { $0["_id"]?.wholeNumber }
    }

    @Test(arguments: RuledWorld.Place.allCases)
    func `documents are found and changed by more than a thousand ids`(
        _ place: RuledWorld.Place
    ) async throws {
        try await RuledClients.lend(place) { clients in
            let ann = clients.ann
            try RuledWorld.fill(clients.root, with: (0..<1_001 as Range<Int32>).map(Self.document))
            for count in [1_000, 1_001, 1_002, 2_001] as [Int32] {
                // The first one comes again in another part.
                let asked = (0..<count).map { BSONValue.int32($0) } + [0]
                let found = try ann.documents([
                    "find": "items", "filter": ["_id": ["$in": .array(BSONArray(asked))]],
                ])
                #expect(Self.ids(found) == Array(0..<Int(min(count, 1_001))))
                let updates = asked.map { id -> BSONValue in
                    ["q": ["_id": id], "u": ["$inc": ["changes": 1]]]
                }
                let changed = try ann.run([
                    "update": "items", "updates": .array(BSONArray(updates)),
                ])
                #expect(changed["n"]?.wholeNumber == Int(min(count, 1_001)) + 1)
            }
            #expect(try clients.stored(0)?["changes"] == 8)
        }
    }

    @Test(arguments: RuledWorld.Place.allCases)
    func `more than a thousand documents are inserted in a transaction`(
        _ place: RuledWorld.Place
    ) async throws {
        try await RuledClients.lend(place) { clients in
            let session = ServerSession(3)
            let documents = (0..<1_001 as Range<Int32>).map {
                BSONValue.document(Self.document($0))
            }
            var number: Int64 = 0
            let committed = try undisturbed {
                number += 1
                let inserted = try clients.ann.reply(
                    session.transaction(
                        number, starts: true,
                        ["insert": "items", "documents": .array(BSONArray(documents))]))
                guard inserted["n"] == 1_001 else { return inserted }
                return try clients.ann.reply(
                    session.transaction(number, ["commitTransaction": 1]), on: "admin")
            }
            #expect(committed["ok"] == 1.0, "\(committed)")
            #expect(try clients.stored(1_000) != nil)
        }
    }

    @Test(arguments: RuledWorld.Place.allCases)
    func `the errors of many writes fit into a reply`(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let text = BSONValue.string(String(repeating: "x", count: 200_000))
            try clients.root.update("own", ["$set": ["title": text]])
            let update: BSONValue = ["$set": ["n": ["$toInt": "$title"]]]
            let updates = [BSONValue](repeating: ["q": ["_id": "own"], "u": [update]], count: 200)
            let reply = try clients.ann.reply([
                "update": "items", "ordered": false, "updates": .array(BSONArray(updates)),
            ])
            let errors = reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue) ?? []
            #expect(errors.compactMap { $0["index"]?.wholeNumber } == Array(0..<200))
            #expect(errors.allSatisfy { $0["code"] == errors[0]["code"] })
            #expect((1_000_000...2_000_000).contains(reply.byteCount), "\(reply.byteCount)")
        }
    }

    @Test(arguments: RuledWorld.Place.allCases)
    func `equal sort keys do not let the order of hidden fields show`(
        _ place: RuledWorld.Place
    ) async throws {
        try await RuledClients.lend(place) { clients in
            try clients.root.run([
                "createIndexes": "items",
                "indexes": [["key": ["tenant": 1, "salary": 1], "name": "tenant_1_salary_1"]],
            ])
            try RuledWorld.fill(
                clients.root,
                with: (0..<9 as Range<Int32>).map { id in
                    var document = Self.document(id)
                    document.append("salary", .int32(id * 4 % 9))
                    return document
                })
            let found = try clients.fay.documents([
                "find": "items", "filter": ["tenant": "a"], "sort": ["tenant": 1], "limit": 9,
            ])
            #expect(Self.ids(found) == Array(0..<9))
        }
    }
}
