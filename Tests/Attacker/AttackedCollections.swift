import BSONStore
import TestProcesses

/// What a server holds before it is asked for much; the attack does not write into it.
enum AttackedCollections {
    /// Inserts it all.
    static func fill(_ server: AttackedServer) async throws {
        let port = server.port
        server.ledger.note(
            try await BlockingThread.run {
                guard let client = WireClient(port: port) else {
                    throw ProgramFailure(reason: "no connection")
                }
                var ledger = WireLedger()
                for command in commands { try acknowledged(command, client) }
                for (collection, documents) in contents { ledger.note(documents, in: collection) }
                return ledger
            })
    }

    /// The number of cursors that stay open, each in a session of its own.
    private static let cursorCount: UInt16 = 1_000

    /// Opens cursors in sessions, and reads none further.
    static func openCursors(_ server: AttackedServer) async throws {
        let port = server.port
        try await BlockingThread.run {
            guard let client = WireClient(port: port) else {
                throw ProgramFailure(reason: "no connection")
            }
            for number in 0..<cursorCount {
                let bytes = [UInt8(number >> 8), UInt8(number & 255)]
                let id = BSONBinary([UInt8](repeating: 1, count: 14) + bytes, subtype: 4)
                try acknowledged(
                    [
                        "find": "items", "batchSize": 1, "$db": .string(WireLedger.database),
                        "lsid": ["id": .binary(id)],
                    ], client)
            }
        }
    }

    /// The commands that fill the database.
    static var commands: [BSONDocument] {
        let index: BSONDocument = [
            "createIndexes": "words", "$db": .string(WireLedger.database),
            "indexes": [["key": ["t": "text"], "name": "text"]],
        ]
        return [index] + contents.map { WireLedger.insert($0.1, in: $0.0) }
            + [WireLedger.insert(documents(200, text), in: "spoils")]
    }

    private static func acknowledged(_ command: BSONDocument, _ client: WireClient) throws {
        guard case .reply(let reply) = client.run(command, within: .seconds(120)),
            reply["ok"] == 1.0
        else { throw ProgramFailure(reason: "no documents to begin with: \(command.keys)") }
    }

    private static var contents: [(String, [BSONDocument])] {
        [
            ("items", documents(200) { _ in ["k": 1] }),
            (
                "nodes",
                documents(300) { ["to": .array([.int32($0 * 7 % 300), .int32($0 * 11 % 300)])] }
            ),
            (
                "large",
                documents(4) { ["t": .string(String(repeating: "ab", count: 20_000 + Int($0)))] }
            ),
            ("words", documents(4, text)),
        ]
    }

    private static func documents(
        _ count: Int32, _ more: (Int32) -> BSONDocument
    ) -> [BSONDocument] {
        let numbers = BSONValue.array(BSONArray((0..<100).map { .int32($0) }))
        return (0..<count).map { id in
            var document: BSONDocument = ["_id": .int32(id), "n": .int32(id), "k": 1]
            (document["a"], document["b"]) = (numbers, numbers)
            for (key, value) in more(id) { document[key] = value }
            return document
        }
    }

    private static func text(_ id: Int32) -> BSONDocument {
        ["t": .string((0..<2_000).map { "w\($0 + Int(id))" }.joined(separator: " "))]
    }
}
