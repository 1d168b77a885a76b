import BSONStore
import Foundation
import TestProcesses

/// The server process of the roads that need one, started by the first of them.
final class SweptServers {
    private var server: ServerProcess?
    private var databases = 0

    /// The processes whose time belongs to the roads.
    var processIDs: [pid_t] { server.map { [$0.processID] } ?? [] }

    /// Returns the port of a server on a file.
    func port() throws -> Int {
        if let server { return server.port }
        let started = try ServerProcess.start(["--max-transactions-per-user", "200"])
        server = started
        return started.port
    }

    /// Returns a client of the server, on a database that no other road uses.
    func client() throws -> SweptClient {
        databases += 1
        return try SweptClient(port: try port(), database: "sweep\(databases)")
    }

    /// Ends the server.
    func end() { server?.remove() }
}

/// A connection that sends commands to one database.
final class SweptClient {
    /// The port of the server.
    let port: Int
    /// The database of its commands.
    let database: String
    private let connection: WireClient
    private static let patience: Duration = .seconds(300)

    /// Connects.
    init(port: Int, database: String) throws {
        guard let connection = WireClient(port: port) else {
            throw SweptFailure("no server on port \(port)")
        }
        (self.port, self.database, self.connection) = (port, database, connection)
    }

    /// Runs a command; throws unless it succeeds.
    @discardableResult
    func run(_ command: BSONDocument, on database: String? = nil) throws -> BSONDocument {
        var command = command
        command.append("$db", .string(database ?? self.database))
        switch connection.run(command, within: Self.patience) {
        case .reply(let reply):
            guard reply["ok"]?.doubleValue == 1, !reply.contains(key: "writeErrors") else {
                throw SweptFailure("\(reply)".prefix(300).description)
            }
            return reply
        case .closed: throw SweptFailure("the server closed the connection")
        case .silent: throw SweptFailure("no answer")
        }
    }

    /// Inserts documents, as many in one command as a server takes.
    func insert(_ documents: [BSONDocument], into collection: String = "items") throws {
        for start in stride(from: 0, to: documents.count, by: 10_000) {
            let part = documents[start..<min(start + 10_000, documents.count)]
            try run([
                "insert": .string(collection),
                "documents": .array(BSONArray(part.map { .document($0) })),
            ])
        }
    }

    /// Reads a cursor to its end; returns the number of documents.
    @discardableResult
    func readAll(_ command: BSONDocument) throws -> Int {
        var (reply, count) = (try run(command), 0)
        while true {
            let cursor = reply["cursor"]?.documentValue ?? [:]
            let batch = (cursor["firstBatch"] ?? cursor["nextBatch"])?.arrayValue ?? BSONArray()
            count += batch.count
            guard let id = cursor["id"]?.int64Value, id != 0 else { return count }
            let collection = (cursor["ns"]?.stringValue ?? "").split(
                separator: ".", maxSplits: 1
            ).last
            reply = try run([
                "getMore": .int64(id), "collection": .string(String(collection ?? "")),
            ])
        }
    }

    /// Returns the id of the cursor that a command opens.
    func open(_ command: BSONDocument) throws -> Int64 {
        try run(command)["cursor"]?.documentValue?["id"]?.int64Value ?? 0
    }

    /// Removes what the road stored.
    func end() throws { try run(["dropDatabase": 1]) }
}
