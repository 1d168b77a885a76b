import BSONStore
import TestProcesses

@testable import StitchServer

/// A client that sends a server just the commands that it is given, and blocks for each answer.
final class ServerClient {
    /// The longest time for an answer of a debug build beside other tests.
    private static let patience: Duration = .seconds(120)

    /// The connection.
    let wire: WireClient
    private let database: String

    /// Connects without signing in.
    ///
    /// - Parameter database: the database of commands that name none.
    init(port: Int, database: String) throws {
        guard let wire = WireClient(port: port) else {
            throw ProgramFailure(reason: "no server listens on \(port)")
        }
        self.wire = wire
        self.database = database
    }

    /// Connects and signs a user in.
    convenience init(
        port: Int, database: String, user: String, password: String = "pw",
        of userDatabase: String = "admin"
    ) throws {
        try self.init(port: port, database: database)
        try signIn(user, password, of: userDatabase)
    }

    /// Sends a command without waiting for its answer.
    ///
    /// - Parameter number: the number that the answer names.
    func send(_ command: BSONDocument, on database: String? = nil, number: Int32 = 1) {
        var command = command
        command.append("$db", .string(database ?? self.database))
        wire.send(WireClient.message(command, requestID: number))
    }

    /// Waits for the next answer, with the number of its request.
    func numberedAnswer() throws -> (number: Int32, reply: BSONDocument) {
        let reply = try answer()
        return (wire.lastResponseTo, reply)
    }

    /// Signs in with the secret of a device without an account; the answer may be an error.
    func signInAnonymously(_ secret: [UInt8]) throws -> BSONDocument {
        try reply(
            [
                "saslStart": 1, "mechanism": .string(AnonymousSignIn.mechanism),
                "payload": .binary(BSONBinary(secret)),
            ], on: "admin")
    }

    /// Waits for the next answer, which may be an error.
    ///
    /// - Throws: `ProgramFailure` when there is none.
    func answer(within limit: Duration = patience) throws -> BSONDocument {
        switch wire.answer(within: limit) {
        case .reply(let reply): return reply
        case .closed: throw ProgramFailure(reason: "the server closed the connection")
        case .silent: throw ProgramFailure(reason: "the server does not answer")
        }
    }

    /// Sends a command and returns its answer, which may be an error.
    func reply(
        _ command: BSONDocument, on database: String? = nil
    ) throws -> BSONDocument {
        send(command, on: database)
        return try answer()
    }

    /// Sends a command that succeeds.
    ///
    /// - Throws: `ServerRefusal` when it does not.
    @discardableResult
    func run(_ command: BSONDocument, on database: String? = nil) throws -> BSONDocument {
        let reply = try reply(command, on: database)
        guard ServerRefusal.error(of: reply) == nil else { throw ServerRefusal(reply: reply) }
        return reply
    }

    /// Sends a command that opens a cursor, and reads the cursor to its end.
    func documents(_ command: BSONDocument) throws -> [BSONDocument] {
        var cursor = try run(command)["cursor"]?.documentValue
        var documents = cursor?["firstBatch"]?.arrayValue?.compactMap(\.documentValue) ?? []
        while let id = cursor?["id"], id.wholeNumber != 0 {
            let name = cursor?["ns"]?.stringValue?.splitAtFirstDot?.tail ?? ""
            cursor = try run(["getMore": id, "collection": .string(name)])["cursor"]?.documentValue
            documents += cursor?["nextBatch"]?.arrayValue?.compactMap(\.documentValue) ?? []
        }
        return documents
    }

    /// Inserts documents into a collection.
    func insert(_ documents: [BSONDocument], into collection: String) throws {
        try run([
            "insert": .string(collection),
            "documents": .array(BSONArray(documents.map { .document($0) })),
        ])
    }

    /// Updates a document by its id.
    func update(_ id: BSONValue, _ update: BSONValue, in collection: String = "items") throws {
        try run([
            "update": .string(collection), "updates": [["q": ["_id": id], "u": update]],
            "bypassDocumentValidation": true,
        ])
    }

    /// The number of the first running command with a name; waits until there is one.
    func running(_ name: String) throws -> BSONValue {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if let found = try operations(name).first { return found }
        }
        throw ProgramFailure(reason: "no \(name) runs")
    }

    /// The numbers of the running commands with a name.
    func operations(_ name: String) throws -> [BSONValue] {
        try entries(name).compactMap { $0["opid"] }
    }

    /// The time for which a command with a name has run; zero if none runs.
    func runningTime(_ name: String) throws -> Duration {
        let times = try entries(name).compactMap { $0["microsecs_running"]?.int64Value }
        return .microseconds(times.max() ?? 0)
    }

    private func entries(_ name: String) throws -> [BSONDocument] {
        let all = try run(["currentOp": 1], on: "admin")["inprog"]?.arrayValue ?? []
        return all.compactMap(\.documentValue).filter { operation in
            operation["command"]?.documentValue?[name] != nil
        }
    }
}

// The client's side of RFC 5802.
extension ServerClient {
    /// Signs a user in.
    func signIn(_ user: String, _ password: String, of database: String) throws {
        let mechanism = ScramMechanism.sha256
        let bare = "n=\(user),r=\(ScramCredential.text(ScramCredential.random(18)))"
        let started = try run(
            [
                "saslStart": 1, "mechanism": .string(mechanism.rawValue),
                "payload": Self.payload("n,,\(bare)"), "options": ["skipEmptyExchange": true],
            ], on: database)
        let challenge = String(decoding: try SaslPayload.bytes(started["payload"]), as: UTF8.self)
        let fields = Dictionary(
            challenge.split(separator: ",").map { ($0.prefix(2), String($0.dropFirst(2))) }
        ) { first, _ in first }
        guard let nonce = fields["r="], let salt = ScramCredential.bytes(fields["s="] ?? ""),
            let iterations = Int(fields["i="] ?? "")
        else { throw ProgramFailure(reason: "no challenge: \(challenge)") }
        let salted = try mechanism.saltedPassword(
            mechanism.secret(user: user, password: password), salt: salt, iterations: iterations)
        let key = try mechanism.sign(Array("Client Key".utf8), with: salted)
        let last = "c=biws,r=\(nonce)"
        let signature = try mechanism.sign(
            Array("\(bare),\(challenge),\(last)".utf8), with: mechanism.hash(key))
        let proof = ScramCredential.text(zip(key, signature).map { $0 ^ $1 })
        try run(
            [
                "saslContinue": 1, "conversationId": 1,
                "payload": Self.payload("\(last),p=\(proof)"),
            ], on: database)
    }

    private static func payload(_ text: String) -> BSONValue {
        .binary(BSONBinary(Array(text.utf8)))
    }
}
