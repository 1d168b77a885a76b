internal import BSONStore

/// A JSON Web Token whose signature is not yet checked.
///
/// Source: RFC 7515 and RFC 7519.
struct WebToken: Sendable {
    /// The maximum size of a token in bytes.
    static let bytesMax = 16 * 1024
    /// The tolerated clock difference in seconds.
    static let leeway: Double = 30

    /// The signature algorithm.
    let algorithm: WebKey.Algorithm
    /// The id of the signing key; `nil` allows any key of the algorithm.
    let keyID: String?
    /// The claims.
    let claims: BSONDocument
    /// The signed bytes.
    let signed: [UInt8]
    let signature: [UInt8]

    /// Parses a token; `nil` if it is malformed or its algorithm is not accepted.
    init?(_ text: String) {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        let parts = text.dottedParts
        guard parts.count == 3, let header = Self.document(parts[0]),
            let claims = Self.document(parts[1]), let signature = Self.bytes(parts[2]),
            let algorithm = header["alg"]?.stringValue.flatMap(WebKey.Algorithm.init),
            header["crit"] == nil
        else { return nil }
        self.algorithm = algorithm
        keyID = header["kid"]?.stringValue
        self.claims = claims
        self.signature = signature
        signed = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// Whether one of the keys signed the token.
    func isSigned(by keys: [WebKey]) -> Bool {
        keys.contains { key in
            key.algorithms.contains(algorithm) && (keyID == nil || key.id.hasSameBytes(as: keyID))
                && key.verifies(signature, of: signed, algorithm)
        }
    }

    /// The expiry in seconds since 1970.
    var expiry: Double? { Self.number(claims["exp"]) }

    private static func number(_ value: BSONValue?) -> Double? {
        switch value {
        case .double(let number): number
        case .int32(let number): Double(number)
        case .int64(let number): Double(number)
        default: nil
        }
    }

    /// The issuer that the token names.
    var issuer: String? { claims["iss"]?.stringValue }

    /// Whether the token is valid now, and issued by a provider for this server.
    func isMeant(_ provider: TokenProvider, now: Double) -> Bool {
        guard provider.algorithms.contains(algorithm), let expiry, expiry + Self.leeway > now
        else { return false }
        for name in ["nbf", "iat"] where claims[name] != nil {
            guard let time = Self.number(claims[name]), time - Self.leeway <= now else {
                return false
            }
        }
        guard issuer.hasSameBytes(as: provider.issuer) else { return false }
        let audiences = claims["aud"]?.arrayValue?.values.compactMap(\.stringValue)
        return (audiences ?? [claims["aud"]?.stringValue ?? ""])
            .contains { provider.audiences.containsBytes(of: $0) }
    }

    /// Returns the roles in a claim, without unknown ones.
    func roles(_ claim: String) -> [Role] {
        (claims[claim]?.arrayValue ?? []).compactMap { value in
            if let role = value.documentValue, let name = role["role"]?.stringValue,
                let database = role["db"]?.stringValue
            {
                return Role(known: name, on: database)
            }
            let parts = (value.stringValue ?? "").split(atByte: "@", maxSplits: 1)
            guard let name = parts.first else { return nil }
            return Role(known: String(name), on: parts.count > 1 ? String(parts[1]) : "admin")
        }
    }

    private static func document(_ part: String) -> BSONDocument? {
        guard let bytes = bytes(part) else { return nil }
        return JSONText.document(bytes)
    }

    static func bytes(_ part: some StringProtocol) -> [UInt8]? {
        guard !part.utf8.contains(UInt8(ascii: "=")) else { return nil }
        var text = String(part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return ScramCredential.bytes(text)
    }
}

/// A parser for plain JSON.
enum JSONText {
    /// Parses a document; `nil` if it is malformed.
    static func document(_ bytes: [UInt8]) -> BSONDocument? {
        do {
            return try bytes.withUnsafeBytes { try BSONDocument(extendedJSONBytes: $0) }
        } catch {
            return nil
        }
    }
}
