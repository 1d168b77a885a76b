#if Remote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchWire

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The client's side of one SCRAM-SHA-256 exchange.
    ///
    /// Source: RFC 5802 (section 5), RFC 7677, and the drivers' specification "Authentication".
    struct ScramClient: Sendable {
        /// The key material that the server asks for.
        struct Challenge: Sendable, Hashable {
            let salt: [UInt8]
            let iterations: Int
            fileprivate let nonce: String
            fileprivate let message: String
        }

        /// The client's second message, and the answer that only a server with the user's key
        /// can give.
        struct Proof: Sendable, Hashable {
            let message: [UInt8]
            fileprivate let signature: [UInt8]
        }

        /// The accepted numbers of iterations: fewer make the password easy to guess for a false
        /// server, more would keep the device busy.
        static let iterations = 4_096...1_000_000
        /// The largest size of a server's message, in bytes.
        private static let messageBytesMax = 4_096

        private let nonce: String
        private let firstBare: String

        /// The client's first message.
        var first: [UInt8] { Array("n,,\(firstBare)".utf8) }

        /// - Parameter nonce: printable ASCII characters without commas, new for each exchange.
        init(user: String, nonce: String = ScramClient.newNonce()) {
            var name = ""
            for scalar in user.unicodeScalars {
                switch scalar {
                case "=": name += "=3D"
                case ",": name += "=2C"
                default: name.unicodeScalars.append(scalar)
                }
            }
            self.nonce = nonce
            firstBare = "n=\(name),r=\(nonce)"
        }

        /// Reads the server's first message.
        ///
        /// - Throws: ``MongoFailure`` for an invalid message, another nonce, or a number of
        ///   iterations outside ``iterations``.
        func challenge(_ payload: [UInt8]) throws(MongoFailure) -> Challenge {
            let message = try Self.text(payload)
            let fields = message.split(atByte: ",", omittingEmptySubsequences: false)
            guard fields.count >= 3, fields[0].hasBytePrefix("r="), fields[1].hasBytePrefix("s="),
                fields[2].hasBytePrefix("i=")
            else { throw Self.failure("the server's first SCRAM message is invalid") }
            let combined = String(fields[0].dropFirst(2))
            guard combined.utf8.starts(with: nonce.utf8),
                combined.utf8.count > nonce.utf8.count
            else { throw Self.failure("the server's SCRAM nonce does not continue the client's") }
            guard let salt = Data(base64Encoded: String(fields[1].dropFirst(2))), !salt.isEmpty
            else { throw Self.failure("the server's SCRAM salt is invalid") }
            let digits = fields[2].dropFirst(2)
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let count = Int(digits), Self.iterations.contains(count)
            else {
                throw Self.failure(
                    "the server's SCRAM iterations are not from \(Self.iterations.lowerBound) to "
                        + "\(Self.iterations.upperBound)")
            }
            return Challenge(
                salt: Array(salt), iterations: count, nonce: combined, message: message)
        }

        /// Returns the part of a password from which keys are derived.
        static func secret(_ password: String) -> [UInt8] {
            Array((SASLprep.prepared(password) ?? password).utf8)
        }

        /// Returns the proof of the password.
        ///
        /// - Parameter salted: the result of PBKDF2 with the challenge's salt and iterations.
        func proof(of salted: [UInt8], for challenge: Challenge) -> Proof {
            let withoutProof = "c=biws,r=\(challenge.nonce)"
            let signed = Array("\(firstBare),\(challenge.message),\(withoutProof)".utf8)
            let clientKey = SHA256.code(Array("Client Key".utf8), key: salted)
            let signature = SHA256.code(signed, key: SHA256.hash(clientKey))
            let proof = zip(clientKey, signature).map { $0 ^ $1 }
            let serverKey = SHA256.code(Array("Server Key".utf8), key: salted)
            return Proof(
                message: Array("\(withoutProof),p=\(Data(proof).base64EncodedString())".utf8),
                signature: SHA256.code(signed, key: serverKey))
        }

        /// Checks that the server knows the user's key.
        ///
        /// - Throws: ``MongoFailure`` for another signature.
        static func check(_ payload: [UInt8], _ proof: Proof) throws(MongoFailure) {
            let message = try text(payload)
            guard message.hasBytePrefix("v="),
                let field = message.droppingBytes(2).split(atByte: ",").first,
                let signature = Data(base64Encoded: String(field)),
                SHA256.areEqual(Array(signature), proof.signature)
            else {
                throw failure(
                    "the server does not prove that it knows the user: its signature is wrong")
            }
        }

        private static func text(_ payload: [UInt8]) throws(MongoFailure) -> String {
            guard payload.count <= messageBytesMax,
                let text = String(validating: payload, as: UTF8.self)
            else { throw failure("the server's SCRAM message is too long, or not UTF-8") }
            return text
        }

        private static func failure(_ reason: String) -> MongoFailure {
            MongoFailure(kind: .authentication, message: reason)
        }

        /// Returns 24 random bytes as text.
        static func newNonce() -> String {
            var generator = SystemRandomNumberGenerator()
            let bytes = (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            return Data(bytes).base64EncodedString()
        }
    }
#endif
