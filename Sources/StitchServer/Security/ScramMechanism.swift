#if Server
    internal import Crypto
    internal import CryptoExtras
#endif
#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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

#if Server
    extension ScramMechanism {
        /// What of a password goes into the keys.
        func secret(user: String, password: String) -> [UInt8] {
            switch self {
            case .sha1:
                Array(Insecure.MD5.hash(data: Data("\(user):mongo:\(password)".utf8)).hex.utf8)
            case .sha256: Array((SASLprep.prepared(password) ?? password).utf8)
            }
        }

        func hash(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .sha1: Array(Insecure.SHA1.hash(data: bytes))
            case .sha256: Array(SHA256.hash(data: bytes))
            }
        }

        func sign(_ bytes: [UInt8], with key: [UInt8]) -> [UInt8] {
            let key = SymmetricKey(data: key)
            return switch self {
            case .sha1:
                Array(HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key))
            case .sha256: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
            }
        }

        func saltedPassword(_ secret: [UInt8], salt: [UInt8], iterations: Int) throws -> [UInt8] {
            let key = try KDF.Insecure.PBKDF2.deriveKey(
                from: secret, salt: salt, using: self == .sha1 ? .insecureSHA1 : .sha256,
                outputByteCount: self == .sha1 ? 20 : 32, unsafeUncheckedRounds: iterations)
            return key.withUnsafeBytes { Array($0) }
        }
    }

    extension Insecure.MD5.Digest {
        /// The sum in hexadecimal digits.
        var hex: String {
            map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
#else
    // Without the trait there is no server to sign in to; no proof is ever right.
    extension ScramMechanism {
        func secret(user: String, password: String) -> [UInt8] { [] }

        func hash(_ bytes: [UInt8]) -> [UInt8] { [] }

        func sign(_ bytes: [UInt8], with key: [UInt8]) -> [UInt8] { [] }

        func saltedPassword(_ secret: [UInt8], salt: [UInt8], iterations: Int) throws -> [UInt8] {
            throw CommandFault(334, "The library was built without the trait Server")
        }
    }
#endif
