/// Is one of the two ways in which a password is proven without being sent.
///
/// Source: RFC 5802, RFC 7677, and the drivers' specification "Authentication".
enum ScramMechanism: String, Sendable, CaseIterable {
    case sha1 = "SCRAM-SHA-1"
    case sha256 = "SCRAM-SHA-256"

    /// How often the password is hashed for a new user.
    var iterations: Int {
        switch self {
        case .sha1: 10_000
        case .sha256: 15_000
        }
    }

    /// The bytes of a new user's salt.
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

    /// What of a password goes into the keys.
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
