import BSONStore
import Testing

@testable import StitchServer

/// The administrator, a member and a clerk at a server of their own under the rules.
struct RuledClients {
    let port: Int
    let root: ServerClient
    let ann: ServerClient
    let fay: ServerClient

    /// Lends the clients of a new server, or of one gateway: another gateway learns of changed
    /// indexes and validators only a moment later.
    static func lend(
        _ place: RuledWorld.Place, _ arguments: [String] = RuledWorld.arguments,
        _ body: @escaping @Sendable (RuledClients) throws -> Void
    ) async throws {
        try await RuledWorld.lend(place, arguments) { ports in
            try body(
                RuledClients(
                    port: ports[0], root: RuledWorld.prepare(ports[0]),
                    ann: RuledWorld.client(ports[0], "ann"),
                    fay: RuledWorld.client(ports[0], "fay")))
        }
    }

    /// The users who are bound by rules.
    var bound: [ServerClient] { [ann, fay] }

    /// A document of the collection as it is stored.
    func stored(_ id: BSONValue) throws -> BSONDocument? {
        try root.documents(["find": "items", "filter": ["_id": id]]).first
    }
}

/// Expects that a server refuses a command.
///
/// - Returns: the text of the error.
@discardableResult
func expectRefusal(
    _ code: Int, by client: ServerClient, _ command: BSONDocument, on database: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> String {
    let refusal = ServerRefusal(reply: try client.reply(command, on: database))
    #expect(refusal.code == code, "\(refusal)", sourceLocation: sourceLocation)
    return refusal.message
}

/// Returns the command that updates a document by its id.
func updating(_ id: BSONValue, _ update: BSONValue) -> BSONDocument {
    ["update": "items", "updates": [["q": ["_id": id], "u": update]]]
}

/// Runs a transaction until no other writer is in its way, such as the log of denied writes.
///
/// - Returns: the last reply of the transaction.
func undisturbed(_ transaction: () throws -> BSONDocument) throws -> BSONDocument {
    while true {
        let reply = try transaction()
        if ServerRefusal.error(of: reply)?["code"] != 112 { return reply }
    }
}
