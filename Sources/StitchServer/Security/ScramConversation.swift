internal import BSONStore

/// The server's side of one SCRAM exchange.
///
/// Source: RFC 5802, section 5; of the channel-binding flags, `n` and `y` are accepted, `p` is not.
struct ScramConversation: Sendable {
    private enum Step: Sendable {
        case proof
        case empty
        case done
    }

    /// The user who signs in.
    let user: String
    let database: String
    /// The start of the exchange.
    let began: ContinuousClock.Instant
    /// The stored password that the client's proof is checked against.
    let credential: ScramCredential
    private let skipsEmptyExchange: Bool
    private let clientFirst: String
    private let serverFirst: String
    private let header: String
    private let nonce: String
    private var step = Step.proof
    /// Whether the client's proof was right.
    private(set) var isProven = false

    /// Whether the exchange is finished.
    var isDone: Bool { if case .done = step { true } else { false } }

    /// Reads the client's first message.
    ///
    /// - Parameter credential: the credential of the user in the message.
    /// - Throws: 18 (AuthenticationFailed) and 17 (ProtocolError) for an invalid message.
    init(
        _ payload: [UInt8], database: String, began: ContinuousClock.Instant,
        skipsEmptyExchange: Bool,
        credential: (String) throws -> ScramCredential
    ) throws {
        let message = try Self.text(payload)
        let parts = message.split(atByte: ",", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "n" || parts[0] == "y",
            parts[1].isEmpty || parts[1].hasBytePrefix("a=")
        else { throw Self.malformed }
        header = "\(parts[0]),\(parts[1]),"
        clientFirst = String(parts[2])
        let fields = try Self.fields(clientFirst)
        guard fields.count >= 2, fields[0].key == "n", fields[1].key == "r",
            !fields[1].value.isEmpty
        else { throw Self.malformed }
        user = try Self.name(fields[0].value)
        self.database = database
        self.began = began
        self.skipsEmptyExchange = skipsEmptyExchange
        self.credential = try credential(user)
        nonce = fields[1].value + ScramCredential.text(ScramCredential.random(24))
        serverFirst =
            "r=\(nonce),s=\(ScramCredential.text(self.credential.salt)),"
            + "i=\(self.credential.iterations)"
    }

    /// Returns the user name in a client's first message.
    static func user(_ payload: [UInt8]) throws(CommandFailure) -> String? {
        let parts = try text(payload).split(
            atByte: ",", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let first = try fields(String(parts[2])).first, first.key == "n"
        else { return nil }
        return try name(first.value)
    }

    /// The reply to the client's first message.
    var firstReply: [UInt8] { Array(serverFirst.utf8) }

    /// Checks the client's next message and returns the reply.
    ///
    /// - Throws: 18 (AuthenticationFailed) for a wrong proof.
    mutating func answer(_ payload: [UInt8]) throws -> [UInt8] {
        switch step {
        case .proof:
            let reply = try check(payload)
            step = skipsEmptyExchange ? .done : .empty
            return reply
        case .empty:
            guard payload.isEmpty else { throw Self.malformed }
            step = .done
            return []
        case .done: throw Self.malformed
        }
    }

    private mutating func check(_ payload: [UInt8]) throws -> [UInt8] {
        let message = try Self.text(payload)
        guard let proofStart = message.range(of: ",p=") else { throw Self.malformed }
        let withoutProof = String(message[..<proofStart.lowerBound])
        let fields = try Self.fields(withoutProof)
        guard fields.count >= 2, fields[0].key == "c", fields[1].key == "r",
            fields[1].value.hasSameBytes(as: nonce),
            ScramCredential.bytes(fields[0].value) == Array(header.utf8),
            let proof = ScramCredential.bytes(String(message[proofStart.upperBound...]))
        else { throw Self.failed }
        let mechanism = credential.mechanism
        let signed = Array("\(clientFirst),\(serverFirst),\(withoutProof)".utf8)
        let signature = try mechanism.sign(signed, with: credential.storedKey)
        guard proof.count == signature.count else { throw Self.failed }
        let clientKey = zip(proof, signature).map { $0 ^ $1 }
        guard try SHA256.areEqual(mechanism.hash(clientKey), credential.storedKey) else {
            throw Self.failed
        }
        isProven = true
        let verifier = try mechanism.sign(signed, with: credential.serverKey)
        return Array("v=\(ScramCredential.text(verifier))".utf8)
    }

    private static func text(_ payload: [UInt8]) throws(CommandFailure) -> String {
        guard let text = String(validating: payload, as: UTF8.self) else { throw malformed }
        return text
    }

    private static func fields(
        _ text: String
    ) throws(CommandFailure) -> [(key: Substring, value: String)] {
        var fields: [(key: Substring, value: String)] = []
        for part in text.split(atByte: ",", omittingEmptySubsequences: false) {
            guard part.count >= 2, part.dropFirst().first == "=" else { throw malformed }
            fields.append((part.prefix(1), String(part.dropFirst(2))))
        }
        return fields
    }

    /// Decodes a name: `=2C` stands for a comma, `=3D` for an equals sign.
    private static func name(_ text: String) throws(CommandFailure) -> String {
        var name = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "=" else {
                name.append(character)
                continue
            }
            switch rest.prefix(2) {
            case "2C": name.append(",")
            case "3D": name.append("=")
            default: throw malformed
            }
            rest.removeFirst(2)
        }
        guard !name.isEmpty, !name.utf8.contains(0) else { throw malformed }
        return name
    }

    static var failed: CommandFailure { CommandFailure(18, "Authentication failed.") }

    private static var malformed: CommandFailure {
        CommandFailure(17, "The SCRAM message is malformed")
    }
}

extension String {
    /// Returns the first occurrence of a text.
    fileprivate func range(of text: String) -> Range<Index>? {
        guard let found = ranges(of: text).first else { return nil }
        return found
    }
}
