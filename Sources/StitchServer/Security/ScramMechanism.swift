internal import BSONStore
internal import StitchWire

/// A mechanism that proves knowledge of a password without sending it.
///
/// Source: RFC 5802, RFC 7677, and the drivers' specification "Authentication".
enum ScramMechanism: String, Sendable, CaseIterable {
    case sha1 = "SCRAM-SHA-1"
    case sha256 = "SCRAM-SHA-256"

    /// The number of hash iterations for a new user.
    var iterations: Int {
        switch self {
        case .sha1: 10_000
        case .sha256: 15_000
        }
    }

    /// The salt length of a new user, in bytes.
    var saltCount: Int {
        switch self {
        case .sha1: 16
        case .sha256: 28
        }
    }
}

extension ScramMechanism {
    private var digest: DigestAlgorithm {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        }
    }

    /// Returns the part of a password from which the keys are derived.
    func secret(user: String, password: String) throws(CommandFailure) -> [UInt8] {
        switch self {
        case .sha1:
            let sum = try DigestAlgorithm.md5.sum(Array("\(user):mongo:\(password)".utf8))
            return Array(sum.hexadecimal.utf8)
        case .sha256: return Array((SASLprep.prepared(password) ?? password).utf8)
        }
    }

    func hash(_ bytes: [UInt8]) throws(CommandFailure) -> [UInt8] { try digest.sum(bytes) }

    func sign(_ bytes: [UInt8], with key: [UInt8]) throws(CommandFailure) -> [UInt8] {
        try digest.code(bytes, key: key)
    }

    func saltedPassword(
        _ secret: [UInt8], salt: [UInt8], iterations: Int
    ) throws(CommandFailure) -> [UInt8] {
        try digest.derivedKey(secret, salt: salt, iterations: iterations)
    }
}
