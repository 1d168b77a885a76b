import BSONStore
import TestProcesses
import Testing

/// What one statement does wrong must not undo the others, or a device's batch would fail again and
/// again.
///
/// A gateway reads what statements select before it runs them.
@Suite(.timeLimit(.minutes(60))) struct MalformedStatementTests {
    /// The ways in which the part of a statement can be wrong that selects documents.
    private static let selections: [BSONDocument] = [
        ["q": ["$bad": 1]], ["q": ["n": ["$bad": 1]]], ["q": ["n": ["$in": 1]]],
        ["q": ["$and": 1]], ["q": ["$and": []]], ["q": ["$or": [1]]],
        ["q": ["n": ["$not": 1]]], ["q": ["n": ["$mod": [0, 1]]]],
        ["q": ["title": ["$regex": "("]]], ["q": ["title": ["$regex": "a", "$options": "?"]]],
        ["q": ["n": ["$type": "nothing"]]], ["q": ["n": ["$exists": true, "x": 1]]],
        ["q": ["$jsonSchema": ["type": "nothing"]]], ["q": ["$expr": ["$bad": 1]]],
        ["q": ["$expr": ["$eq": [1]]]], ["q": ["$expr": "$$unknown"]],
        ["q": ["_id": "own", "$bad": 1]], ["q": ["_id": ["$bad": 1]]],
        ["q": ["at": ["$near": 1]]], ["q": ["$text": ["$search": "one"]]],
        ["q": ["at": ["$geoWithin": ["$box": 1]]]],
        ["q": ["$expr": ["$divide": [1, ["$subtract": ["$n", "$n"]]]]]],
        ["q": ["$expr": ["$toInt": "$title"]]],
        ["q": [:], "collation": ["locale": "nowhere"]], ["q": [:], "collation": ["x": 1]],
        ["q": [:], "hint": "nowhere"], ["q": [:], "hint": ["nowhere": 1]],
    ]

    /// The ways in which an update can be wrong.
    private static let updates: [BSONValue] = [
        ["$bad": 1], ["$set": 1], ["$set": ["_id": 7]], ["$inc": ["title": 1]], [["$bad": 1]],
        [["$set": ["n": ["$bad": 1]]]], ["$set": ["n": 1], "title": 1], ["$push": ["n": 1]],
        ["$rename": ["n": "n"]], ["$set": ["a.$[x]": 1]], ["$set": ["": 1]],
    ]

    private static let good: BSONDocument = ["q": ["_id": "own"]]

    private static func update(_ selection: BSONDocument, _ update: BSONValue) -> BSONDocument {
        var statement = selection
        statement.append("u", update)
        return statement
    }

    private static func delete(_ selection: BSONDocument) -> BSONDocument {
        var statement = selection
        statement.append("limit", 1)
        return statement
    }

    /// Returns a statement as an operation of `bulkWrite`.
    private static func operation(_ kind: String, _ statement: BSONDocument) -> BSONDocument {
        var operation: BSONDocument = [kind: 0]
        for (name, value) in statement where name != "limit" {
            let names = ["q": "filter", "u": "updateMods"]
            operation.append(names[name] ?? name, value)
        }
        return operation
    }

    private static func list(_ statements: [BSONDocument]) -> BSONValue {
        .array(BSONArray(statements.map(BSONValue.document)))
    }

    /// The commands with a malformed statement between good ones.
    private static let commands: [BSONDocument] = {
        let add: BSONValue = ["$inc": ["n": 1]]
        let updates =
            selections.map { update($0, add) } + Self.updates.map { update(good, $0) }
        var commands: [BSONDocument] = []
        for isOrdered in [true, false] {
            let ordered = BSONValue.bool(isOrdered)
            for bad in updates {
                let all = [update(good, add), bad, update(good, add)]
                commands.append(["update": "items", "updates": list(all), "ordered": ordered])
                commands.append([
                    "bulkWrite": 1, "ops": list(all.map { operation("update", $0) }),
                    "nsInfo": [["ns": "shop.items"]], "ordered": ordered,
                ])
            }
            for bad in selections {
                let none: BSONDocument = ["q": ["_id": "none"]]
                let all = [delete(none), delete(bad), delete(none)]
                commands.append(["delete": "items", "deletes": list(all), "ordered": ordered])
                commands.append([
                    "bulkWrite": 1, "ops": list(all.map { operation("delete", $0) }),
                    "nsInfo": [["ns": "shop.items"]], "ordered": ordered,
                ])
            }
            commands.append([
                "bulkWrite": 1, "nsInfo": [["ns": "shop.items"]], "ordered": ordered,
                "ops": list([
                    operation("update", update(good, add)),
                    [
                        "update": 0, "filter": [:], "updateMods": add, "sort": ["n": "x"],
                    ], operation("update", update(good, add)),
                ]),
            ])
        }
        return commands
    }()

    @Test(
        "A malformed statement is answered alike by a file's server and by a gateway",
        arguments: [false, true])
    func statements(isRetryable: Bool) async throws {
        var answers: [[BSONDocument]] = []
        for place in RuledWorld.Place.allCases {
            let told = try await place.lend { ports in
                try await BlockingThread.run {
                    _ = try RuledWorld.prepare(ports[0])
                    let ann = try RuledWorld.client(ports[0], "ann")
                    var number: Int64 = 0
                    return try Self.commands.map { command in
                        number += 1
                        let sent =
                            isRetryable ? ServerSession(3).retryable(number, command) : command
                        let database = command["bulkWrite"] == nil ? "shop" : "admin"
                        return TwinAnswers.alike(try ann.reply(sent, on: database))
                    }
                }
            }
            answers.append(told)
        }
        for (index, command) in Self.commands.enumerated() {
            #expect(
                answers[0][index] == answers[1][index],
                "\(command.extendedJSON())\n\(answers[0][index])\n\(answers[1][index])")
        }
        // Most of them are answered for the statement alone.
        let whole = answers[0].count { $0["ok"] != 1.0 }
        #expect(whole < Self.commands.count / 4, "\(whole) of \(Self.commands.count)")
    }
}
