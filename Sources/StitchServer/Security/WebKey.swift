internal import BSONStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A public key of a JSON Web Key Set.
///
/// The key's type decides which algorithms apply, never the token: a token cannot choose a weaker
/// one.
///
/// Source: RFC 7517, RFC 7518 and RFC 8037.
struct WebKey: Sendable {
    /// The accepted signature algorithms; none of them uses a shared secret.
    enum Algorithm: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case rs384 = "RS384"
        case rs512 = "RS512"
        case ps256 = "PS256"
        case es256 = "ES256"
        case es384 = "ES384"
        case eddsa = "EdDSA"
    }

    private enum Material: Sendable {
        case rsa(modulus: [UInt8], exponent: [UInt8])
        case p256(point: [UInt8])
        case p384(point: [UInt8])
        case ed25519([UInt8])
    }

    let id: String?
    let algorithms: Set<Algorithm>
    private let material: Material

    /// Reads a key file and skips keys of unknown types.
    ///
    /// - Throws: an error when the file cannot be read or is not a key set.
    static func keys(inFile path: String) throws -> [WebKey] {
        guard let keys = keys(in: Array(try Data(contentsOf: URL(filePath: path)))) else {
            throw UnsafeSettings(description: "\(path) is not a JSON Web Key Set: it has no keys")
        }
        return keys
    }

    /// Returns the keys of a key set, without those of unknown types; `nil` if it is malformed.
    static func keys(in bytes: [UInt8]) -> [WebKey]? {
        guard let keys = JSONText.document(bytes)?["keys"]?.arrayValue else { return nil }
        return keys.compactMap { $0.documentValue.flatMap(WebKey.init) }
    }

    /// Reads a key; `nil` if it is not for signing or its type is unknown.
    init?(_ key: BSONDocument) {
        guard key["use"]?.stringValue ?? "sig" == "sig", let read = Self.material(key) else {
            return nil
        }
        let possible = read.algorithms
        material = read.material
        id = key["kid"]?.stringValue
        guard let name = key["alg"]?.stringValue else {
            algorithms = possible
            return
        }
        guard let algorithm = Algorithm(rawValue: name), possible.contains(algorithm) else {
            return nil
        }
        algorithms = [algorithm]
    }

    private static func material(
        _ key: BSONDocument
    ) -> (material: Material, algorithms: Set<Algorithm>)? {
        func bytes(_ field: String) -> [UInt8]? {
            key[field]?.stringValue.flatMap { WebToken.bytes($0) }
        }
        switch (key["kty"]?.stringValue, key["crv"]?.stringValue) {
        case ("RSA", _):
            guard let modulus = bytes("n"), let exponent = bytes("e"), modulus.count >= 256
            else { return nil }
            return (.rsa(modulus: modulus, exponent: exponent), [.rs256, .rs384, .rs512, .ps256])
        case ("EC", "P-256"):
            guard let x = bytes("x"), let y = bytes("y"), x.count == 32, y.count == 32
            else { return nil }
            return (.p256(point: [4] + x + y), [.es256])
        case ("EC", "P-384"):
            guard let x = bytes("x"), let y = bytes("y"), x.count == 48, y.count == 48
            else { return nil }
            return (.p384(point: [4] + x + y), [.es384])
        case ("OKP", "Ed25519"):
            guard let x = bytes("x"), x.count == 32 else { return nil }
            return (.ed25519(x), [.eddsa])
        default: return nil
        }
    }

    #if Server
        /// Whether a signature was made by the key's owner.
        func verifies(
            _ signature: [UInt8], of signed: [UInt8], _ algorithm: Algorithm
        ) -> Bool {
            switch material {
            case .rsa(let modulus, let exponent):
                guard let digest = algorithm.rsaDigest,
                    let key = PublicKey(rsaModulus: modulus, exponent: exponent)
                else { return false }
                return key.verifies(signature, of: signed, digest, isPSS: algorithm == .ps256)
            case .p256(let point):
                guard let signature = PublicKey.ecdsaSignature(signature, count: 32),
                    let key = PublicKey(curve: "P-256", point: point)
                else { return false }
                return key.verifies(signature, of: signed, .sha256)
            case .p384(let point):
                guard let signature = PublicKey.ecdsaSignature(signature, count: 48),
                    let key = PublicKey(curve: "P-384", point: point)
                else { return false }
                return key.verifies(signature, of: signed, .sha384)
            case .ed25519(let bytes):
                guard let key = PublicKey(ed25519: bytes) else { return false }
                return key.verifies(signature, of: signed, nil)
            }
        }
    #else
        // Without the trait there is no server to sign in to; every signature is refused.
        func verifies(
            _ signature: [UInt8], of signed: [UInt8], _ algorithm: Algorithm
        ) -> Bool { false }
    #endif
}

extension WebKey.Algorithm {
    /// The hash of an RSA signature algorithm.
    fileprivate var rsaDigest: DigestAlgorithm? {
        switch self {
        case .rs256, .ps256: .sha256
        case .rs384: .sha384
        case .rs512: .sha512
        case .es256, .es384, .eddsa: nil
        }
    }
}
