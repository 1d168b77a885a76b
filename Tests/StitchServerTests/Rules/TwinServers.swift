import BSONStore
import Testing

@testable import StitchServer

/// Two servers that differ only in what is hidden from a user.
struct TwinServers {
    private static let users = ["ann", "ben", "ron", "fay"]

    private let roots: [ServerClient]
    private let clients: [[String: ServerClient]]

    /// - Parameter ports: the ports of each twin; several are gateways to one upstream.
    init(ports: [[Int]]) throws {
        roots = try ports.map { try RuledWorld.prepare($0[0]) }
        clients = try ports.map { ports in
            var clients: [String: ServerClient] = [:]
            for (index, user) in Self.users.enumerated() {
                clients[user] = try RuledWorld.client(ports[index % ports.count], user)
            }
            return clients
        }
    }

    /// Sends a random session to both, over other secrets.
    ///
    /// - Returns: the first command whose answers differ, with the answers.
    func difference(seed: UInt64) throws -> String? {
        var commands = TwinCommands(seed: seed)
        let user = commands.pick(Self.users + ["fay"])
        var other = Self.otherSecrets(&commands)
        if user == "fay" { other = other.map { Self.otherHiddenFields($0, &commands) } }
        try RuledWorld.fill(roots[0])
        try RuledWorld.fill(roots[1], with: other)
        var open: [(ids: [BSONValue], isStream: Bool)] = []
        for step in 0..<12 {
            let isMore = !open.isEmpty && commands.happens(0.5)
            let (sent, isStream) =
                isMore ? Self.more(open.removeFirst()) : Self.both(commands.command())
            let answers = try zip(clients, sent).map { clients, command in
                try #require(clients[user]).reply(command)
            }
            let alike = answers.map(TwinAnswers.alike)
            // The error of a getMore repeats the number of the cursor.
            if alike[0] != alike[1], !isMore || answers[0]["ok"] == 1.0 {
                return "seed \(seed), user \(user), step \(step): \(sent[0].extendedJSON())\n  "
                    + alike.map { $0.extendedJSON() }.joined(separator: "\n  ")
            }
            let ids = answers.compactMap { $0["cursor"]?.documentValue?["id"] }
            if ids.count == 2, ids.allSatisfy({ $0.wholeNumber != 0 }) {
                open.append((ids, isStream))
            }
        }
        return nil
    }

    private static func both(_ command: BSONDocument) -> ([BSONDocument], isStream: Bool) {
        ([command, command], command.extendedJSON().contains("$changeStream"))
    }

    private static func more(
        _ cursor: (ids: [BSONValue], isStream: Bool)
    ) -> ([BSONDocument], isStream: Bool) {
        let commands = cursor.ids.map { id in
            var command: BSONDocument = ["getMore": id, "collection": "items", "batchSize": 10]
            // A stream that has nothing new would wait for a second.
            if cursor.isStream { command.append("maxTimeMS", 1) }
            return command
        }
        return (commands, cursor.isStream)
    }

    /// Returns other secrets: each user bound by rules sees the same of both.
    private static func otherSecrets(_ commands: inout TwinCommands) -> [BSONDocument] {
        var changed: [BSONDocument] = []
        for var document in RuledWorld.documents {
            if document["tenant"] == "b" {
                if commands.happens(0.3) { continue }
                document.set("title", to: commands.pick(["secret", "one", "z", 7]))
                document.set("n", to: .int32(commands.pick(Array(0..<50))))
                document.set("tags", to: commands.pick([["x", "y"], ["y", "z"], ["z", "x"]]))
                document.set("salary", to: .int32(commands.pick(Array(0..<100))))
            }
            changed.append(document)
        }
        if commands.happens(0.3) {
            changed.append(["_id": "more", "owner": "max", "tenant": "b", "salary": 15, "n": 1])
        }
        return changed
    }

    /// Returns other values of the fields that the clerk does not see.
    private static func otherHiddenFields(
        _ document: BSONDocument, _ commands: inout TwinCommands
    ) -> BSONDocument {
        var changed = document
        changed.set("salary", to: commands.pick([0, 1, 15, 40, "text", nil, [1, 2]]))
        var address = changed["address"]?.documentValue ?? [:]
        address.set("street", to: commands.pick(["", "Via 1", 5]))
        changed.set("address", to: .document(address))
        changed.set("at", to: [.int32(commands.pick(Array(0..<50))), 1])
        if commands.happens(0.3) { changed.removeValue(forKey: "salary") }
        return changed
    }
}
